"""Pictures of parts of a PDF page. Drawing a line or two takes a tenth of the time of the whole page."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import and_, or_, sub
from typing import NamedTuple, Self

from PIL import Image
from pypdfium2 import PdfPage

from runs.documents.formats.pdf.drawing import draw, scale_within_limits
from runs.documents.formats.pdf.geometry import PageView, Rectangle
from runs.documents.formats.pdf.objects import Box

type Room = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels."""


def _bounds(rooms: Sequence[Room]) -> Room:
    lefts, tops, rights, bottoms = zip(*rooms, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _around(line: Rectangle) -> Rectangle:
    """Enlarges the place of a line by twice its height on each side. The line may also run upwards."""
    left, top, right, bottom = line
    room = 2 * min(right - left, bottom - top) + _MIN_ROOM
    return Rectangle(left - room, top - room, right + room, bottom + room)


_MIN_GAP = 0.55
"""In heights of the line: the gap that a missing digit leaves. Many spaces are as wide and cause
the closer check too.
"""
_MAX_GROWTH = 1.9
"""Maximum width of a line's widest gap, as a multiple of the median gap. A missing word makes it wider."""
_MAX_DEPTH = 1.5
"""Maximum height of all parts of a line together, as a multiple of the highest part."""
_STEP, _MAX_ROWS = 3, 200
"""Every third row is sampled to measure the share of a colour, up to so many rows."""


class Strip(NamedTuple):
    """The part of a line with this number.

    `ink` has a byte for each pixel of its length, 0 if there is no ink across the line. `room` is the minimum width of
    a gap in pixels, and `same` the share in the colour of some text.
    """

    number: int
    is_across: bool
    ink: bytes
    room: int
    same: float

    @property
    def has_gaps(self) -> bool:
        return self.ink.find(b"\0" * self.room) >= 0

    @property
    def gaps(self) -> list[float]:
        """The widths of the gaps, as multiples of the narrowest width that counts."""
        return [len(gap) / self.room for gap in _zeros(self.room).findall(self.ink)]


class LineExtent(NamedTuple):
    """The parts of a line in points: the box around them, the shorter side of the smallest, and whether they are side
    by side.
    """

    box: Box
    narrowest: float
    is_one: bool

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> Self:
        if len(boxes) == 1:
            left, bottom, right, top = box = boxes[0]
            return cls(box, min(right - left, top - bottom), is_one=True)
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        left, bottom, right, top = box = min(lefts), min(bottoms), max(rights), max(tops)
        widths, heights = list(map(sub, rights, lefts)), list(map(sub, tops, bottoms))
        deepest = max(heights if right - left > top - bottom else widths)
        is_one = min(right - left, top - bottom) <= _MAX_DEPTH * deepest
        return cls(box, min(min(widths), min(heights)), is_one)


class Gap(NamedTuple):
    """A part of a line without ink, and its width as a multiple of the narrowest width that counts."""

    place: Rectangle
    is_across: bool
    width: float


class Raster(NamedTuple):
    """A byte for each pixel, row by row, not 0 where a condition holds."""

    pixels: bytes
    width: int
    height: int

    def rows(self, left: int, top: int, right: int, bottom: int, step: int = 1) -> list[bytes]:
        return [self.pixels[row * self.width + left : row * self.width + right] for row in range(top, bottom, step)]


def strips(rooms: Sequence[Room], ink: Raster, same: Raster) -> Iterator[Strip]:
    """Yields a strip for each part of a line. Both rasters are of the same picture."""
    for start, end in _bands(rooms):
        yield from _strips(start, rooms[start:end], ink, same)


def whole(room: Room, dark: Raster) -> Strip:
    """Returns a line as one strip, from a raster of dark pixels.

    Where everything is dark from foot to head, no letters are visible either.
    """
    left, top, right, bottom = room
    rows = dark.rows(*room)
    if is_across := right - left > bottom - top:
        numbers = list(map(int.from_bytes, rows))
        ink = (reduce(or_, numbers) ^ reduce(and_, numbers)).to_bytes(right - left)
    else:
        ink = bytes(any(row) and not all(row) for row in rows)
    depth = min(right - left, bottom - top)
    return Strip(0, is_across, ink, max(round(_MIN_GAP * depth), 2), 0.0)


def _bands(rooms: Sequence[Room]) -> list[tuple[int, int]]:
    """Returns one band for all parts if they are one line, otherwise a band for each."""
    if not rooms:
        return []
    left, top, right, bottom = _bounds(rooms)
    depths = [(room[3] - room[1]) if right - left > bottom - top else (room[2] - room[0]) for room in rooms]
    if min(right - left, bottom - top) <= _MAX_DEPTH * max(depths):
        return [(0, len(rooms))]
    return [(at, at + 1) for at in range(len(rooms))]


def _strips(number: int, rooms: Sequence[Room], ink: Raster, same: Raster) -> Iterator[Strip]:
    """Combines rows of pixels as long integers, which is ten times faster than combining pictures."""
    left, top, right, bottom = _bounds(rooms)
    is_across = right - left > bottom - top
    depth = min(right - left, bottom - top)
    if is_across:
        step = max(_STEP, -(-depth // _MAX_ROWS))  # so that the sums fit into a byte
        along = reduce(or_, map(int.from_bytes, ink.rows(left, top, right, bottom))).to_bytes(right - left)
        rows = same.rows(left, top, right, bottom, step)
        counts: Sequence[int] = sum(map(int.from_bytes, rows)).to_bytes(right - left)
        count = len(rows)
    else:
        along = bytes(map(any, ink.rows(left, top, right, bottom)))
        counts = [row.count(1) for row in same.rows(left, top, right, bottom)]
        count = right - left
    for at, room in enumerate(rooms, number):
        first, last = (room[0] - left, room[2] - left) if is_across else (room[1] - top, room[3] - top)
        gap = max(round(_MIN_GAP * min(last - first, depth)), 2)
        share = sum(counts[first:last]) / (count * (last - first))
        yield Strip(at, is_across, along[first:last], gap, share)


def gaps(strip: Strip, place: Rectangle) -> Iterator[Gap]:
    """Yields the gaps between the letters of this part of a line that may be spaces or missing letters."""
    left, top, right, bottom = place
    for found in _zeros(strip.room).finditer(strip.ink):
        first, last = found.start() / len(strip.ink), found.end() / len(strip.ink)
        if strip.is_across:
            gap = Rectangle(left + (right - left) * first, top, left + (right - left) * last, bottom)
        else:
            gap = Rectangle(left, top + (bottom - top) * first, right, top + (bottom - top) * last)
        yield Gap(gap, strip.is_across, len(found[0]) / strip.room)


def are_spaces(gaps: Iterable[float], spaces: int) -> bool:
    """Whether most spaces of a line are as wide as its gaps, as in justified text. Missing letters leave wider or more
    gaps.
    """
    widths = sorted(gaps)
    return spaces <= 2 * len(widths) <= 2 * spaces and widths[-1] < _MAX_GROWTH * widths[len(widths) // 2]


@cache
def _zeros(count: int) -> re.Pattern[bytes]:
    return re.compile(rb"\0{%d,}" % min(count, 60_000))


def pixels(place: Rectangle, width: int, height: int) -> Room:
    """Returns the pixels of a picture that are inside: at least one in each direction, and none outside the picture."""
    left, top, right, bottom = place
    return inside(round(left * width), round(top * height), round(right * width), round(bottom * height), width, height)


def inside(left: int, top: int, right: int, bottom: int, width: int, height: int) -> Room:
    """Clips a rectangle to a picture of this size. Written without calls, which would take twice as long."""
    left = 0 if left < 0 else left if left < width else width - 1
    top = 0 if top < 0 else top if top < height else height - 1
    right = right if right <= width else width
    bottom = bottom if bottom <= height else height
    return left, top, right if right > left else left + 1, bottom if bottom > top else top + 1


def raster(picture: Image.Image) -> Raster:
    return Raster(picture.tobytes(), *picture.size)


WHOLE = Rectangle(0.0, 0.0, 1.0, 1.0)
_MAX_WINDOWS = 8
"""Per page. More pictures take as long as one of the whole page."""
_MIN_ROOM = 0.005
"""Around a line, as a share of the page."""
_MAX_LINES = 200
"""With more lines, the whole page is drawn, because grouping them would take longer than the picture."""


class Picture(NamedTuple):
    """A picture of a part of a page with `scale` pixels per point.

    `left` and `top` are its offset in the picture of the whole page, whose size in pixels is `width` by `height`.
    """

    scale: float
    image: Image.Image
    left: int
    top: int
    width: int
    height: int

    @classmethod
    def of(cls, page: PdfPage, scale: float, window: Rectangle, *, grey: bool) -> "Picture":
        """Draws a part of a page in grey or in colour. Large pages are drawn with fewer pixels."""
        scale = scale_within_limits(page, scale)
        width, height = (max(math.ceil(side * scale), 1) for side in page.get_size())
        left, top, right, bottom = pixels(window, width, height)
        image = draw(page, scale, grey=grey, cut=(left, height - bottom, width - right, top))
        return cls(scale, image if grey else image.convert("RGB"), left, top, width, height)

    @property
    def is_grey(self) -> bool:
        return self.image.mode == "L"

    def drawn_again(self, page: PdfPage) -> Image.Image:
        """Draws the same part of the page again."""
        width, height = self.image.size
        cut = self.left, self.height - self.top - height, self.width - self.left - width, self.top
        image = draw(page, self.scale, grey=self.is_grey, cut=cut)
        return image if self.is_grey else image.convert("RGB")

    def room(self, place: Rectangle) -> Room:
        """Returns the pixels of a part of the page, clipped to this picture, at least one in each direction."""
        left, right = round(place.left * self.width) - self.left, round(place.right * self.width) - self.left
        top, bottom = round(place.top * self.height) - self.top, round(place.bottom * self.height) - self.top
        return inside(left, top, right, bottom, *self.image.size)

    def rooms(self, view: PageView, boxes: Iterable[Box]) -> list[Room]:
        """Like `room` of `view.shown` for each box, but faster: long documents have a hundred thousand boxes."""
        x, dx, dy, y, ex, ey = view.scaled(self.width, self.height)
        x, y, (width, height) = x - self.left, y - self.top, self.image.size
        found = []
        for left, bottom, right, top in boxes:
            one, other = round(x + dx * left + dy * bottom), round(x + dx * right + dy * top)
            upper, lower = round(y + ex * left + ey * bottom), round(y + ex * right + ey * top)
            if one > other:
                one, other = other, one
            if upper > lower:
                upper, lower = lower, upper
            found.append(inside(one, upper, other, lower, width, height))
        return found

    def part(self, place: Rectangle) -> Image.Image:
        return self.image.crop(self.room(place))


class PageWindow(NamedTuple):
    """A part of a page, and the numbers of the lines in it."""

    place: Rectangle
    lines: list[int]


def windows(places: Iterable[Rectangle]) -> Iterator[PageWindow]:
    """Groups lines into parts of a page. Lines near each other share a part, with a margin for comparisons. Each line
    is in one part.
    """
    found = list[PageWindow]()
    around = list(map(_around, places))
    if len(around) > _MAX_LINES:
        return iter([PageWindow(WHOLE, list(range(len(around))))])
    for number, place in enumerate(around):
        near = [one for one in found if _meet(one.place, place)]
        found = [one for one in found if one not in near]
        lines = sorted([number, *(line for one in near for line in one.lines)])
        found.append(PageWindow(_all_of([place, *(one.place for one in near)]), lines))
    if len(found) > _MAX_WINDOWS:
        found = [PageWindow(_all_of(one.place for one in found), list(range(len(around))))]
    return iter(found)


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one.left <= other.right and other.left <= one.right and one.top <= other.bottom and other.top <= one.bottom


def _all_of(places: Iterable[Rectangle]) -> Rectangle:
    lefts, tops, rights, bottoms = zip(*places, strict=True)
    return Rectangle(min(lefts), min(tops), max(rights), max(bottoms))
