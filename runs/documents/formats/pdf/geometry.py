"""Locates characters on a page, as rectangles in fractions of its width and height from the top left."""

import ctypes
import math
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.objects import HANDLE, INT, address, direct

_GRID = 1_000_000
"""Resolution of the virtual device in each direction, because pdfium returns whole device points."""
_MAX_GAP = 2.5
"""Between two parts of a line, as a multiple of the line's height."""
_MIN_SHARED = 0.5
"""Minimum overlap of two parts of the same line, as a share of the lower one's height."""

_NEAR = 3.0  # points, about the width of a letter
_MIN_SIDE = 0.01
"""In points."""


type Box = tuple[float, float, float, float]

_count_rectangles = direct(raw.FPDFText_CountRects, INT, HANDLE, INT, INT)
_rectangle = direct(raw.FPDFText_GetRect, INT, HANDLE, INT, *[HANDLE] * 4)


class Rectangle(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class PageView:
    """Converts the points of a page to fractions of its visible area, which /Rotate turns and /CropBox cuts."""

    def __init__(self, page: PdfPage) -> None:
        self.width, self.height = page.get_size()
        reach = max(self.width, self.height, 1.0)
        x0, y0 = _device(page, 0, 0)
        x1, y1 = _device(page, reach, 0)
        x2, y2 = _device(page, 0, reach)
        self._x = x0, (x1 - x0) / reach, (x2 - x0) / reach
        self._y = y0, (y1 - y0) / reach, (y2 - y0) / reach

    def to_fractions(self, left: float, bottom: float, right: float, top: float) -> Rectangle:
        """Converts a box. The result is not clipped to the page."""
        x, dx, dy = self._x
        one, other = x + dx * left + dy * bottom, x + dx * right + dy * top
        y, ex, ey = self._y
        upper, lower = y + ex * left + ey * bottom, y + ex * right + ey * top
        if one > other:
            one, other = other, one
        if upper > lower:
            upper, lower = lower, upper
        return Rectangle(one, upper, other, lower)

    def scaled(self, width: int, height: int) -> tuple[float, float, float, float, float, float]:
        """Returns coefficients that convert points to pixels: the origin across, its change per point to the right and
        up, and the same for the direction downwards.
        """
        (x, dx, dy), (y, ex, ey) = self._x, self._y
        return x * width, dx * width, dy * width, y * height, ex * height, ey * height

    def has(self, left: float, bottom: float, right: float, top: float) -> bool:
        """Whether the whole box is on the page."""
        shown = self.to_fractions(left, bottom, right, top)
        return min(shown.left, shown.top) >= 0 and max(shown.right, shown.bottom) <= 1

    @property
    def is_turned(self) -> bool:
        """Whether text that runs across the page is shown upwards or downwards."""
        _, across, up = self._x
        return bool(abs(across) < abs(up))

    def box_of(self, shown: Rectangle) -> Box:
        """Returns left, bottom, right and top in the page's points."""
        (x, dx, dy), (y, ex, ey) = self._x, self._y
        size = dx * ey - dy * ex or 1.0
        corners = [(shown.left - x, shown.top - y), (shown.right - x, shown.bottom - y)]
        across = [(ey * one - dy * other) / size for one, other in corners]
        up = [(dx * other - ex * one) / size for one, other in corners]
        return min(across), min(up), max(across), max(up)


def _device(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    across, down = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, across, down)
    return across.value / _GRID, down.value / _GRID


def rectangles(page: PdfTextPage, view: PageView, number: int, count: int) -> list[Rectangle]:
    """Returns rectangles of these characters, one for each line or part of a line, clipped to the page."""
    if not count:
        return []
    upright = abs(math.sin(raw.FPDFText_GetCharAngle(page, number))) < math.sqrt(0.5)
    merged = _merge_lines(boxes(page, number, count), upright)
    return list(_on_page(view.to_fractions(*box) for box in merged))


def boxes(page: PdfTextPage, number: int, count: int) -> list[Box]:
    """Returns left, bottom, right and top in points, one box for each piece of text that was drawn in one operation."""
    found, handle = array("d", bytes(4 * 8)), address(page.raw)
    left, top, right, bottom = (found.buffer_info()[0] + 8 * at for at in (0, 3, 2, 1))
    parts = range(_count_rectangles(handle, number, count))
    return [
        (found[0], found[1], found[2], found[3]) for at in parts if _rectangle(handle, at, left, top, right, bottom)
    ]


def are_near(one: Box, other: Box) -> bool:
    """Whether two boxes are less than a letter apart."""
    return (
        one[0] - _NEAR < other[2]
        and other[0] - _NEAR < one[2]
        and one[1] - _NEAR < other[3]
        and other[1] - _NEAR < one[3]
    )


def around(boxes: Iterable[Box]) -> Box:
    """Returns the smallest box that contains all of them."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def share_room(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def tight_box(page: PdfTextPage, number: int) -> Box:
    """Returns left, bottom, right and top of a character's ink, or of its font box if pdfium does not know the ink."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    raw.FPDFText_GetCharBox(page, number, left, right, bottom, top)
    if right.value - left.value < _MIN_SIDE or top.value - bottom.value < _MIN_SIDE:
        return loose_box(page, number)
    return left.value, bottom.value, right.value, top.value


def loose_box(page: PdfTextPage, number: int) -> Box:
    """Returns left, bottom, right and top of the space that a character has in its font."""
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(page, number, box)
    return box.left, box.bottom, box.right, box.top


def size_of(page: PdfTextPage, number: int) -> float:
    """Returns the font size of a character in points as drawn. Files may scale a font of any size."""
    matrix = raw.FS_MATRIX()
    size = float(raw.FPDFText_GetFontSize(page, number))
    return size * math.hypot(matrix.c, matrix.d) if raw.FPDFText_GetMatrix(page, number, matrix) else size


def _merge_lines(parts: Iterable[Box], upright: bool) -> list[Box]:
    """Merges parts of one line. If the text runs up or down, lines are columns of the page."""
    found: list[Box] = []
    for part in parts:
        if found and _in_line(found[-1], part, upright):
            one = found[-1]
            found[-1] = min(one[0], part[0]), min(one[1], part[1]), max(one[2], part[2]), max(one[3], part[3])
        else:
            found.append(part)
    return found


def _in_line(one: Box, other: Box, upright: bool) -> bool:
    along, across = (0, 1) if upright else (1, 0)
    height = min(one[across + 2] - one[across], other[across + 2] - other[across])
    shared = min(one[across + 2], other[across + 2]) - max(one[across], other[across])
    gap = max(one[along], other[along]) - min(one[along + 2], other[along + 2])
    highest = max(one[across + 2] - one[across], other[across + 2] - other[across])
    return shared >= _MIN_SHARED * height and gap <= _MAX_GAP * highest


def _on_page(found: Iterable[Rectangle]) -> Iterator[Rectangle]:
    for left, top, right, bottom in found:
        clipped = Rectangle(max(left, 0.0), max(top, 0.0), min(right, 1.0), min(bottom, 1.0))
        if clipped.left < clipped.right and clipped.top < clipped.bottom:
            yield clipped
