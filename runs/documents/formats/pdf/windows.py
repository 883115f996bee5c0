"""Pictures of a part of a PDF page, which take a tenth of the time of all of it where a line or two are looked at."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from PIL import Image
from pypdfium2 import PdfPage

from runs.documents.formats.pdf.geometry import Rectangle, View
from runs.documents.formats.pdf.objects import Box
from runs.documents.formats.pdf.showing import drawn, scale_within_limits
from runs.documents.formats.pdf.strips import Room, inside, pixels

WHOLE = Rectangle(0.0, 0.0, 1.0, 1.0)
_MAX_WINDOWS = 8
"""Of a page: more pictures take as long as one of all of it."""
_MIN_ROOM = 0.005
"""Around a line, as a share of the page."""
_MAX_LINES = 200
"""Of a page, from which on all of it is looked at: putting so many together takes longer than the picture."""


class Picture(NamedTuple):
    """What a part of a page shows, `scale` pixels per point. `left` and `top`: where it begins in the picture of all of
    the page, of which `width` and `height` are the size, in pixels.
    """

    scale: float
    image: Image.Image
    left: int
    top: int
    width: int
    height: int

    @classmethod
    def of(cls, page: PdfPage, scale: float, window: Rectangle, *, grey: bool) -> "Picture":
        """In grey, or in red, green and blue. Of a large page there are fewer pixels."""
        scale = scale_within_limits(page, scale)
        width, height = (max(math.ceil(side * scale), 1) for side in page.get_size())
        left, top, right, bottom = pixels(window, width, height)
        image = drawn(page, scale, grey=grey, cut=(left, height - bottom, width - right, top))
        return cls(scale, image if grey else image.convert("RGB"), left, top, width, height)

    @property
    def is_grey(self) -> bool:
        return self.image.mode == "L"

    def drawn_again(self, page: PdfPage) -> Image.Image:
        """What the same part of the page shows now."""
        width, height = self.image.size
        cut = self.left, self.height - self.top - height, self.width - self.left - width, self.top
        image = drawn(page, self.scale, grey=self.is_grey, cut=cut)
        return image if self.is_grey else image.convert("RGB")

    def room(self, place: Rectangle) -> Room:
        """Of a part of the page in this picture, as far as it is there, and at least one pixel in each direction."""
        left, right = round(place.left * self.width) - self.left, round(place.right * self.width) - self.left
        top, bottom = round(place.top * self.height) - self.top, round(place.bottom * self.height) - self.top
        return inside(left, top, right, bottom, *self.image.size)

    def rooms(self, view: View, boxes: Iterable[Box]) -> list[Room]:
        """Of parts of a line: `room` of `view.shown`, for the hundred thousand of a long document."""
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


class Window(NamedTuple):
    """A part of a page, and the lines there by their numbers."""

    place: Rectangle
    lines: list[int]


def windows(places: Iterable[Rectangle]) -> Iterator[Window]:
    """Parts of a page that have these lines, lines that are near each other in one, with room around them for what is
    compared with them. Each line is in one window.
    """
    found = list[Window]()
    around = list(map(_around, places))
    if len(around) > _MAX_LINES:
        return iter([Window(WHOLE, list(range(len(around))))])
    for number, place in enumerate(around):
        near = [one for one in found if _meet(one.place, place)]
        found = [one for one in found if one not in near]
        lines = sorted([number, *(line for one in near for line in one.lines)])
        found.append(Window(_all_of([place, *(one.place for one in near)]), lines))
    if len(found) > _MAX_WINDOWS:
        found = [Window(_all_of(one.place for one in found), list(range(len(around))))]
    return iter(found)


def _around(line: Rectangle) -> Rectangle:
    """Twice as much as the height of a line on each side, be it across the page or upwards."""
    left, top, right, bottom = line
    room = 2 * min(right - left, bottom - top) + _MIN_ROOM
    return Rectangle(left - room, top - room, right + room, bottom + room)


def _meet(one: Rectangle, other: Rectangle) -> bool:
    return one.left <= other.right and other.left <= one.right and one.top <= other.bottom and other.top <= one.bottom


def _all_of(places: Iterable[Rectangle]) -> Rectangle:
    lefts, tops, rights, bottoms = zip(*places, strict=True)
    return Rectangle(min(lefts), min(tops), max(rights), max(bottoms))
