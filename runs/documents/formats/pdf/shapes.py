"""Words of a PDF page that people see though the letters of its text draw nothing: another copy of them does.

Browsers write a transparent copy for a soft shadow and for letters filled with a gradient, and a white one within an
outline; pdfium keeps whichever comes first. So the letters are drawn once more, black and alone. Where the picture of
the page, or what a visible copy beside them changes of it, has the shape of each letter of a word, the word is seen:
ink of any other shape does not make it so.
"""

import ctypes
import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import compress, islice, product
from typing import Any, NamedTuple, cast

from PIL import Image, ImageChops
from pypdfium2 import PdfPage, raw

from runs.documents.formats.pdf.camouflage import MIN_COLOUR, strongest
from runs.documents.formats.pdf.characters import PageText, text_page_of
from runs.documents.formats.pdf.geometry import Rectangle, View, size_of, tight_box
from runs.documents.formats.pdf.objects import (
    MAX_OBJECTS,
    Box,
    PageObject,
    all_of,
    bounds_of,
    font_of,
    paint_of,
    text_object,
)
from runs.documents.formats.pdf.windows import Picture

FINE = 200 / 72
"""Pixels per point."""
MIN_CONTRAST = 12
"""Shades of grey, of 256, between a letter and the ground in the fine picture that can be seen at all."""
_MIN_SIZE = 8.0
"""Points of a font. Shapes of smaller letters are too much alike in the fine picture: at 6 points 6 and 8 are."""
NO_INK = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"})
"""Kinds of characters that leave none."""
_MIN_LIKENESS = 0.9
"""From 0 to 1: 0.97 of letters with themselves; 3 and 8 have 0.85, l and h 0.91, which no line has throughout."""
_MIN_LIKENESS_OF_OUTLINE = 0.8
"""Of letters with themselves 0.87 at least, of others 0.7 at most."""
_AROUND = 2
"""Pixels beside a letter, which have to be those of the ground."""
_OUTLINES = 1, 1, 2
"""Pixels by which each outline of letters is wider than the one before, to both sides: 3, 5 and 9 across."""
_OUTSIDE, _INSIDE = 10, 170
"""Of 256: so much of a pixel, or less and more, is in a letter."""
_SHIFTS = sorted(product((-1, 0, 1), repeat=2), key=lambda shift: abs(shift[0]) + abs(shift[1]))
"""Pixels between two drawings of the same letter: pdfium puts those of a font at whole pixels, and no others."""
_PER_POINT = 10
"""The sizes of two copies are the same in so many parts of a point."""
_BLACK = 0, 0, 0, 255


class _Masks(NamedTuple):
    """White on black: the letters, and their outlines in several widths."""

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
    """Those of the hidden characters, by their offsets, that belong to words that the picture shows, which is a fine
    one of a part of the page in its colours. `again` opens the page once more; what is drawn with is changed there.
    """
    image = picture.image
    with again() as page, text_page_of(page) as text_page:
        handles = {at: text_object(text_page, text.numbers[at]) for at in hidden}
        addresses = {at: _address(one) for at, one in handles.items() if one}
        objects = list(islice(all_of(page), MAX_OBJECTS + 1))
        if len(objects) > MAX_OBJECTS:  # the letters cannot be drawn alone
            return set()
        moves, twins = _twins(objects, set(addresses.values()), check_time)
        for twin in twins:
            raw.FPDFPageObj_SetIsActive(twin.handle, False)
        changed = _changed(image, Picture.of(page, FINE, window, grey=False).image) if twins else None
        masks = _masks(page, window, objects, set(addresses.values()), moves)
        view, pictures = View(page), [image.convert("L"), *image.split(), *filter(None, [changed])]

        def is_shown(at: int) -> bool:
            check_time()
            if unicodedata.category(text.text[at]) in NO_INK:
                return True
            if at not in addresses or size_of(text_page, text.numbers[at]) < _MIN_SIZE:
                return False
            across, up = moves.get(addresses[at], (0.0, 0.0))
            left, bottom, right, top = tight_box(text_page, text.numbers[at])
            place = view.shown(left + across, bottom + up, right + across, top + up)
            left, top, right, bottom = picture.room(place)
            return _has_shape(pictures, masks, (left - _AROUND, top - _AROUND, right + _AROUND, bottom + _AROUND))

        return {at for part in _parts(hidden, text.text) if all(map(is_shown, part)) for at in part}


def _address(handle: Any) -> int:
    return ctypes.addressof(handle.contents)


def _parts(hidden: Sequence[int], text: str) -> list[list[int]]:
    """Those of a line that follow each other, also over spaces."""
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
    """How far away the nearest copy with a colour of each hidden piece of text is, and these copies."""
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


def _changed(one: Image.Image, other: Image.Image) -> Image.Image:
    """White where two pictures differ so that it can be seen."""
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
    """What rank filters of Pillow say too, in twenty times the time: of a page more than all else takes."""
    inside, outside = letters, ImageChops.invert(letters)
    for width in _OUTLINES:
        inside, outside = _grown(inside, width), _grown(outside, width)
        yield ImageChops.subtract(inside, ImageChops.invert(outside))


def _grown(picture: Image.Image, width: int) -> Image.Image:
    """What is light, by so many pixels wider on all sides. From 2 on it has to be as wide as that already."""
    right, bottom = picture.size
    for across, down in ((width, 0), (0, width)):
        before = picture.crop((-across, -down, right - across, bottom - down))
        after = picture.crop((across, down, right + across, bottom + down))
        picture = ImageChops.lighter(picture, ImageChops.lighter(before, after))
    return picture


def _has_shape(pictures: Sequence[Image.Image], masks: _Masks, room: tuple[int, int, int, int]) -> bool:
    """Whether a part of one of the pictures, the first of which is in grey, is a letter or its outline."""
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
    """How a picture goes together with a shape, from 0 to 1, be it dark on light or light on dark (their correlation).
    Pixels at the edges of the shape tell nothing: they depend on how it was drawn.
    """
    shades = shape.tobytes()
    sure = [shade <= _OUTSIDE or shade >= _INSIDE for shade in shades]
    first, second = bytes(compress(shades, sure)), bytes(compress(part.tobytes(), sure))
    count, total, other_total = len(first), sum(first), sum(second)
    spread = (math.sumprod(first, first) * count - total**2) * (math.sumprod(second, second) * count - other_total**2)
    shared = math.sumprod(first, second) * count - total * other_total
    return abs(shared) / math.sqrt(spread) if spread else 0.0
