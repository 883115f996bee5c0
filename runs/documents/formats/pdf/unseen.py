"""Text of a PDF page over which something else was drawn: finds out whether any of it is left in the picture of the
page.

The page is drawn again without such text. If that changes nothing, the text is invisible, whatever other ink is at its
place: words on a white box over other words, or a picture over the whole page.
"""

import ctypes
import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from itertools import compress, islice, product
from typing import Any, NamedTuple, cast

from PIL import Image, ImageChops
from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.characters import PageText, text_page_of
from runs.documents.formats.pdf.geometry import PageView, Rectangle, around, loose_box, share_room, size_of, tight_box
from runs.documents.formats.pdf.objects import (
    MAX_OBJECTS,
    Box,
    PageObject,
    Paint,
    all_of,
    bounds_of,
    colours_of,
    font_of,
    is_visible_text,
    paint_of,
    text_object,
    words_of,
)
from runs.documents.formats.pdf.windows import Picture, Room, pixels

_MIN_CONTRAST = 12
"""Minimum difference, of 256 shades, between visible letters and the ground."""
MIN_COLOUR = 64
"""Difference, of 256, between two colours in the channel in which they differ most. Less is a tint
like that of paper.
"""
_WHITE = 232
"""The darkest shade that may be meant to be invisible on paper."""
MIN_DOUBT = 0.25
"""Share of a word's place in the coarse picture, where other ink is blurred. From this share on, its colour may be the
ground.
"""
MIN_GROUND = 0.5
"""The same in the fine picture. Letters cover less of their place."""


@cache
def hiding(paint: Paint) -> tuple[int, ...]:
    """Returns for each shade of the ground whether such letters are invisible on it: 1 or 0."""
    return tuple(
        int(all(abs(shade - ground) * opacity < _MIN_CONTRAST * 255 for shade, opacity in paint))
        for ground in range(256)
    )


def same_as_text(picture: Image.Image, paints: frozenset[Paint]) -> bytes:
    """Returns a byte for each pixel, row by row: 1 if it has the colour of some text."""
    return picture.point(_hiding_any(paints)).tobytes()


@cache
def _hiding_any(paints: frozenset[Paint]) -> Sequence[int]:
    tables = [hiding(paint) for paint in paints if paint]
    return [max((table[shade] for table in tables), default=0) for shade in range(256)]


def is_sign(paint: Paint) -> bool:
    """Whether text may have been hidden with this paint: it is invisible, or white like paper."""
    return any(hiding(paint)[_WHITE:])


def share(part: Image.Image, paint: Paint) -> float:
    """Returns the share of a picture that has the colour of the text."""
    counts = part.histogram()
    return sum(count for count, same in zip(counts, hiding(paint), strict=True) if same) / max(sum(counts), 1)


def strongest(picture: Image.Image) -> Image.Image:
    """Returns the highest of the three channels of each pixel."""
    red, green, blue = picture.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def share_in_colour(part: Image.Image, text: Any) -> float:
    """Returns the share of a picture in the colour of the text. Red and green may be the same shade of grey."""
    away = Image.new("L", part.size)
    for colour, opacity in colours_of(text):
        differs = strongest(ImageChops.difference(part, Image.new("RGB", part.size, colour)))
        away = ImageChops.lighter(away, differs.point([value * opacity // 255 for value in range(256)]))
    return sum(away.histogram()[:MIN_COLOUR]) / max(part.width * part.height, 1)


def words(page: PdfTextPage, text: PageText, start: int, end: int) -> Iterator[tuple[range, Box, Paint]]:
    """Yields the words of a part of the text, or parts of words that were drawn together: offsets, place and colour."""
    begun, address, drawn_with = start, 0, None
    for at in range(start, end + 1):
        one = text_object(page, text.numbers[at]) if at < end and not text.text[at].isspace() else None
        other = ctypes.addressof(one.contents) if one else 0
        if other != address:
            if address:
                offsets = range(begun, at)
                yield offsets, around(loose_box(page, text.numbers[at]) for at in offsets), paint_of(drawn_with)
            begun, address, drawn_with = at, other, one


_MAX_SHARED = 16
"""Layers with many words. Each further text that overlaps all of them gets a layer of its own, such as rows of slanted
words.
"""
_CELLS = 800
"""Cells in each direction of the page, about a point each, of the maps of what was drawn where."""
_SHRUNK = 4
"""A line's height divided by this is left out above and below, because neighbouring lines may touch."""


class _Map:
    """Marks parts of a page in a grid: one integer per row, with a bit per cell."""

    def __init__(self) -> None:
        self._rows = dict[int, int]()

    def add(self, room: Room) -> None:
        left, top, right, bottom = room
        cells = (1 << right) - (1 << left)
        for row in range(top, bottom):
            self._rows[row] = self._rows.get(row, 0) | cells

    def has(self, room: Room) -> bool:
        left, top, right, bottom = room
        cells = (1 << right) - (1 << left)
        return any(self._rows.get(row, 0) & cells for row in range(top, bottom)) if self._rows else False


class _Copies(NamedTuple):
    """The same words drawn several times at the same place to look bold. Removing one of them changes nothing."""

    handles: list[Any]
    room: Room


class CoveredText:
    """The text of a page over which something was drawn (or all visible text, if `all_text`), within `where`.

    It is divided into layers in which no words overlap. The address of a text object tells whether it is included.

    Readers run without garbage collection, so nothing here may refer back to this object or to its creator. Otherwise
    the pictures of each page would stay in memory until the end of the file.
    """

    def __init__(
        self,
        page: PdfPage,
        text_page: PdfTextPage,
        where: Box | None,
        *,
        all_text: bool,
        check_time: Callable[[], None],
    ) -> None:
        self._text_page = text_page
        self._page, self._view, self._check_time = page, PageView(page), check_time
        self.layers: dict[int, int] = {}
        self._handles: list[list[Any]] = []
        self._sort(self._find_copies(where, all_text=all_text))

    def difference(self, whole: Picture, layer: int) -> Picture:
        """Returns how much each pixel of `whole`, a complete picture of a part of the page, changes without the words
        of a layer.
        """
        self._check_time()
        other = self._without(layer, whole)
        change = ImageChops.difference(whole.image, other)
        return whole._replace(image=strongest(change) if change.mode == "RGB" else change)

    def _without(self, layer: int, whole: Picture) -> Image.Image:
        for handle in self._handles[layer]:
            raw.FPDFPageObj_SetIsActive(handle, False)
        try:
            return whole.drawn_again(self._page)
        finally:
            for handle in self._handles[layer]:
                raw.FPDFPageObj_SetIsActive(handle, True)

    def _find_copies(self, where: Box | None, *, all_text: bool) -> list[_Copies]:
        """Examines the objects that were drawn last first, because they cover earlier ones."""
        covers, copies, found = _Map(), dict[Box, _Copies](), dict[int, _Copies]()
        for one in reversed(list(islice(all_of(self._page), MAX_OBJECTS))):
            self._check_time()
            if one.kind == raw.FPDF_PAGEOBJ_FORM:  # its parts are listed too
                continue
            bounds = bounds_of(one)
            if where and not share_room(bounds, where):
                continue
            room = pixels(self._view.to_fractions(*bounds), _CELLS, _CELLS)
            if one.kind != raw.FPDF_PAGEOBJ_TEXT:
                covers.add(room)
            elif is_visible_text(one.handle):
                same = copies.get(bounds)
                if not same or not self._are_copies(same.handles[0], one.handle):
                    same = copies[bounds] = _Copies([], room)
                same.handles.append(one.handle)
                if all_text or covers.has(room):
                    found[id(same)] = same
        return list(found.values())

    def _are_copies(self, one: Any, other: Any) -> bool:
        """Whether two texts at the same place are copies."""
        said, also_said = words_of(one, self._text_page), words_of(other, self._text_page)
        return font_of(one) == font_of(other) and (said == also_said or not said or not also_said)

    def _sort(self, found: Sequence[_Copies]) -> None:
        taken, alone = list[_Map](), list[list[Any]]()
        for handles, room in found:
            self._check_time()
            left, top, right, bottom = room
            across, down = (
                ((right - left) // _SHRUNK, 1) if right - left < bottom - top else (1, (bottom - top) // _SHRUNK)
            )
            left, top = left + across, top + down
            inner = left, top, max(right - across, left + 1), max(bottom - down, top + 1)
            layer = next((one for one, cells in enumerate(taken) if not cells.has(inner)), len(taken))
            if layer == _MAX_SHARED:
                alone.append(handles)
                continue
            if layer == len(taken):
                taken.append(_Map())
                self._handles.append([])
            taken[layer].add(inner)
            self._handles[layer] += handles
        self._handles += alone
        for layer, handles in enumerate(self._handles):
            self.layers.update((ctypes.addressof(handle.contents), layer) for handle in handles)


FINE = 200 / 72
"""Pixels per point."""

MIN_CONTRAST = 12
"""Minimum difference, of 256 shades, between a visible letter and the ground in the fine picture."""

_MIN_SIZE = 8.0
"""Font size in points. Smaller letters look too similar in the fine picture, such as 6 and 8 at 6 points."""

NO_INK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"})
"""Categories of characters without ink."""

_MIN_LIKENESS = 0.9
"""Correlation from 0 to 1. Letters have 0.97 with themselves, 3 has 0.85 with 8, and l has 0.91 with h, which does not
occur throughout a line.
"""

_MIN_LIKENESS_OF_OUTLINE = 0.8
"""Letters have at least 0.87 with themselves, and at most 0.7 with others."""

_AROUND = 2
"""Pixels around a letter that must have the colour of the ground."""

_OUTLINES = 1, 1, 2
"""Pixels by which each outline of the letters is wider than the one before on all sides: 3, 5 and 9 across."""

_OUTSIDE, _INSIDE = 10, 170
"""Of 256: coverage up to which a pixel counts as outside a letter, and from which it counts as inside."""

_SHIFTS = sorted(product((-1, 0, 1), repeat=2), key=lambda shift: abs(shift[0]) + abs(shift[1]))
"""Pixels between two drawings of the same letter. pdfium draws letters of fonts at whole pixels,
but no other shapes.
"""

_PER_POINT = 10
"""Two copies have the same size if they agree in so many parts of a point."""

_BLACK = 0, 0, 0, 255


class _Masks(NamedTuple):
    """Letters, and their outlines in several widths, in white on black."""

    letters: Image.Image
    outlines: Sequence[Image.Image]


def seen_by_shape(
    again: Callable[[], AbstractContextManager[PdfPage]],
    text: PageText,
    hidden: Sequence[int],
    window: Rectangle,
    picture: Picture,
    check_time: Callable[[], None],
) -> set[int]:
    """Returns the offsets of those hidden characters whose words the picture shows after all.

    `picture` is a fine picture of a part of the page in its colours. `again` opens the page once more, and its objects
    are changed there.
    """
    image = picture.image
    with again() as page, text_page_of(page) as text_page:
        handles = {at: text_object(text_page, text.numbers[at]) for at in hidden}
        addresses = {at: _address(one) for at, one in handles.items() if one}
        objects = list(islice(all_of(page), MAX_OBJECTS + 1))
        if len(objects) > MAX_OBJECTS:  # the letters cannot be drawn by themselves
            return set()
        moves, twins = _twins(objects, set(addresses.values()), check_time)
        for twin in twins:
            raw.FPDFPageObj_SetIsActive(twin.handle, False)
        changed = _visible_changes(image, Picture.of(page, FINE, window, grey=False).image) if twins else None
        masks = _masks(page, window, objects, set(addresses.values()), moves)
        view, pictures = PageView(page), [image.convert("L"), *image.split(), *filter(None, [changed])]

        def is_shown(at: int) -> bool:
            check_time()
            if unicodedata.category(text.text[at]) in NO_INK:
                return True
            if at not in addresses or size_of(text_page, text.numbers[at]) < _MIN_SIZE:
                return False
            across, up = moves.get(addresses[at], (0.0, 0.0))
            left, bottom, right, top = tight_box(text_page, text.numbers[at])
            place = view.to_fractions(left + across, bottom + up, right + across, top + up)
            left, top, right, bottom = picture.room(place)
            return _has_shape(pictures, masks, (left - _AROUND, top - _AROUND, right + _AROUND, bottom + _AROUND))

        return {at for part in _parts(hidden, text.text) if all(map(is_shown, part)) for at in part}


def _address(handle: Any) -> int:
    return ctypes.addressof(handle.contents)


def _parts(hidden: Sequence[int], text: str) -> list[list[int]]:
    """Returns ranges of consecutive characters of a line, also across spaces."""
    parts: list[list[int]] = []
    for at in hidden:
        between = text[parts[-1][-1] + 1 : at] if parts else "\n"
        if between.strip(" ") or "\n" in between:
            parts.append([])
        parts[-1].append(at)
    return parts


def _twins(
    objects: Sequence[PageObject], hidden: set[int], check_time: Callable[[], None]
) -> tuple[dict[int, tuple[float, float]], list[PageObject]]:
    """Returns the distance from each hidden text object to its nearest coloured copy, and these copies."""
    copies: dict[tuple[int, int, int], list[tuple[Box, PageObject]]] = {}
    wanted: list[tuple[tuple[int, int, int], Box, int]] = []
    for one in objects:
        check_time()
        if one.kind != raw.FPDF_PAGEOBJ_TEXT:
            continue
        box = bounds_of(one)
        key = font_of(one.handle), round((box[2] - box[0]) * _PER_POINT), round((box[3] - box[1]) * _PER_POINT)
        if (address := _address(one.handle)) in hidden:
            wanted.append((key, box, address))
        elif any(opacity for _, opacity in paint_of(one.handle)):
            copies.setdefault(key, []).append((box, one))
    moves, twins = dict[int, tuple[float, float]](), list[PageObject]()
    for key, box, address in wanted:
        check_time()
        distances = [
            (max(abs(other[0] - box[0]), abs(other[1] - box[1])), at)
            for at, (other, _) in enumerate(copies.get(key, ()))
        ]
        distance, at = min(distances, default=(math.inf, 0))
        if distance < box[3] - box[1]:
            other, twin = copies[key][at]
            moves[address] = other[0] - box[0], other[1] - box[1]
            twins.append(twin)
    return moves, twins


def _visible_changes(one: Image.Image, other: Image.Image) -> Image.Image:
    """Returns white for pixels in which two pictures differ visibly."""
    grey = ImageChops.difference(one.convert("L"), other.convert("L"))
    colour = strongest(ImageChops.difference(one, other))
    return ImageChops.lighter(_from(grey, MIN_CONTRAST), _from(colour, MIN_COLOUR))


def _from(picture: Image.Image, least: int) -> Image.Image:
    return picture.point([255 if shade >= least else 0 for shade in range(256)])


def _masks(
    page: PdfPage,
    window: Rectangle,
    objects: Sequence[PageObject],
    hidden: set[int],
    moves: dict[int, tuple[float, float]],
) -> _Masks:
    for one in objects:
        if one.kind == raw.FPDF_PAGEOBJ_FORM:
            continue
        address = _address(one.handle)
        raw.FPDFPageObj_SetIsActive(one.handle, address in hidden)
        if address in hidden:
            raw.FPDFTextObj_SetTextRenderMode(one.handle, raw.FPDF_TEXTRENDERMODE_FILL)
            raw.FPDFPageObj_SetFillColor(one.handle, *_BLACK)
            raw.FPDFPageObj_Transform(one.handle, 1, 0, 0, 1, *moves.get(address, (0.0, 0.0)))
    letters = ImageChops.invert(Picture.of(page, FINE, window, grey=True).image)
    return _Masks(letters, list(_outlines(letters)))


def _outlines(letters: Image.Image) -> Iterator[Image.Image]:
    """Yields the outlines of letters. Pillow's rank filters give the same, but take twenty times longer, more than
    everything else.
    """
    inside, outside = letters, ImageChops.invert(letters)
    for width in _OUTLINES:
        inside, outside = _grow(inside, width), _grow(outside, width)
        yield ImageChops.subtract(inside, ImageChops.invert(outside))


def _grow(picture: Image.Image, width: int) -> Image.Image:
    """Widens what is light by so many pixels on all sides. From 2 on, it must be as wide as that already."""
    right, bottom = picture.size
    for across, down in ((width, 0), (0, width)):
        before = picture.crop((-across, -down, right - across, bottom - down))
        after = picture.crop((across, down, right + across, bottom + down))
        picture = ImageChops.lighter(picture, ImageChops.lighter(before, after))
    return picture


def _has_shape(pictures: Sequence[Image.Image], masks: _Masks, room: tuple[int, int, int, int]) -> bool:
    """Whether a part of one of the pictures (the first is grey) is a letter or its outline."""
    shapes = [(masks.letters.crop(room), _MIN_LIKENESS)]
    shapes += [(outline.crop(room), _MIN_LIKENESS_OF_OUTLINE) for outline in masks.outlines]
    left, top, right, bottom = room
    for picture, (across, down) in product(pictures, _SHIFTS):
        part = picture.crop((left + across, top + down, right + across, bottom + down))
        dark, light = cast("tuple[int, int]", part.getextrema())
        if light - dark < (MIN_CONTRAST if picture is pictures[0] else MIN_COLOUR):
            continue
        if any(_likeness(shape, part) >= least for shape, least in shapes):
            return True
    return False


def _likeness(shape: Image.Image, part: Image.Image) -> float:
    """Returns the correlation of a picture with a shape, from 0 to 1, dark on light or light on dark.

    Pixels at the edges of the shape are ignored, because they depend on how it was drawn.
    """
    shades = shape.tobytes()
    sure = [shade <= _OUTSIDE or shade >= _INSIDE for shade in shades]
    first, second = bytes(compress(shades, sure)), bytes(compress(part.tobytes(), sure))
    count, total, other_total = len(first), sum(first), sum(second)
    spread = (math.sumprod(first, first) * count - total**2) * (math.sumprod(second, second) * count - other_total**2)
    shared = math.sumprod(first, second) * count - total * other_total
    return abs(shared) / math.sqrt(spread) if spread else 0.0
