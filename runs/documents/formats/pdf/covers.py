"""Text of a PDF page over which something else was drawn: whether anything of it is left in the picture of the page.

The page is drawn once more without such text. Where that changes nothing the text cannot be seen, whatever other ink
is at its place: words on a white box over other words, a picture over all of the page.
"""

import ctypes
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from PIL import Image, ImageChops
from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.camouflage import strongest
from runs.documents.formats.pdf.geometry import View, share_room
from runs.documents.formats.pdf.objects import (
    MAX_OBJECTS,
    Box,
    all_of,
    bounds_of,
    font_of,
    is_visible_text,
    words_of,
)
from runs.documents.formats.pdf.strips import Room, pixels
from runs.documents.formats.pdf.windows import Picture

_MAX_SHARED = 16
"""Layers that have many words; each text that lies deeper has one for itself, as rows of slanted words may."""
_CELLS = 800
"""In each direction of the page, of the maps of what was drawn where: about a point each."""
_SHRUNK = 4
"""Of a line its height divided by so much is left out above and below, which other lines may touch."""


class _Map:
    """Parts of a page, in cells: a bit for each of a row."""

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
    """The same words at the same place, drawn so many times to be bold. Without one of them nothing changes."""

    handles: list[Any]
    room: Room


class Covered:
    """The text of a page over which something was drawn, or all that is drawn visibly (`all_text`), in layers of which
    none has words upon others; `where`: in this part of it. Whether text is among it, the address of its object tells.

    Readers run without garbage collection: nothing here may refer back to this object, or to who has made it, since
    the pictures of each page would then be kept until the end of the file.
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
        self._page, self._view, self._check_time = page, View(page), check_time
        self.layers: dict[int, int] = {}
        self._handles: list[list[Any]] = []
        self._sort(self._found(where, all_text=all_text))

    def difference(self, whole: Picture, layer: int) -> Picture:
        """A picture of a part of the page: its shades are by how much each pixel of `whole`, which shows all that is
        drawn there, differs without the words of a layer.
        """
        self._check_time()
        return whole._replace(image=_difference(whole.image, self._without(layer, whole)))

    def _without(self, layer: int, whole: Picture) -> Image.Image:
        for handle in self._handles[layer]:
            raw.FPDFPageObj_SetIsActive(handle, False)
        try:
            return whole.drawn_again(self._page)
        finally:
            for handle in self._handles[layer]:
                raw.FPDFPageObj_SetIsActive(handle, True)

    def _found(self, where: Box | None, *, all_text: bool) -> list[_Copies]:
        """What was drawn last is looked at first: it covers what was drawn before."""
        covers, copies, found = _Map(), dict[Box, _Copies](), dict[int, _Copies]()
        for one in reversed(list(islice(all_of(self._page), MAX_OBJECTS))):
            self._check_time()
            if one.kind == raw.FPDF_PAGEOBJ_FORM:  # its parts are there, too
                continue
            bounds = bounds_of(one)
            if where and not share_room(bounds, where):
                continue
            room = self._room(bounds)
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
        """Of two texts in the same room."""
        said, also_said = words_of(one, self._text_page), words_of(other, self._text_page)
        return font_of(one) == font_of(other) and (said == also_said or not said or not also_said)

    def _sort(self, found: Sequence[_Copies]) -> None:
        taken, alone = list[_Map](), list[list[Any]]()
        for handles, room in found:
            self._check_time()
            inner = _inner(room)
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

    def _room(self, box: tuple[float, float, float, float]) -> Room:
        return pixels(self._view.shown(*box), _CELLS, _CELLS)


def _difference(one: Image.Image, other: Image.Image) -> Image.Image:
    change = ImageChops.difference(one, other)
    return strongest(change) if change.mode == "RGB" else change


def _inner(room: Room) -> Room:
    left, top, right, bottom = room
    across, down = ((right - left) // _SHRUNK, 1) if right - left < bottom - top else (1, (bottom - top) // _SHRUNK)
    left, top = left + across, top + down
    return left, top, max(right - across, left + 1), max(bottom - down, top + 1)
