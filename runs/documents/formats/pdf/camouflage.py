"""Words of a PDF page in the colour of what is around them, which nobody sees even where there is other ink."""

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from PIL import Image, ImageChops
from pypdfium2 import PdfTextPage

from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.geometry import around, loose_box
from runs.documents.formats.pdf.objects import Box, Paint, colours_of, paint_of, text_object

_MIN_CONTRAST = 12
"""Shades of grey, of 256, between letters and the ground that can be seen at all."""
MIN_COLOUR = 64
"""Of 256, between two colours in that of red, green and blue in which they differ most: less is a tint as of paper."""
_WHITE = 232
"""The darkest shade that may be meant not to be seen on paper."""
MIN_DOUBT = 0.25
"""Of the room of a word in the coarse picture, where other ink is blurred: so much in its colour may be the ground."""
MIN_GROUND = 0.5
"""Of its room in the fine picture; letters themselves take less of theirs."""


@cache
def hiding(paint: Paint) -> tuple[int, ...]:
    """For each shade of the ground whether such letters cannot be seen on it: 1 or 0."""
    return tuple(
        int(all(abs(shade - ground) * opacity < _MIN_CONTRAST * 255 for shade, opacity in paint))
        for ground in range(256)
    )


def same_as_text(picture: Image.Image, paints: frozenset[Paint]) -> bytes:
    """A byte for each pixel, row by row: 1 where it has the colour of some text."""
    return picture.point(_hiding_any(paints)).tobytes()


@cache
def _hiding_any(paints: frozenset[Paint]) -> Sequence[int]:
    tables = [hiding(paint) for paint in paints if paint]
    return [max((table[shade] for table in tables), default=0) for shade in range(256)]


def is_sign(paint: Paint) -> bool:
    """Whether somebody may have hidden text with it: invisible, or white as paper is."""
    return any(hiding(paint)[_WHITE:])


def share(part: Image.Image, paint: Paint) -> float:
    """How much of a picture has the colour of the text."""
    counts = part.histogram()
    return sum(count for count, same in zip(counts, hiding(paint), strict=True) if same) / max(sum(counts), 1)


def strongest(picture: Image.Image) -> Image.Image:
    """For each pixel the highest of its three values."""
    red, green, blue = picture.split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def share_in_colour(part: Image.Image, text: Any) -> float:
    """How much of a picture has the colour of the text: colours as red and green may be the same shade of grey."""
    away = Image.new("L", part.size)
    for colour, opacity in colours_of(text):
        differs = strongest(ImageChops.difference(part, Image.new("RGB", part.size, colour)))
        away = ImageChops.lighter(away, differs.point([value * opacity // 255 for value in range(256)]))
    return sum(away.histogram()[:MIN_COLOUR]) / max(part.width * part.height, 1)


def words(page: PdfTextPage, text: PageText, start: int, end: int) -> Iterator[tuple[range, Box, Paint]]:
    """The words of a part of the text, or parts of words that were drawn together: offsets, room and colour."""
    begun, address, drawn_with = start, 0, None
    for at in range(start, end + 1):
        one = text_object(page, text.numbers[at]) if at < end and not text.text[at].isspace() else None
        other = ctypes.addressof(one.contents) if one else 0
        if other != address:
            if address:
                yield _word(page, text.numbers, range(begun, at), drawn_with)
            begun, address, drawn_with = at, other, one


def _word(page: PdfTextPage, numbers: Sequence[int], offsets: range, drawn_with: Any) -> tuple[range, Box, Paint]:
    return offsets, around(loose_box(page, numbers[at]) for at in offsets), paint_of(drawn_with)
