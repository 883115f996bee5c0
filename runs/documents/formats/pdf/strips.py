"""Lines of a PDF page in its coarse picture: where along each of their parts there is ink, and where there is none.

All parts of a line are looked at together: programs that put each word at its place by itself make ten times as many.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from operator import and_, or_, sub
from typing import NamedTuple, Self

from PIL import Image

from runs.documents.formats.pdf.geometry import Rectangle
from runs.documents.formats.pdf.objects import Box

_MIN_GAP = 0.55
"""In heights of the line: a digit leaves one as wide; many spaces do, too, which then costs the closer look."""
_MAX_GROWTH = 1.9
"""Times the middle one of the gaps of a line that its widest may be: without a word between two spaces it is wider."""
_MAX_DEPTH = 1.5
"""Times the highest of the parts of a line that all of them together may be high."""
_STEP, _MAX_ROWS = 3, 200
"""Every third row tells how much of a part has a colour, or so many of them."""


type Room = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels."""


class Strip(NamedTuple):
    """The part of a line with this number. `ink` has a byte for each pixel of its length, 0 if there is none across all
    of it; `room` is how many of them a gap has at least, and `same` the share that has the colour of some text.
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
        """How many times wider each of them is than the narrowest that counts."""
        return [len(gap) / self.room for gap in _zeros(self.room).findall(self.ink)]


class Line(NamedTuple):
    """The parts of a line together, in points: their room, the lesser side of the smallest of them, and whether all of
    them are beside each other.
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
    """A part of a line without ink, and how many times wider it is than the narrowest that counts."""

    place: Rectangle
    is_across: bool
    width: float


class Raster(NamedTuple):
    """A byte for each pixel, row by row: something else than 0 where it is so."""

    pixels: bytes
    width: int
    height: int

    def rows(self, left: int, top: int, right: int, bottom: int, step: int = 1) -> list[bytes]:
        return [self.pixels[row * self.width + left : row * self.width + right] for row in range(top, bottom, step)]


def strips(rooms: Sequence[Room], ink: Raster, same: Raster) -> Iterator[Strip]:
    """One for each part of a line; both rasters are of the same picture."""
    for start, end in _bands(rooms):
        yield from _strips(start, rooms[start:end], ink, same)


def whole(room: Room, dark: Raster) -> Strip:
    """A line as one part, in a picture of what is dark. Where all is dark from its foot to its head there are no
    letters to be seen either.
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
    """All together where they are one line, each by itself otherwise."""
    if not rooms:
        return []
    left, top, right, bottom = _around(rooms)
    depths = [(room[3] - room[1]) if right - left > bottom - top else (room[2] - room[0]) for room in rooms]
    if min(right - left, bottom - top) <= _MAX_DEPTH * max(depths):
        return [(0, len(rooms))]
    return [(at, at + 1) for at in range(len(rooms))]


def _around(rooms: Sequence[Room]) -> Room:
    lefts, tops, rights, bottoms = zip(*rooms, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _strips(number: int, rooms: Sequence[Room], ink: Raster, same: Raster) -> Iterator[Strip]:
    """Numbers as long as a row of pixels are put together ten times faster than pictures."""
    left, top, right, bottom = _around(rooms)
    is_across = right - left > bottom - top
    depth = min(right - left, bottom - top)
    if is_across:
        step = max(_STEP, -(-depth // _MAX_ROWS))  # a byte counts no more than 255
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
    """The gaps between the letters of a part of a line at this place that may be spaces or missing letters."""
    left, top, right, bottom = place
    for found in _zeros(strip.room).finditer(strip.ink):
        first, last = found.start() / len(strip.ink), found.end() / len(strip.ink)
        if strip.is_across:
            gap = Rectangle(left + (right - left) * first, top, left + (right - left) * last, bottom)
        else:
            gap = Rectangle(left, top + (bottom - top) * first, right, top + (bottom - top) * last)
        yield Gap(gap, strip.is_across, len(found[0]) / strip.room)


def are_spaces(gaps: Iterable[float], spaces: int) -> bool:
    """Whether most spaces of a line are as wide as its gaps, as in justified text. Missing letters leave wider gaps,
    or more.
    """
    widths = sorted(gaps)
    return spaces <= 2 * len(widths) <= 2 * spaces and widths[-1] < _MAX_GROWTH * widths[len(widths) // 2]


@cache
def _zeros(count: int) -> re.Pattern[bytes]:
    return re.compile(rb"\0{%d,}" % min(count, 60_000))


def pixels(place: Rectangle, width: int, height: int) -> Room:
    """Those of a picture that are inside, at least one in each direction, and none off the picture."""
    left, top, right, bottom = place
    return inside(round(left * width), round(top * height), round(right * width), round(bottom * height), width, height)


def inside(left: int, top: int, right: int, bottom: int, width: int, height: int) -> Room:
    """A room as far as it is in a picture of this size. Compared by hand: calls would take twice as long."""
    left = 0 if left < 0 else left if left < width else width - 1
    top = 0 if top < 0 else top if top < height else height - 1
    right = right if right <= width else width
    bottom = bottom if bottom <= height else height
    return left, top, right if right > left else left + 1, bottom if bottom > top else top + 1


def raster(picture: Image.Image) -> Raster:
    return Raster(picture.tobytes(), *picture.size)
