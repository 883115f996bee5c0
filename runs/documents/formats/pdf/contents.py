"""Examines the objects of a page, and finds the places where text might be hidden.

Most text is plain: dark letters on paper, with nothing else at their place. Such text is visible, and the page need not
be rendered to know it.

Long documents have a hundred thousand text objects. They are queried with map() over their handles, which takes a
quarter of the time of a loop.
"""

import ctypes
import math
import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import compress, islice, repeat
from operator import mul, sub
from typing import Any, NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.geometry import PageView, Rectangle
from runs.documents.formats.pdf.objects import (
    HANDLE,
    INT,
    MAX_DEPTH,
    MAX_OBJECTS,
    UNCHANGED,
    Box,
    Handle,
    ObjectQuery,
    PageObject,
    Paint,
    address,
    bounds_of,
    direct,
    paint_of,
    shade_of,
    words_of,
)

MIN_SIZE = 1.5
"""Font size in points. Smaller text cannot be read."""
_MAX_OTHERS = 500
"""Objects other than text whose places are examined. A page with more is a drawing."""
_MAX_ANNOTATIONS = 100  # a page with more is taken to have drawn ones
_EMPTY = 2
"""The size in bytes that pdfium reports for a missing appearance: the terminating NUL."""
_DARK, _LIGHT = 150, 232
"""Shades of 256: the lightest text that is certainly visible on paper, and the darkest ground that counts as paper."""
_OPAQUE = 255
_HUGE = 24.0
"""Height in points from which another letter may be hidden within the strokes of a letter."""
_FAINT, _MIN_CONTRAST = 76, 40
"""Opacity, of 255, of an object that leaves text above and below it visible in every blend mode; and the minimum
difference between text and ground, in shades of 256, that counts as visible.
"""
_NEAR = 1.0
"""Points between a text object and something that may hide it."""
_CORNERS = {4, 5}
"""Corners of a rectangle. The last may repeat the first."""
_OPTIONAL = "OC\0".encode("utf-16-le")
"""The name of the mark of optional content."""
_NO_TEXT, _FILLED = raw.FPDF_TEXTRENDERMODE_UNKNOWN, raw.FPDF_TEXTRENDERMODE_FILL

type Brush = tuple[int, tuple[int, ...]]
"""The mode of a text object, and red, green, blue and opacity of its fill."""
type Font = tuple[bytes, int]
"""The name of a font and its size in bytes, which identify it across pages."""


class Doubt(NamedTuple):
    """A place where text may be hidden: any text there, or only what was drawn with `piece`."""

    box: Box
    piece: Handle = 0


class Contents(NamedTuple):
    """The objects of a page.

    * `paints`: the colours of its text, including invisible text if there are too many objects to examine.
    * `has_covers`: something was drawn after text and may cover it.
    * `kinds`: the kinds of all other objects.
    * `others`: the places of other objects, with each group as one; None if unknown.
    * `doubtful`: the places where text may be hidden; None if it may be anywhere.
    * `fonts`: embedded fonts, which may have empty letters. None stands for a font that cannot be identified.
    * `palette`: the brushes of plain text, any of which may be an empty pattern.
    """

    paints: frozenset[Paint]
    has_covers: bool
    kinds: frozenset[int]
    others: Sequence[Box] | None
    doubtful: Sequence[Doubt] | None
    fonts: frozenset[Font | None]
    palette: frozenset[Brush]


def contents_of(page: PdfPage, text_page: PdfTextPage, view: PageView) -> Contents:
    """Examines at most MAX_OBJECTS objects, including groups and their parts."""
    waiting: list[tuple[Callable[[Handle, int], Handle], Any, int, int]] = [
        (_object_of_page, page.raw, raw.FPDFPage_CountObjects(page), 0)
    ]
    groups, left, is_all = list[_ObjectGroup](), MAX_OBJECTS, True
    while waiting:
        get, parent, count, depth = waiting.pop()
        is_all = is_all and count <= left and depth <= MAX_DEPTH
        group = _ObjectGroup(get, parent, min(count, left) if depth <= MAX_DEPTH else 0)
        left -= group.count
        groups.append(group)
        waiting += [(_object_of_form, form, raw.FPDFFormObj_CountObjects(form), depth + 1) for form in group.forms]
    top = groups[0]
    others = _places(page, top.others)
    paints = frozenset[Paint]().union(*(group.paints for group in groups))
    kinds = frozenset(one.kind for group in groups for one in group.others)
    return Contents(
        paints if is_all else paints | {()},
        any(group.has_covers for group in groups),
        kinds if is_all else kinds | {raw.FPDF_PAGEOBJ_UNKNOWN},
        others,
        _TextObjects(top, text_page, view).doubtful(others) if is_all and others is not None else None,
        frozenset(_fonts(top.texts)),
        frozenset(one for one in top.palette if _is_plain(*one)),
    )


class _ObjectGroup:
    """The objects of a page, or of a group on it, in drawing order.

    The first `early` ones of `others` were drawn before any text. `palette`: the modes and colours of texts.
    """

    def __init__(self, get: Callable[[Handle, int], Handle], group: Any, count: int) -> None:
        self.count = count
        handles = list(map(get, repeat(address(group)), range(count)))
        modes = list(map(_mode, handles))
        self.texts = handles
        self.others, self.forms, self.early, self.has_covers = list[PageObject](), list[Any](), 0, False
        if _NO_TEXT in modes:
            is_text = [mode != _NO_TEXT for mode in modes]
            self.texts, modes = list(compress(handles, is_text)), list(compress(modes, is_text))
            self._add_others(handles, is_text)
        self._modes, self._colours = modes, _colours.of(self.texts)
        halves = memoryview(self._colours).cast("B").cast("Q")
        is_one = max(map(len, map(set, (modes, halves[::2], halves[1::2])))) <= 1  # most pages have only one colour
        self.palette = frozenset(islice(self.brushes, 1 if is_one else None))

    @property
    def brushes(self) -> Iterator[Brush]:
        """Yields the mode and colour of each text."""
        return zip(self._modes, struct.iter_unpack("=4I", self._colours), strict=True)

    def _add_others(self, handles: Sequence[Handle], is_text: Sequence[bool]) -> None:
        first = is_text.index(True) if self.texts else len(handles)
        for at, is_one in enumerate(is_text):
            if is_one:
                continue
            handle = _object(handles[at])
            one = PageObject(handle, raw.FPDFPageObj_GetType(handle), UNCHANGED)
            self.early += at < first
            self.has_covers = self.has_covers or at > first or bool(self.forms)
            self.others.append(one)
            self.forms += [handle] if one.kind == raw.FPDF_PAGEOBJ_FORM else []

    @property
    def paints(self) -> frozenset[Paint]:
        filled = frozenset((shade_of(*colour),) for mode, colour in self.palette if mode == _FILLED)
        others = [mode != _FILLED for mode in self._modes] if len(filled) < len(self.palette) else []
        return filled.union(paint_of(_object(text)) for text in compress(self.texts, others))


def _ends(*corners: "array[float]") -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
    """Returns the lower end, the upper end and the size of each text object in one direction.

    `corners`: two opposite corners, and the two others, which have the same coordinates in upright text.
    """
    one, other, same, also_same = corners
    if one.tobytes() == same.tobytes() and other.tobytes() == also_same.tobytes():
        between = list(map(sub, other, one))
        if min(between, default=0.0) >= 0:
            return one, other, between
    lower, upper = list(map(min, *corners)), list(map(max, *corners))
    return lower, upper, list(map(sub, upper, lower))


class _TextObjects:
    """The text objects of a page that are not in a group, by index."""

    def __init__(self, group: _ObjectGroup, page: PdfTextPage, view: PageView) -> None:
        self._group, self._texts, self._page, self._view = group, group.texts, page, view
        corners = _corners.of(self._texts)
        across, up = [corners[at::8] for at in (0, 2, 4, 6)], [corners[at::8] for at in (1, 3, 5, 7)]
        self._lefts, self._rights, self._widths = _ends(across[0], across[2], across[3], across[1])
        self._bottoms, self._tops, self._heights = _ends(up[0], up[2], up[1], up[3])

    def doubtful(self, others: Sequence[Box]) -> list[Doubt]:
        """Returns the places of text objects that may be hidden by their own colour or place or by something near them.

        It includes the places of all groups, whose text objects are not examined here.
        """
        kinds = [one.kind for one in self._group.others]
        groups = [Doubt(box) for box, kind in zip(others, kinds, strict=True) if kind == raw.FPDF_PAGEOBJ_FORM]
        if not self._texts:
            return groups
        found = {*self._not_plain(), *self._off_page(), *self._too_small(), *self._clipped()}
        covers = [box for at, box in enumerate(others) if at >= self._group.early or not self._is_paper(at)]
        for box in covers:
            found.update(self._touched(box))
        watermarks = self._watermarks(found)
        return [*groups, *(Doubt(self._box(at), self._texts[at] if at in watermarks else 0) for at in sorted(found))]

    def _watermarks(self, doubtful: set[int]) -> set[int]:
        """Returns the objects in huge letters that hide no other text: light ones below it, and faint ones also above
        it.

        Adds to `doubtful` the text objects that other huge letters, or several faint ones, may hide.
        """
        watermarks, veiled = set[int](), set[int]()
        if max(self._heights) < _HUGE:
            return watermarks
        brushes, darkest = list(self._group.brushes), self._palest + _MIN_CONTRAST
        for huge in [at for at, height in enumerate(self._heights) if height >= _HUGE]:
            mode, colour = brushes[huge]
            shade, opacity = shade_of(*colour)
            is_faint = mode == _FILLED and opacity <= _FAINT and _OPAQUE - opacity >= darkest
            is_light = (
                mode == _FILLED and opacity == _OPAQUE and shade >= darkest and not _is_transparent(self._texts[huge])
            )
            touched = {at for at in self._touched(self._box(huge)) if at != huge}
            harmless = {at for at in touched if is_faint or (is_light and at > huge)}
            doubtful |= touched - harmless
            if is_faint:
                doubtful |= veiled & harmless
                veiled |= harmless
            if touched == harmless:
                watermarks.add(huge)
        return watermarks

    @property
    def _palest(self) -> int:
        """Returns the lightest shade of plain text."""
        return max((shade_of(*colour)[0] for mode, colour in self._group.palette if _is_plain(mode, colour)), default=0)

    def _box(self, at: int) -> Box:
        return self._lefts[at], self._bottoms[at], self._rights[at], self._tops[at]

    def _not_plain(self) -> Iterator[int]:
        """Yields light, transparent and optional text objects, and those filled with a pattern."""
        strange = {one for one in self._group.palette if not _is_plain(*one)}
        if strange:
            yield from compress(range(len(self._texts)), map(strange.__contains__, self._group.brushes))
        yield from compress(range(len(self._texts)), map(_is_transparent, self._texts))
        for level in range(max(map(_count_marks, self._texts))):
            marks = list(map(_mark, self._texts, repeat(level)))
            if optional := set(_optional(list(set(filter(None, marks))))):
                yield from (at for at, mark in enumerate(marks) if mark in optional)

    def _off_page(self) -> Iterator[int]:
        left, bottom, right, top = self._view.box_of(Rectangle(0, 0, 1, 1))
        is_inside = (
            min(self._lefts) >= left
            and min(self._bottoms) >= bottom
            and max(self._rights) <= right
            and max(self._tops) <= top
        )
        if not is_inside:
            yield from (at for at in range(len(self._texts)) if not self._view.has(*self._box(at)))

    def _too_small(self) -> Iterator[int]:
        """Yields text objects in tiny letters, and those whose letters are empty."""
        if min(self._widths) >= MIN_SIZE <= min(self._heights):
            return
        sides = list(map(min, self._widths, self._heights))
        small = [at for at, side in enumerate(sides) if side < MIN_SIZE]  # includes hyphens and letters such as "l"
        for at, size in zip(small, _sizes([self._texts[at] for at in small]), strict=True):
            if (size < MIN_SIZE or sides[at] <= 0) and words_of(_object(self._texts[at]), self._page).strip():
                yield at

    def _clipped(self) -> Iterator[int]:
        """Yields text objects that a clipping path may cut off in part."""
        clips = list(map(_clip, self._texts))
        counts = list(map(_count_clips, clips))
        if max(counts) <= 0:
            return
        known = dict[Handle, Box | None]()
        for at, count in enumerate(counts):
            left, bottom, right, top = self._box(at)
            for number in range(count):
                begin = _clip_corner(clips[at], number, 0)
                if begin not in known:
                    known[begin] = _clip_box(clips[at], number)
                room = known[begin]
                if not (room and room[0] <= left and room[1] <= bottom and right <= room[2] and top <= room[3]):
                    yield at
                    break

    def _is_paper(self, at: int) -> bool:
        """Whether something that was drawn before all text is a light ground, as browsers draw under a page."""
        one = self._group.others[at]
        fill, has_stroke = ctypes.c_int(), ctypes.c_int()
        if one.kind != raw.FPDF_PAGEOBJ_PATH or not raw.FPDFPath_GetDrawMode(one.handle, fill, has_stroke):
            return False
        shade, opacity = shade_of(*_colours.of([address(one.handle)]))
        is_light = shade >= _LIGHT and opacity == _OPAQUE
        return is_light and not has_stroke.value and not raw.FPDFPageObj_HasTransparency(one.handle)

    def _touched(self, cover: Box) -> Iterator[int]:
        """Yields the text objects that overlap this place."""
        left, bottom, right, top = cover[0] - _NEAR, cover[1] - _NEAR, cover[2] + _NEAR, cover[3] + _NEAR
        order, bottoms, highest = self._from_below
        for at in order[bisect_left(bottoms, bottom - highest) : bisect_right(bottoms, top)]:
            if self._tops[at] >= bottom and self._lefts[at] <= right and left <= self._rights[at]:
                yield at

    @cached_property
    def _from_below(self) -> tuple[Sequence[int], Sequence[float], float]:
        """The text objects by their lower edge, these edges, and the height of the tallest one."""
        order = sorted(range(len(self._texts)), key=self._bottoms.__getitem__)
        return order, [self._bottoms[at] for at in order], max(self._heights)


def _is_plain(mode: int, colour: tuple[int, ...]) -> bool:
    """Whether the text is filled with a colour. For patterns, pdfium reports white or light grey."""
    shade, opacity = shade_of(*colour)
    return mode == _FILLED and opacity == _OPAQUE and shade <= _DARK


def _optional(marks: Sequence[Handle]) -> Iterator[Handle]:
    """Yields the marks of optional content."""
    name, size = ctypes.create_string_buffer(len(_OPTIONAL)), ctypes.c_ulong()
    begin, sized = ctypes.addressof(name), ctypes.addressof(size)
    for mark in marks:
        name.raw = bytes(len(name))
        # longer names are not written to the buffer
        if _mark_name(mark, begin, len(name), sized) and name.raw == _OPTIONAL:
            yield mark


def _clip_box(clip: Handle, number: int) -> Box | None:
    """Returns None if the clipping path is not an upright rectangle."""
    count = _count_clip_corners(clip, number)
    if count not in _CORNERS:
        return None
    x, y, points = ctypes.c_float(), ctypes.c_float(), list[tuple[float, float]]()
    for at in range(count):
        segment = ctypes.cast(_clip_corner(clip, number, at), raw.FPDF_PATHSEGMENT)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        points.append((x.value, y.value))
    lefts, bottoms = zip(*points, strict=True)
    left, bottom, right, top = box = min(lefts), min(bottoms), max(lefts), max(bottoms)
    corners = [(left, bottom), (left, top), (right, top), (right, bottom)]
    begin = corners.index(points[0]) if points[0] in corners else 0
    around = [*corners[begin:], *corners[:begin]]
    is_rectangle = points[:4] in (around, [around[0], *around[:0:-1]]) and points[4:] in ([], points[:1])
    return box if is_rectangle else None


def _sizes(texts: Sequence[Handle]) -> Iterator[float]:
    """Yields the font size of each text, in points as drawn."""
    matrices = _matrices.of(texts)
    return map(mul, _font_sizes.of(texts), map(math.hypot, matrices[2::6], matrices[3::6]))


def _fonts(texts: Sequence[Handle]) -> Iterator[Font | None]:
    for handle in set(map(_font, texts)):
        font = ctypes.cast(handle, raw.FPDF_FONT)
        if handle and raw.FPDFFont_GetIsEmbedded(font) == 1:
            name, size = ctypes.create_string_buffer(200), ctypes.c_size_t()
            raw.FPDFFont_GetBaseFontName(font, name, len(name))
            raw.FPDFFont_GetFontData(font, None, 0, size)
            yield (name.value, size.value) if size.value else None


def _places(page: PdfPage, others: Sequence[PageObject]) -> Sequence[Box] | None:
    """Returns the places of other objects, or None if they are unknown: annotations have no objects of their own on the
    page, and shadings do not report a size.
    """
    if len(others) > _MAX_OTHERS or _has_drawn_annotations(page):
        return None
    places = [bounds_of(one) for one in others]
    known = (
        one.kind == raw.FPDF_PAGEOBJ_PATH or (place[0] < place[2] and place[1] < place[3])
        for one, place in zip(others, places, strict=True)
    )
    return places if all(known) else None


def _has_drawn_annotations(page: PdfPage) -> bool:
    count = raw.FPDFPage_GetAnnotCount(page)
    return count > _MAX_ANNOTATIONS or any(_is_drawn(page, at) for at in range(count))


def _is_drawn(page: PdfPage, at: int) -> bool:
    annotation = raw.FPDFPage_GetAnnot(page, at)
    if not annotation:
        return True
    try:
        is_link = raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_LINK
        return not is_link or raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > _EMPTY
    finally:
        raw.FPDFPage_CloseAnnot(annotation)


def _object(handle: Handle) -> Any:
    return ctypes.cast(handle, raw.FPDF_PAGEOBJECT)


_object_of_page = direct(raw.FPDFPage_GetObject, HANDLE, HANDLE, INT)
_object_of_form = direct(raw.FPDFFormObj_GetObject, HANDLE, HANDLE, ctypes.c_ulong)
_mode = direct(raw.FPDFTextObj_GetTextRenderMode, INT, HANDLE)
_is_transparent = direct(raw.FPDFPageObj_HasTransparency, INT, HANDLE)
_font = direct(raw.FPDFTextObj_GetFont, HANDLE, HANDLE)
_count_marks = direct(raw.FPDFPageObj_CountMarks, INT, HANDLE)
_mark = direct(raw.FPDFPageObj_GetMark, HANDLE, HANDLE, ctypes.c_ulong)
_mark_name = direct(raw.FPDFPageObjMark_GetName, INT, HANDLE, HANDLE, ctypes.c_ulong, HANDLE)
_clip = direct(raw.FPDFPageObj_GetClipPath, HANDLE, HANDLE)
_count_clips = direct(raw.FPDFClipPath_CountPaths, INT, HANDLE)
_count_clip_corners = direct(raw.FPDFClipPath_CountPathSegments, INT, HANDLE, INT)
_clip_corner = direct(raw.FPDFClipPath_GetPathSegment, HANDLE, HANDLE, INT, INT)
_colours = ObjectQuery(raw.FPDFPageObj_GetFillColor, "I", (0, 0, 0, _OPAQUE), addresses=4)
"""Red, green, blue and opacity of a text's fill. pdfium draws black if there is none."""
_corners = ObjectQuery(raw.FPDFPageObj_GetRotatedBounds, "f", [0] * 8)
_matrices = ObjectQuery(raw.FPDFPageObj_GetMatrix, "f", (1, 0, 0, 1, 0, 0))
_font_sizes = ObjectQuery(raw.FPDFTextObj_GetFontSize, "f", [0])
