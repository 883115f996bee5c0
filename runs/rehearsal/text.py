"""Text of documents: blocks that belong together, sentences with the line they begin in, and Markdown tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote as url_quote

from runs.pev.evidence.quotes import proves_nothing

CITED_WORDS = 12
QUOTE_CHARS = 240
"""A quote that fits a table's cell and can be found again by a reader."""
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&]")
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+(?:\.\d+)+[.)]?\s|\d+[.)]\s|\||>|```|\*\*[^*]+\*\*:?\s*$)")
_SENTENCE_ENDS = re.compile(r"(?<=[^\W\d_]{3}[.!?;]) (?=[A-ZÄÖÜ0-9“\"(\[])")
"""After three letters: “No. 5” and “2.1 The” go on."""


@dataclass(frozen=True)
class Sentence:
    """Verbatim but for folded whitespace. `starts`: offset in it and number of each of its lines."""

    text: str
    starts: tuple[tuple[int, int], ...]

    def quote(self, start: int, end: int) -> tuple[str, int]:
        """A part around start:end of at most QUOTE_CHARS, cut at word boundaries, and the line it begins in."""
        first, last = 0, len(self.text)
        if last > QUOTE_CHARS:
            left = max(0, min(start - (QUOTE_CHARS - (end - start)) // 2, last - QUOTE_CHARS))
            first = (self.text.find(" ", left, start) + 1 or left) if left else 0
            if first + QUOTE_CHARS < last:
                last = max(self.text.rfind(" ", end, first + QUOTE_CHARS), end)
        return self.text[first:last].strip(), max(line for offset, line in self.starts if offset <= first)


def shortened(text: str, limit: int) -> str:
    """One line of at most `limit` characters, with an ellipsis where something was cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def number_of(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def named(paths: Sequence[str], limit: int) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more


def blocks(lines: Mapping[int, str]) -> Iterator[list[tuple[int, str]]]:
    """Paragraphs, list items, headings and table rows, as lines with their numbers."""
    block: list[tuple[int, str]] = []
    for number, line in sorted(lines.items()):
        if block and (not line.strip() or _STARTS_BLOCK.match(line) or block[-1][1].lstrip().startswith(("#", "|"))):
            yield block
            block = []
        if line.strip():
            block.append((number, line))
    if block:
        yield block


def sentences(block: Sequence[tuple[int, str]]) -> Iterator[Sentence]:
    text, starts = "", list[tuple[int, int]]()
    for number, line in block:
        text += " " if text else ""
        starts.append((len(text), number))
        text += " ".join(line.split())
    first = 0
    for last in [*(match.start() for match in _SENTENCE_ENDS.finditer(text)), len(text)]:
        before = max(line for offset, line in starts if offset <= first)
        inside = [(offset - first, line) for offset, line in starts if first < offset < last]
        yield Sentence(text[first:last], ((0, before), *inside))
        first = last + 1


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table; a bar in a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def cited(path: str, line: int, quote: str) -> str:
    """A citation: a link from the first words of a quote to its place. Nothing, where these are too few to prove it."""
    words = " ".join(quote.split()[:CITED_WORDS])
    if proves_nothing(words, ""):
        return ""
    return f"[“{_SPECIAL.sub(r'\\\g<0>', words)}”]({url_quote(path)}#L{line})"


def linked(path: str) -> str:
    """A link to a file as a whole."""
    return f"[{_SPECIAL.sub(r'\\\g<0>', path)}]({url_quote(path)})"
