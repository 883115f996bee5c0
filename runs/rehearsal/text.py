"""Blocks of text that belong together, verbatim quotes from them, and Markdown of the results."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote as url_quote

from runs.rehearsal.documents import Line
from runs.text.sentences import sentence_around

QUOTE_CHARS = 300
"""A quote that fits a table's cell and can be found again by a reader; few clauses are longer."""
_SPECIAL = re.compile(r"(\*\*[^\W_][^*`\[\]]*[^\W_]\*\*)|[\\`*_\[\]<>|~&]")
"""What a link's text would lose or be broken by; words in bold are kept as they are."""
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+(?:\.\d+)+[.)]?\s|\d+[.)]\s|\||>|```|\*\*[^*]+\*\*:?\s*$)")


class Quote(NamedTuple):
    """Verbatim words, from line `first` to line `last`."""

    text: str
    first: int
    last: int


@dataclass(frozen=True)
class TextBlock:
    """A paragraph, list item, heading or table row."""

    lines: Sequence[Line]

    @cached_property
    def text(self) -> str:
        """Verbatim, but with each run of white space as one space."""
        return " ".join(self._folded)

    @cached_property
    def _folded(self) -> list[str]:
        return [" ".join(line.text.split()) for line in self.lines]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._folded[:-1])]

    def line_at(self, offset: int) -> Line:
        return self.lines[bisect_right(self._starts, offset) - 1]

    def quote(self, start: int, end: int) -> Quote:
        """The sentence of these characters. Of a long one only the words around them."""
        first, last = sentence_around(self.text, start, end, QUOTE_CHARS)
        if last - first > QUOTE_CHARS:
            first, last = sentence_around(self.text, start, end, max(0, QUOTE_CHARS - (end - start)) // 2)
        words = self.text[first:last]
        words = words.strip("| ") if self.text.startswith("|") else words  # the cells of a row
        return Quote(words, self.line_at(first).number, self.line_at(last - 1).number)


def blocks(lines: Iterable[Line]) -> Iterator[TextBlock]:
    block: list[Line] = []
    for line in lines:
        begins = line.begins or not line.text.strip() or _STARTS_BLOCK.match(line.text)
        if block and (begins or block[-1].text.lstrip().startswith(("#", "|"))):
            yield TextBlock(block)
            block = []
        if line.text.strip():
            block.append(line)
    if block:
        yield TextBlock(block)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A Markdown table; a bar in a cell is escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def cited(path: str, words: str, anchor: str) -> str:
    """A citation: a link from quoted words to their place."""
    return f"[“{_escaped(words)}”]({url_quote(path)}#{url_quote(anchor, safe='/=!:')})"


def linked(path: str) -> str:
    """A link to a file as a whole."""
    return f"[{_escaped(path)}]({url_quote(path)})"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda match: match[0] if match[1] else f"\\{match[0]}", text)


def cut_at_line(text: str, limit: int) -> str:
    """The text, or as many of its lines as fit and a line that says where the rest is."""
    return text if len(text) <= limit else f"{text[:limit].rpartition('\n')[0]}\n- … (cut; the rest is in the file)"
