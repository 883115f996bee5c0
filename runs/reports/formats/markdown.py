"""A report as a Markdown file, written from its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from runs.documents.printing import blocks
from runs.readmodel.markdown_escaping import code, line, start, words
from runs.reports.report_format import ReportFormat
from runs.text.visible import visible_text


def as_markdown(report: blocks.PrintableReport) -> str:
    """UTF-8 text ending in a newline. What was quoted is words: never structure, and no terminal obeys it."""
    writer = _Writer(report.places)
    rows = [f"# {report.word + ': ' if report.word else ''}{line(report.title)}", ""]
    rows += [f"{line(report.letterhead.organisation)}", ""] if report.letterhead.organisation else []
    rows += [f"- **{line(name)}**: {line(value)}" for name, value in report.facts]
    rows += ["", f"*{line(report.about)}*"]
    for section in report.main:
        rows += ["", *writer.section(section)]
    rows += ["", "---"] if report.main and report.protocol else []
    for section in report.protocol:
        rows += ["", *writer.section(section)]
    footer = [line(report.letterhead.footer), ""] if report.letterhead.footer else []
    rows += ["", "---", "", *footer, line(report.foot)]
    return visible_text("\n".join(rows) + "\n")


class _Writer:
    """`places` says in words where an address in the report leads: a link to it would lead nowhere in most viewers."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def section(self, section: blocks.ReportSection) -> Iterator[str]:
        yield f"## {line(section.title)}"
        yield from self._blocks(section.blocks)

    def _blocks(self, found: Iterable[blocks.Block]) -> Iterator[str]:
        for block in found:
            yield ""
            yield from self._block(block)

    def _block(self, block: blocks.Block) -> Iterator[str]:
        match block:
            case blocks.Paragraph():
                yield from self._lines(block.spans)
            case blocks.Heading():
                yield f"{'#' * min(block.level + 1, 6)} {self._spans(block.spans)}"
            case blocks.Items():
                yield from self._items(block)
            case blocks.Quotation():
                yield from _indented("> ", "> ", self._blocks(block.blocks))
            case blocks.Preformatted() | blocks.Diagram():
                fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", block.text)), default=0))
                kind = "mermaid" if isinstance(block, blocks.Diagram) else ""
                yield from (f"{fence}{kind}", *block.text.split("\n"), fence)
            case blocks.HorizontalRule():
                yield "---"
            case blocks.TableBlock():
                yield from self._table(block)
            case blocks.FactList():
                yield from (f"- **{line(term)}**: {self._spans(words)}" for term, words in block.rows)
            case blocks.CheckList():
                for one in block.rows:
                    yield from self._check(one)
            case blocks.Callout():
                yield f"**{line(block.title)}**"
                yield from self._blocks(block.blocks)
            case blocks.SourceList():
                for source in block.rows:
                    sha = f" (SHA-256 {code(source.sha256)})" if source.sha256 else ""
                    yield f"{source.number}. {line(source.place)}{sha}"
                    yield from ([f"   > {self._spans(source.around)}"] if source.around else [])
            case _:
                assert_never(block)

    def _items(self, block: blocks.Items) -> Iterator[str]:
        for place, row in enumerate(block.rows):
            mark = "- " if block.start is None else f"{block.start + place}. "
            rows = list(self._blocks(row))[1:] or [""]
            yield from _indented(mark, " " * len(mark), rows)

    def _table(self, block: blocks.TableBlock) -> Iterator[str]:
        yield self._row(block.head)
        yield "|" + "|".join("---:" if place in block.right else "---" for place in range(len(block.head))) + "|"
        yield from map(self._row, block.rows)

    def _row(self, row: Iterable[blocks.Spans]) -> str:
        return f"| {' | '.join(self._spans(cell).replace(_BREAK, ' ') for cell in row)} |"

    def _check(self, one: blocks.CheckItem) -> Iterator[str]:
        by = f" ({line(one.by)})" if one.by else ""
        mark = one.mark.upper() if one.mark in blocks.UNMET else one.mark
        words = ": ".join(filter(None, (line(one.label), self._spans(one.spans))))
        yield f"- **{mark}** {words}{by}"
        for detail in one.details:
            rows = list(self._block(detail))
            yield from _indented("  - ", "    ", rows)

    def _lines(self, spans: blocks.Spans) -> list[str]:
        """Line breaks stay: a backslash at the end of a line is one."""
        rows = self._spans(spans).split(_BREAK)
        return [f"{start(row)}\\" for row in rows[:-1]] + [start(rows[-1])]

    def _spans(self, spans: blocks.Spans) -> str:
        return "".join(self._link(to, parts) for to, parts in blocks.by_link(spans)).strip()

    def _link(self, to: str, parts: blocks.Spans) -> str:
        text = "".join(map(self._span, parts))
        place = self._places.get(to, "")
        if place and place != blocks.plain(parts):
            return f"{text} ({line(place)})"
        return f"[{text}](<{to}>)" if to and not to.startswith("#") else text

    def _span(self, one: blocks.Span) -> str:
        text = code(one.text) if one.code else _BREAK.join(map(words, one.text.split("\n")))
        if text.endswith("!"):
            text = f"{text[:-1]}&#33;"  # before a link it would begin an image, which a viewer fetches
        for on, mark in ((one.strong, "**"), (one.emphasis, "*"), (one.struck, "~~")):
            text = _marked(text, mark) if on else text
        return text


_BREAK = "\0"
"""Stands for a line break inside of a paragraph until its lines are known."""


def _marked(text: str, mark: str) -> str:
    """Emphasis begins and ends at a word."""
    inner = text.strip()
    lead, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead}{mark}{inner}{mark}{end}" if inner else text


def _indented(first: str, others: str, rows: Iterable[str]) -> Iterator[str]:
    lead = first
    for row in rows:
        if not row and lead is first and first.startswith(">"):
            continue
        yield f"{lead}{row}".rstrip()
        lead = others


FORMAT = ReportFormat(
    name="markdown",
    suffix="md",
    media_type="text/markdown; charset=utf-8",
    title="Markdown",
    order=4,
    write=lambda source: as_markdown(source.report).encode(),
    text=lambda source: as_markdown(source.report),
)
