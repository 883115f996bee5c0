"""Text of documents: blocks that belong together, sentences with the line they begin in, and Markdown tables."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from urllib.parse import quote as url_quote

from runs.text.plural import word_for
from runs.text.sentences import part_ends

QUOTE_CHARS = 300
"""A quote that fits a table's cell and can be found again by a reader; few clauses are longer."""
_SPECIAL = re.compile(r"(\*\*[^\W_][^*`\[\]]*[^\W_]\*\*)|[\\`*_\[\]<>|~&]")
"""What a link's text would lose or be broken by; words in bold are kept as they are."""
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+(?:\.\d+)+[.)]?\s|\d+[.)]\s|\||>|```|\*\*[^*]+\*\*:?\s*$)")


@dataclass(frozen=True)
class Quote:
    """Verbatim words, from line `first` to `last`. `before`, `after`: the sentence goes on there."""

    text: str
    first: int
    last: int
    before: bool = False
    after: bool = False


@dataclass(frozen=True)
class Sentence:
    """Verbatim but for folded whitespace. `starts`: offset in it and number of each of its lines."""

    text: str
    starts: tuple[tuple[int, int], ...]

    def line_at(self, offset: int) -> int:
        """The number of the line that this offset is in."""
        return self.starts[bisect_right(self.starts, offset, key=itemgetter(0)) - 1][1]

    def quote(self, start: int, end: int) -> Quote:
        """The sentence, or of a long one a part around start:end of at most QUOTE_CHARS, cut at word boundaries."""
        first, last = 0, len(self.text)
        if last > QUOTE_CHARS:
            left = max(0, min(start - (QUOTE_CHARS - (end - start)) // 2, last - QUOTE_CHARS))
            first = (self.text.find(" ", left, start) + 1 or left) if left else 0
            if first + QUOTE_CHARS < last:
                last = max(self.text.rfind(" ", end, first + QUOTE_CHARS), end)
        text = self.text[first:last].strip()
        return Quote(
            unbarred(text) if self.text.startswith("|") else text,
            self.line_at(first),
            self.line_at(max(last, 1) - 1),
            before=first > 0,
            after=last < len(self.text),
        )


def unbarred(row: str) -> str:
    """A row of a table without what begins and ends it, and without empty cells there."""
    return row.strip("| \t")


def number_of(count: int, noun: str, plural: str = "") -> str:
    """The count and its noun, without separators of thousands: checks read the count again."""
    return f"{count} {word_for(count, noun, plural)}"


def named(paths: Sequence[str], limit: int) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more


def blocks(lines: Mapping[int, str], beginnings: Collection[int] = ()) -> Iterator[list[tuple[int, str]]]:
    """Paragraphs, list items, headings and table rows, as lines with their numbers. `beginnings` begin one."""
    block: list[tuple[int, str]] = []
    for number, line in sorted(lines.items()):
        begins = number in beginnings or not line.strip() or _STARTS_BLOCK.match(line)
        if block and (begins or block[-1][1].lstrip().startswith(("#", "|"))):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
    if block:
        yield block


def sentences(block: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    lines = [" ".join(line.split()) for _, line in block]
    text = " ".join(lines)
    offsets = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    starts = [(offset, number) for offset, (number, _) in zip(offsets, block, strict=True)]
    first = 0
    for end in [*part_ends(text), len(text)]:
        last = first + len(text[first:end].rstrip())
        after = bisect_right(offsets, first)
        inside = starts[after : bisect_left(offsets, last, after)]
        moved = ((offset - first, line) for offset, line in inside)
        yield Sentence(text[first:last], ((0, starts[after - 1][1]), *moved))
        first = end


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table; a bar in a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def cited(path: str, quote: Quote | None, anchor: str) -> str:
    """A citation: a link from the words of a quote to their place. Nothing without a quote.

    An ellipsis stands beside it where the sentence goes on: it is no part of what is looked up.
    """
    if quote is None:
        return ""
    link = f"[“{_escaped(quote.text)}”]({url_quote(path)}#{url_quote(anchor, safe='/=!:')})"
    return f"{'… ' if quote.before else ''}{link}{' …' if quote.after else ''}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: match[0] if match[1] else f"\\{match[0]}", text)


def linked(path: str) -> str:
    """A link to a file as a whole."""
    return f"[{_escaped(path)}]({url_quote(path)})"
