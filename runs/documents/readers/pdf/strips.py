"""Lines of a PDF page in its coarse picture: where along each of their parts there is ink, and where there is none.

All parts of a line are looked at together: programs that put each word at its place by itself make ten times as many.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, reduce
from operator import or_
from typing import NamedTuple

from PIL import Image

from runs.documents.readers.pdf.geometry import Rectangle

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
    """A line or a part of it. `ink` has a byte for each pixel of its length, 0 if there is none across all of it;
    `room` is how many of them a gap has at least, and `same` the share that has the colour of some text.
    """

    place: Rectangle
    is_across: bool
    ink: bytes
    room: int
    same: float

    @property
    def has_gaps(self) -> bool:
        return self.ink.find(b"\0" * self.room) >= 0


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


def strips(places: Sequence[Rectangle], ink: Raster, same: Raster) -> Iterator[Strip]:
    """One for each part of a line; both rasters are of the same picture."""
    rooms = [pixels(place, ink.width, ink.height) for place in places]
    for start, end in _bands(rooms):
        yield from _strips(places[start:end], rooms[start:end], ink, same)


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


def _strips(places: Sequence[Rectangle], rooms: Sequence[Room], ink: Raster, same: Raster) -> Iterator[Strip]:
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
    for place, room in zip(places, rooms, strict=True):
        first, last = (room[0] - left, room[2] - left) if is_across else (room[1] - top, room[3] - top)
        gap = max(round(_MIN_GAP * min(last - first, depth)), 2)
        share = sum(counts[first:last]) / (count * (last - first))
        yield Strip(place, is_across, along[first:last], gap, share)


def gaps(strip: Strip) -> Iterator[Gap]:
    """The gaps between the letters that may be spaces or missing letters."""
    left, top, right, bottom = strip.place
    for found in _zeros(strip.room).finditer(strip.ink):
        first, last = found.start() / len(strip.ink), found.end() / len(strip.ink)
        if strip.is_across:
            gap = Rectangle(left + (right - left) * first, top, left + (right - left) * last, bottom)
        else:
            gap = Rectangle(left, top + (bottom - top) * first, right, top + (bottom - top) * last)
        yield Gap(gap, strip.is_across, len(found[0]) / strip.room)


def are_spaces(found: Sequence[Gap], spaces: int) -> bool:
    """Whether most spaces of a line are as wide as its gaps, as in justified text. Missing letters leave wider gaps,
    or more.
    """
    widths = sorted(gap.width for gap in found)
    return spaces <= 2 * len(found) <= 2 * spaces and widths[-1] < _MAX_GROWTH * widths[len(found) // 2]


@cache
def _zeros(count: int) -> re.Pattern[bytes]:
    return re.compile(rb"\0{%d,}" % min(count, 60_000))


def pixels(place: Rectangle, width: int, height: int) -> Room:
    """Those of a picture that are inside, at least one in each direction, and none off the picture."""
    left, right = _pixels(place.left, place.right, width)
    top, bottom = _pixels(place.top, place.bottom, height)
    return left, top, right, bottom


def _pixels(first: float, last: float, size: int) -> tuple[int, int]:
    """Compared by hand: a long document has a hundred thousand pieces of text, and calls would take twice as long."""
    start, end = round(first * size), round(last * size)
    if start < 0:
        start = 0
    elif start >= size:
        start = size - 1
    if end > size:
        end = size
    return start, end if end > start else start + 1


def raster(picture: Image.Image) -> Raster:
    return Raster(picture.tobytes(), *picture.size)
