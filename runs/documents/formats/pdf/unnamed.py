"""Letters of a PDF page that their font does not identify. pdfium returns their codes as if they were letters, so "The
liability" may be read as "7KH OLDELOLW\\".

OCR reads what the page shows. If it reads the same letters, the codes are right, as in old TeX files.
"""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import compress, repeat
from typing import NamedTuple, cast

from PIL import Image, ImageOps
from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.image.image_reader import read_lines
from runs.documents.formats.pdf.characters import NAMELESS, PageText
from runs.documents.formats.pdf.drawing import draw
from runs.documents.formats.pdf.geometry import PageView, Rectangle, boxes, loose_box
from runs.documents.formats.pdf.objects import HANDLE, INT, address, direct
from runs.documents.formats.pdf.windows import pixels
from runs.documents.model.layout import MIN_CONFIDENCE

OCR_SCALE = 300 / 72
"""Pixels per point: the resolution that Tesseract's models are made for."""
MAX_LINES = 200
"""Per file, some six seconds. After that only one line of each page is compared, because such fonts seldom change."""
_MIN_ALIKE = 0.85
"""Share of equal letters and digits. OCR mistakes a few letters; with wrong codes hardly any are equal."""
_MARGIN = 0.15
"""Around a line, as a share of its height."""
_BORDER = 24
"""Pixels of white around a line, because OCR misses letters at the edge of a picture."""


_is_unnamed = direct(raw.FPDFText_HasUnicodeMapError, INT, HANDLE, INT)


class UnnamedLine(NamedTuple):
    """A line with letters that their font does not identify: its range, and the number of these letters."""

    start: int
    end: int
    letters: int


def unnamed_lines(page: PdfTextPage, text: PageText) -> list[UnnamedLine]:
    """Returns the lines of a page with unidentified letters or digits. Other signs do not count: many fonts do not
    identify them.
    """
    flags = map(_is_unnamed, repeat(address(page.raw)), range(page.count_chars()))
    numbers = {number for number, flag in enumerate(flags) if flag == 1}
    return list(_lines(text, numbers)) if numbers else []


def _lines(text: PageText, numbers: set[int]) -> Iterator[UnnamedLine]:
    at = 0
    for line in text.text.split("\n"):
        end = at + len(line)
        unnamed = compress(line, map(numbers.__contains__, text.numbers[at:end]))
        if count := sum(one == NAMELESS or one.isalnum() for one in unnamed):
            yield UnnamedLine(at, end, count)
        at = end + 1


class Comparison:
    """Compares unidentified lines of one file with what OCR reads at their place."""

    def __init__(self) -> None:
        self._left = MAX_LINES

    def are_shown(
        self, page: PdfPage, text_page: PdfTextPage, text: PageText, lines: Sequence[UnnamedLine]
    ) -> bool | None:
        """Whether a page shows the letters of these lines, or None if OCR cannot tell.

        Raises InvalidInput if OCR is not installed or takes too long.
        """
        if len(lines) > self._left:
            lines = [max(lines, key=lambda line: line.letters)]
        self._left -= len(lines)
        picture, view, is_sure = draw(page, OCR_SCALE, grey=True), PageView(page), True
        parts = (_part(picture, view, text_page, text, line) for line in lines)
        for line, found in zip(lines, read_lines(parts), strict=True):
            if not found.words or found.confidence < MIN_CONFIDENCE:
                is_sure = False
            elif not _are_alike(text.text[line.start : line.end], found.text):
                return False
        return True if is_sure else None


def _part(picture: Image.Image, view: PageView, page: PdfTextPage, text: PageText, line: UnnamedLine) -> Image.Image:
    """Cuts a line out of the picture of its page and turns it upright."""
    number, count = text.span(line.start, line.end)
    left, top, right, bottom = pixels(_around(page, view, number, count), *picture.size)
    margin = round(_MARGIN * min(right - left, bottom - top))
    first, last = (max(left - margin, 0), max(top - margin, 0)), (right + margin, bottom + margin)
    part = picture.crop((*first, min(last[0], picture.width), min(last[1], picture.height)))
    turn = _turn(view, *(_around(page, view, at, 1) for at in (number, number + count - 1)))
    return ImageOps.expand(part.rotate(turn, expand=True), _BORDER, fill=cast("int", part.getpixel((0, 0))))


def _around(page: PdfTextPage, view: PageView, number: int, count: int) -> Rectangle:
    """Returns the place of these characters."""
    found = [view.to_fractions(*box) for box in boxes(page, number, count)] or [
        view.to_fractions(*loose_box(page, number))
    ]
    lefts, tops, rights, bottoms = zip(*found, strict=True)
    return Rectangle(min(lefts), min(tops), max(rights), max(bottoms))


def _turn(view: PageView, first: Rectangle, last: Rectangle) -> int:
    """Returns the degrees by which to rotate a picture counterclockwise so that the line between these letters runs to
    the right.
    """
    across, down = (last.left - first.left) * view.width, (last.top - first.top) * view.height
    if abs(across) >= abs(down):
        return 0 if across >= 0 else 180
    return 90 if down > 0 else 270


def _are_alike(one: str, other: str) -> bool:
    """Whether two readings of a line have nearly the same letters, and the same digits in each number."""
    figures, others = _characters_that(one, str.isdecimal), _characters_that(other, str.isdecimal)
    if len(figures) == len(others) and figures != others:
        return False
    letters, read = _characters_that(one, str.isalnum), _characters_that(other, str.isalnum)
    return SequenceMatcher(None, letters, read, autojunk=False).ratio() >= _MIN_ALIKE


def _characters_that(text: str, is_meant: Callable[[str], bool]) -> str:
    return "".join(filter(is_meant, text)).casefold()
