"""Footnotes and repeated lines of PDF pages. Passages of the text may continue across them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pypdfium2 import PdfTextPage

from runs.documents.formats.pdf.characters import RAISED, PageText
from runs.documents.formats.pdf.columns import line_spans
from runs.documents.formats.pdf.geometry import size_of

_MARK = re.compile(f"[{RAISED}]+")
_UNIT = re.compile(r"(?:\b|(?<=\d))(?:[cdkm]?m|ft|in|yd|mi)$")
_NOTE = re.compile(rf"^[ \t]*([{RAISED}]+)", re.MULTILINE)
_MAX_SIZE = 0.95
"""Size of a note's letters, relative to those of the text that refers to it."""
_MAX_LINE = 300  # characters; longer lines are not running lines
_SAME = 0.05
"""Difference in size between two lines of the same note."""


def notes_of(page: PdfTextPage, text: PageText) -> list[tuple[int, int]]:
    """Returns the ranges of note marks and notes, in order.

    A raised number is not a mark after a unit of length. After a digit it is one only if the page has a note with this
    number, because 10² is another figure than 10.
    """
    begins = {match.start(1) for match in _NOTE.finditer(text.text)}
    marks = [match for match in _MARK.finditer(text.text) if match.start() not in begins]
    notes = list(_notes(page, text, {match[0]: match.start() for match in reversed(marks)}))
    numbers, starts = {number for number, _, _ in notes}, [start for _, start, _ in notes]
    found = [(start, end) for _, start, end in notes]
    for match in marks:
        before = bisect_right(starts, match.start())
        is_in_note = before and match.start() < notes[before - 1][2]
        if not is_in_note and _is_mark(text.text, match, match[0] in numbers):
            found.append(match.span())
    return sorted(found)


def _is_mark(text: str, match: re.Match[str], has_note: bool) -> bool:
    before = text[max(match.start() - 5, 0) : match.start()]
    if _UNIT.search(before):
        return False
    return has_note or not before[-1:].isdecimal()


def _notes(page: PdfTextPage, text: PageText, marks: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """Yields the number of each note, and the range from it to the end of the last line in letters of its size."""
    for match in _NOTE.finditer(text.text):
        at = marks.get(match[1], len(text.text))
        if at < match.start() and (size := _size(page, text, range(match.end(), _line_end(text.text, match.end())))):
            body = _size(page, text, range(at - 1, max(at - _MAX_LINE, 0) - 1, -1))
            if size <= _MAX_SIZE * body:
                yield match[1], match.start(1), _end(page, text, match.end(), size)


def _end(page: PdfTextPage, text: PageText, at: int, size: float) -> int:
    end = _line_end(text.text, at)
    while end < len(text.text):
        begun, until = end + 1, _line_end(text.text, end + 1)
        is_next = _NOTE.match(text.text, begun, until)
        if is_next or abs(_size(page, text, range(begun, until)) - size) > _SAME * size:
            break
        end = until
    return end


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _size(page: PdfTextPage, text: PageText, where: range) -> float:
    """Returns the size of the first letter there, or 0."""
    found = next((at for at in where if text.text[at].isalpha()), None)
    return 0.0 if found is None else size_of(page, text.numbers[found])


_MIN_SHARE = 0.6
"""Of the pages with text."""

_MIN_PAGES = 3  # on fewer pages a repeated line is no header or footer

_LINES = 2
"""Lines at the beginning and at the end of each page that are compared."""

_DIGITS = re.compile(r"\d+")


class MarginLine(NamedTuple):
    start: int
    end: int
    form: str
    """The words of the line, with a placeholder for each number."""


def running_lines(pages: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Returns the lines of each page that are repeated on most pages, as ranges of offsets."""
    lines = [_outer(text) for text in pages]
    counts = Counter(form for found in lines for form in {line.form for line in found})
    wanted = max(_MIN_PAGES, _MIN_SHARE * sum(bool(found) for found in lines))
    return [[(line.start, line.end) for line in found if counts[line.form] >= wanted] for found in lines]


def _outer(text: str) -> list[MarginLine]:
    """Returns the first and the last lines that are not empty."""
    spans = sorted({*islice(line_spans(text), _LINES), *islice(_backwards(text), _LINES)})
    return [
        MarginLine(start, end, _DIGITS.sub("#", " ".join(text[start:end].split())))
        for start, end in spans
        if end - start <= _MAX_LINE
    ]


def _backwards(text: str) -> Iterator[tuple[int, int]]:
    end = len(text)
    while end > 0:
        at = text.rfind("\n", 0, end) + 1
        if text[at:end].strip():
            yield at, end
        end = at - 1
