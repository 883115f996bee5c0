"""A report as HTML: the body that the page shows, and one file that needs nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import assert_never

from django.contrib.staticfiles import finders
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from runs.documents.printing import blocks
from runs.reports.isolated_writing import pictured
from runs.reports.report_format import ReportFormat
from runs.text.visible import make_visible

_STYLES = ("css/tokens.css", "css/report/report.css", "css/report/report_file.css")
_DIAGRAMS = ("css/diagrams.css",)
_SAFE = ("http://", "https://", "mailto:", "/", "#")
"""How addresses begin. Those of texts were looked at where they were read; here they are looked at once more."""


def as_html(report: blocks.PrintableReport) -> str:
    """One file. Its policy forbids a reader's browser to fetch, send or run anything."""
    content = f"{head(report)}\n{body(pictured(report))}"
    with_pictures = '<img src="data:' in content
    style = _style(*_STYLES, *(_DIAGRAMS if with_pictures else ()))
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    images = "img-src data:; " if with_pictures else ""
    policy = f"default-src 'none'; {images}style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = f"{report.word}: {report.title}" if report.word else report.title
    return make_visible(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main class="report">\n'
        f"{content}\n</main>\n</body>\n</html>\n"
    )


@lru_cache(maxsize=2)
def _style(*names: str) -> str:
    return "".join(Path(str(finders.find(name))).read_text() for name in names)


def heading(report: blocks.PrintableReport) -> SafeString:
    """What the h1 says."""
    word = f'<span class="verdict-word {report.tone}">{escape(report.word)}:</span> ' if report.word else ""
    return mark_safe(f"{word}{escape(report.title)}")  # noqa: S308  both are escaped


def head(report: blocks.PrintableReport) -> SafeString:
    """The letterhead, the title and the facts below it."""
    letterhead = report.letterhead
    logo = ""
    if letterhead.logo:
        kind = "png" if letterhead.logo.startswith("iVBOR") else "jpeg"
        logo = f'<img src="data:image/{kind};base64,{escape(letterhead.logo)}" alt="">'
    sender = f"<span>{escape(letterhead.organisation)}</span>" if letterhead.organisation else ""
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in report.facts)
    parts = [
        '<header class="report-head">',
        f'<div class="letterhead">{sender}{logo}</div>' if logo or sender else "",
        f"<h1>{heading(report)}</h1>",
        f'<dl class="report-facts">{facts}</dl>' if facts else "",
        f'<p class="muted">{escape(report.about)}</p>',
        "</header>",
    ]
    return mark_safe("\n".join(filter(None, parts)))  # noqa: S308  every text in it was escaped


def body(report: blocks.PrintableReport) -> SafeString:
    """The report and its protocol, without the head. Next to the report, the sections of the protocol are folded."""
    parts = ['<div class="main-part">', *map(_section, report.main), "</div>"]
    if report.protocol:
        title = '<h2 class="part-title">Protocol</h2>' if report.main else ""
        parts += [f'<div class="protocol">{title}', *map(_fold if report.main else _section, report.protocol), "</div>"]
    footer = f"<p>{escape(report.letterhead.footer)}</p>" if report.letterhead.footer else ""
    parts.append(f'<footer class="muted foot">{footer}<p>{escape(report.foot)}</p></footer>')
    return mark_safe("\n".join(parts))  # noqa: S308  every text and address in it was escaped


def _section(section: blocks.ReportSection) -> str:
    id_ = escape(section.id)
    return (
        f'<section class="report-section" aria-labelledby="{id_}"><h2 id="{id_}">{escape(section.title)}</h2>\n'
        f"{_blocks(section.blocks)}</section>"
    )


def _fold(section: blocks.ReportSection) -> str:
    """A section of the protocol: folded on a screen, and open on paper (report.css)."""
    title = f'<summary><h2 id="{escape(section.id)}">{escape(section.title)}</h2></summary>'
    return f'<details class="report-section report-fold">{title}\n{_blocks(section.blocks)}</details>'


def _blocks(found: Iterable[blocks.Block]) -> str:
    return "".join(map(_block, found))


def _block(block: blocks.Block) -> str:
    match block:
        case blocks.Paragraph():
            tone = f' class="{block.tone}"' if block.tone else ""
            return f"<p{tone}>{_spans(block.spans)}</p>\n"
        case blocks.Heading():
            tag, id_ = f"h{min(block.level + 1, 6)}", f' id="{escape(block.id)}"' if block.id else ""
            return f"<{tag}{id_}>{_spans(block.spans)}</{tag}>\n"
        case blocks.Items():
            tag = "ul" if block.start is None else "ol"
            start = f' start="{block.start}"' if block.start not in {None, 1} else ""
            return f"<{tag}{start}>{''.join(f'<li>{_row(row)}</li>' for row in block.rows)}</{tag}>\n"
        case blocks.Quotation():
            return f"<blockquote>{_blocks(block.blocks)}</blockquote>\n"
        case blocks.Preformatted():
            return f"<pre>{escape(block.text)}</pre>\n"
        case blocks.Diagram():
            return _diagram(block)
        case blocks.HorizontalRule():
            return "<hr>\n"
        case blocks.TableBlock():
            return _table(block)
        case blocks.FactList():
            rows = (f"<div><dt>{escape(term)}</dt><dd>{_spans(words)}</dd></div>" for term, words in block.rows)
            return f'<dl class="report-facts">{"".join(rows)}</dl>\n'
        case blocks.CheckList():
            return f'<ul class="report-checks">{"".join(map(_check, block.rows))}</ul>\n'
        case blocks.Callout():
            title = f"<p><strong>{escape(block.title)}</strong></p>"
            return f'<div class="alert {block.tone}">{title}{_blocks(block.blocks)}</div>\n'
        case blocks.SourceList():
            return f'<ol class="report-sources">{"".join(map(_source, block.rows))}</ol>\n'
        case _:
            assert_never(block)


def _diagram(block: blocks.Diagram) -> str:
    """A picture with its source in a fold; the source alone, as that of other texts, where no one has drawn it."""
    if not block.picture:
        why = f'<p class="warn">This diagram is not drawn: {escape(block.problem)}.</p>' if block.problem else ""
        return f'{why}<pre><code class="language-mermaid">{escape(block.text)}</code></pre>\n'
    return (
        f'<figure class="diagram"><div class="diagram-picture" tabindex="0" role="group" '
        f'aria-label="{escape(block.words)}, can be scrolled"><img src="data:image/png;base64,{block.picture}" '
        f'width="{block.width}" height="{block.height}" alt="{escape(block.words)}"></div>'
        f"<details><summary>Source of the diagram</summary><pre><code>{escape(block.text)}</code></pre></details>"
        "</figure>\n"
    )


def _row(row: tuple[blocks.Block, ...]) -> str:
    """A single paragraph of a list is its words, so that it stays one line."""
    if len(row) == 1 and isinstance(row[0], blocks.Paragraph):
        return _spans(row[0].spans)
    return _blocks(row)


def _check(one: blocks.CheckItem) -> str:
    id_ = f' id="{escape(one.id)}"' if one.id else ""
    by = f' <span class="muted">{escape(one.by)}</span>' if one.by else ""
    label = f'<strong class="report-number">{escape(one.label)}</strong> ' if one.label else ""
    words = _spans(one.spans)
    return (
        f'<li{id_} data-mark="{one.mark}"><p><span class="report-mark">{one.mark}</span> '
        f"<span>{label}{words}{by}</span></p>"
        f"{_blocks(one.details)}</li>"
    )


def _table(block: blocks.TableBlock) -> str:
    def cells(tag: str, row: Iterable[blocks.Spans]) -> str:
        return "".join(
            f"<{tag}{' class=number' if place in block.right else ''}>{_spans(cell)}</{tag.split(' ')[0]}>"
            for place, cell in enumerate(row)
        )

    head = f"<thead><tr>{cells('th scope=col', block.head)}</tr></thead>"
    rows = "".join(f"<tr>{cells('td', row)}</tr>" for row in block.rows)
    name = escape(block.name)
    return (
        f'<div class="table-scroll" tabindex="0" role="group" aria-label="{name}">'
        f'<table class="table">{head}<tbody>{rows}</tbody></table></div>\n'
    )


def _source(one: blocks.CitedSource) -> str:
    around = f"<blockquote>{_spans(one.around)}</blockquote>" if one.around else ""
    sha = f' <span class="muted hash">SHA-256 {escape(one.sha256)}</span>' if one.sha256 else ""
    return f'<li id="{blocks.SOURCE[1:]}{one.number}" value="{one.number}">{escape(one.place)}{sha}{around}</li>'


def _spans(spans: blocks.Spans) -> str:
    return "".join(_link(to, "".join(map(_span, parts))) for to, parts in blocks.by_link(spans))


def _span(one: blocks.Span) -> str:
    text = str(escape(one.text)).replace("\n", "<br>")
    for on, tag in ((one.code, "code"), (one.strong, "strong"), (one.emphasis, "em"), (one.struck, "s")):
        text = f"<{tag}>{text}</{tag}>" if on else text
    return text


def _link(to: str, html: str) -> str:
    if not to.startswith(_SAFE):
        return html
    if to.startswith(blocks.SOURCE):
        return f'<a href="{escape(to)}">{html}<sup>{escape(to.removeprefix(blocks.SOURCE))}</sup></a>'
    if to.startswith("/") and "/files/" in to:  # opens next to the text
        return f'<a data-source href="{escape(to)}">{html}</a>'
    away = "" if to.startswith(("#", "/")) else ' rel="nofollow noopener noreferrer"'
    return f'<a href="{escape(to)}"{away}>{html}</a>'


FORMAT = ReportFormat(
    name="html",
    suffix="html",
    media_type="text/html; charset=utf-8",
    title="HTML",
    order=3,
    write=lambda source: as_html(source.report).encode(),
)
