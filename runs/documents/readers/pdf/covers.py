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

from runs.documents.readers.pdf.camouflage import strongest
from runs.documents.readers.pdf.geometry import Rectangle, View
from runs.documents.readers.pdf.objects import MAX_OBJECTS, Box, all_of, bounds_of, font_of, is_visible_text, words_of
from runs.documents.readers.pdf.strips import Room, pixels
from runs.documents.readers.pdf.windows import WHOLE, Picture

_MAX_SHARED = 16
"""Layers that have many words; each text that lies deeper has one for itself, as rows of slanted words may."""
_MAX_KEPT = 12
"""Pictures of a page, which may be large."""
_CELLS = 800
"""In each direction of the page, of the maps of what was drawn where: about a point each."""
_SHRUNK = 4
"""Of a line its height divided by so much is left out above and below, which other lines may touch."""


class _Map:
    """Parts of a page, in cells."""

    def __init__(self) -> None:
        self._cells = [bytearray(_CELLS) for _ in range(_CELLS)]

    def add(self, room: Room) -> None:
        left, top, right, bottom = room
        for row in self._cells[top:bottom]:
            row[left:right] = b"\1" * (right - left)

    def has(self, room: Room) -> bool:
        left, top, right, bottom = room
        return any(row.find(1, left, right) >= 0 for row in self._cells[top:bottom])


class _Copies(NamedTuple):
    """The same words at the same place, drawn so many times to be bold. Without one of them nothing changes."""

    handles: list[Any]
    room: Room


class Covered:
    """The text of a page over which something was drawn, or all that is drawn visibly (`all_text`), in layers of which
    none has words upon others. Whether text is among it, the address of its object tells.

    Readers run without garbage collection: nothing here may refer back to this object, or to who has made it, since
    the pictures of each page would then be kept until the end of the file.
    """

    def __init__(
        self, page: PdfPage, text_page: PdfTextPage, *, all_text: bool, check_time: Callable[[], None]
    ) -> None:
        self._text_page = text_page
        self._page, self._view, self._check_time = page, View(page), check_time
        self.layers: dict[int, int] = {}
        self._handles: list[list[Any]] = []
        self._window = WHOLE
        self._changes: dict[tuple[int, float, bool], Picture] = {}
        self._wholes: dict[tuple[float, bool], Picture] = {}
        self._sort(self._found(all_text=all_text))

    def difference(self, window: Rectangle, layer: int, scale: float, *, grey: bool = True) -> Picture:
        """A part of the page: its shades are by how much each pixel differs without the words of a layer."""
        key = layer, scale, grey
        if window != self._window:
            self._window, self._wholes, self._changes = window, {}, {}
        if key in self._changes:
            self._changes[key] = self._changes.pop(key)  # the first one is that which was asked for longest ago
            return self._changes[key]
        self._check_time()
        if len(self._changes) >= _MAX_KEPT:
            del self._changes[next(iter(self._changes))]
        whole, without = self._whole(scale, grey), self._without(layer, scale, grey)
        self._changes[key] = whole._replace(image=_difference(whole.image, without.image))
        return self._changes[key]

    def _whole(self, scale: float, grey: bool) -> Picture:
        if (scale, grey) not in self._wholes:
            self._wholes[scale, grey] = Picture.of(self._page, scale, self._window, grey=grey)
        return self._wholes[scale, grey]

    def _without(self, layer: int, scale: float, grey: bool) -> Picture:
        for handle in self._handles[layer]:
            raw.FPDFPageObj_SetIsActive(handle, False)
        try:
            return Picture.of(self._page, scale, self._window, grey=grey)
        finally:
            for handle in self._handles[layer]:
                raw.FPDFPageObj_SetIsActive(handle, True)

    def _found(self, *, all_text: bool) -> list[_Copies]:
        """What was drawn last is looked at first: it covers what was drawn before."""
        covers, copies, found = _Map(), dict[Box, _Copies](), dict[int, _Copies]()
        for one in reversed(list(islice(all_of(self._page), MAX_OBJECTS))):
            self._check_time()
            if one.kind == raw.FPDF_PAGEOBJ_FORM:  # its parts are there, too
                continue
            bounds = bounds_of(one)
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
