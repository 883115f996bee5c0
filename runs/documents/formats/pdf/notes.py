"""Footnotes of a PDF page: their marks in its text, and the notes at its foot. A passage goes around both of them."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from pypdfium2 import PdfTextPage

from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.geometry import size_of
from runs.documents.formats.pdf.raised import RAISED

_MARK = re.compile(f"[{RAISED}]+")
_UNIT = re.compile(r"(?:\b|(?<=\d))(?:[cdkm]?m|ft|in|yd|mi)$")
_NOTE = re.compile(rf"^[ \t]*([{RAISED}]+)", re.MULTILINE)
_MAX_SIZE = 0.95
"""Of a note's letters, in those of the text that refers to it."""
_MAX_LINE = 300
_SAME = 0.05
"""By which the sizes of two lines of the same note may differ."""


def notes_of(page: PdfTextPage, text: PageText) -> list[tuple[int, int]]:
    """The marks and the notes, as offsets, in order.

    A number above the line is no mark behind a unit of length, nor behind a digit unless a note of the page has it: 10²
    is another figure than 10.
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
    """The number of each, and from there to the end of the last line in letters of its size."""
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
    """Of the first letter there; 0 where there is none."""
    found = next((at for at in where if text.text[at].isalpha()), None)
    return 0.0 if found is None else size_of(page, text.numbers[found])
