"""What a page is drawn with: its pictures, and the colours of its text, which may be drawn as invisible, too."""

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

MAX_OBJECTS = 50_000
_MAX_DEPTH = 5
"""Of groups of objects in groups."""
_MAX_OTHERS = 100
"""Objects of a page beside its text with places of their own: more is a drawing."""
_EMPTY = 2
"""Bytes that pdfium says an appearance has which is not there: the end of the text."""
_MIN_PICTURE = 0.8
"""Of the page, that a scan covers."""
type Box = tuple[float, float, float, float]
type Matrix = tuple[float, float, float, float, float, float]
_UNCHANGED: Matrix = (1, 0, 0, 1, 0, 0)


class PageObject(NamedTuple):
    """`matrix` is that of the group that it is in."""

    handle: Any
    kind: int
    matrix: Matrix


type Paint = tuple[tuple[int, int], ...]
"""Shade of grey and opacity, both to 255, of the inside of letters, of their outline, or of both; none if invisible."""

_INVISIBLE = {raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINED = {raw.FPDF_TEXTRENDERMODE_STROKE, raw.FPDF_TEXTRENDERMODE_STROKE_CLIP}
_BOTH = {raw.FPDF_TEXTRENDERMODE_FILL_STROKE, raw.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP}


class Contents(NamedTuple):
    """`paints`: what its text is drawn with, invisible text among it where there is too much to look at all of it.
    `has_covers`: something else was drawn later than text, so that it may be over it. `kinds`: of all that is no text.
    `others`: where that is, groups as a whole; None where it may be anywhere.
    """

    paints: frozenset[Paint]
    has_covers: bool
    kinds: frozenset[int]
    others: Sequence[Box] | None


def contents_of(page: PdfPage) -> Contents:
    paints, left, kinds = set[Paint](), MAX_OBJECTS, set[int]()
    has_covers = False
    brushes, others = set[Brush](), list[PageObject]()
    brush, kind_of = _Brushes().of, raw.FPDFPageObj_GetType
    groups: list[tuple[Callable[[Any, int], Any], Any, int, int]] = [
        (raw.FPDFPage_GetObject, page.raw, raw.FPDFPage_CountObjects(page), 0)
    ]
    while groups:
        get, group, count, depth = groups.pop()
        if count > left or depth > _MAX_DEPTH:
            paints.add(())
            kinds.add(raw.FPDF_PAGEOBJ_UNKNOWN)
        has_words = False
        for at in range(min(count, left) if depth <= _MAX_DEPTH else 0):
            handle = get(group, at)
            if found := brush(handle):
                brushes.add(found)
                has_words = True
                continue
            kinds.add(kind := kind_of(handle))
            others += [PageObject(handle, kind, _UNCHANGED)] if depth == 0 else []
            has_covers = has_covers or has_words
            if kind == raw.FPDF_PAGEOBJ_FORM:
                groups.append((raw.FPDFFormObj_GetObject, handle, raw.FPDFFormObj_CountObjects(handle), depth + 1))
                has_words = True
        left -= min(count, left)
    return Contents(frozenset(paints.union(map(_paint, brushes))), has_covers, frozenset(kinds), _places(page, others))


def _places(page: PdfPage, others: Sequence[PageObject]) -> Sequence[Box] | None:
    """What people have put onto a page has no objects of its own there; shadings say nothing of their size."""
    if len(others) > _MAX_OTHERS or _has_drawn_annotations(page):
        return None
    places = [bounds_of(one) for one in others]
    known = (one.kind == raw.FPDF_PAGEOBJ_PATH or _has_room(place) for one, place in zip(others, places, strict=True))
    return places if all(known) else None


def _has_drawn_annotations(page: PdfPage) -> bool:
    count = raw.FPDFPage_GetAnnotCount(page)
    return count > _MAX_OTHERS or any(_is_drawn(page, at) for at in range(count))


def _is_drawn(page: PdfPage, at: int) -> bool:
    annotation = raw.FPDFPage_GetAnnot(page, at)
    if not annotation:
        return True
    try:
        is_link = raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_LINK
        return not is_link or raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > _EMPTY
    finally:
        raw.FPDFPage_CloseAnnot(annotation)


def _has_room(place: Box) -> bool:
    return place[0] < place[2] and place[1] < place[3]


type Brush = tuple[int, bytes, bytes]
"""How pdfium says that text is drawn: the mode, and red, green, blue and opacity of inside and outline, where used."""
_UNKNOWN = struct.pack("=4I", 0, 0, 0, 255)


class _Brushes:
    """Asks pdfium. Its numbers are made once and read together: long documents have a hundred thousand texts."""

    def __init__(self) -> None:
        self._numbers = bytearray(16)
        self._places = tuple(ctypes.byref(ctypes.c_uint.from_buffer(self._numbers, 4 * at)) for at in range(4))

    def of(self, one: Any) -> Brush | None:
        """Nothing for what is no text."""
        mode = raw.FPDFTextObj_GetTextRenderMode(one)
        if mode == raw.FPDF_TEXTRENDERMODE_FILL:
            return mode, self._colour(raw.FPDFPageObj_GetFillColor, one), b""
        if mode == raw.FPDF_TEXTRENDERMODE_UNKNOWN:
            return None
        if mode in _INVISIBLE:
            return mode, b"", b""
        inside = b"" if mode in _OUTLINED else self._colour(raw.FPDFPageObj_GetFillColor, one)
        outline = self._colour(raw.FPDFPageObj_GetStrokeColor, one) if mode in _OUTLINED | _BOTH else b""
        return mode, inside, outline

    def _colour(self, get: Callable[..., int], text: Any) -> bytes:
        return bytes(self._numbers) if get(text, *self._places) else _UNKNOWN


def _paint(brush: Brush) -> Paint:
    return tuple(_shade(*struct.unpack("=4I", colour)) for colour in brush[1:] if colour)


def _shade(red: int, green: int, blue: int, opacity: int) -> tuple[int, int]:
    """As pdfium makes grey of colours."""
    return (30 * red + 59 * green + 11 * blue) // 100, opacity


def paint_of(text: Any) -> Paint:
    """Nothing, as of invisible text, for what is no text."""
    return _paint(_Brushes().of(text) or (raw.FPDF_TEXTRENDERMODE_INVISIBLE, b"", b""))


def colours_of(text: Any) -> list[tuple[tuple[int, int, int], int]]:
    """Of the inside of letters, of their outline, or of both: red, green and blue, and the opacity, all to 255."""
    mode = raw.FPDFTextObj_GetTextRenderMode(text)
    asked = [raw.FPDFPageObj_GetFillColor] if mode not in _OUTLINED | _INVISIBLE else []
    asked += [raw.FPDFPageObj_GetStrokeColor] if mode in _OUTLINED | _BOTH else []
    found = []
    for get in asked:
        red, green, blue, opacity = (ctypes.c_uint() for _ in range(4))
        known = get(text, red, green, blue, opacity)
        found.append(((red.value, green.value, blue.value), opacity.value if known else 255))
    return found


def text_object(page: PdfTextPage, number: int) -> Any:
    """What a character was drawn with, together with others; nothing if pdfium has put it in."""
    return raw.FPDFText_GetTextObject(page, number)


def is_invisible(page: PdfTextPage, number: int) -> bool:
    """Whether a character is drawn as invisible."""
    one = text_object(page, number)
    return bool(one) and raw.FPDFTextObj_GetTextRenderMode(one) in _INVISIBLE


def is_visible_text(text: Any) -> bool:
    """Whether it is drawn at all, though perhaps as white as paper."""
    return raw.FPDFTextObj_GetTextRenderMode(text) not in _INVISIBLE


def words_of(text: Any, page: PdfTextPage) -> str:
    """What a piece of text says; nothing if pdfium has left it out, since the same words are at its place."""
    size = raw.FPDFTextObj_GetText(text, page, None, 0)
    words = (ctypes.c_ushort * (size // 2 + 1))()
    raw.FPDFTextObj_GetText(text, page, words, size)
    return bytes(words)[:size].decode("utf-16-le", "replace").strip("\0")


def font_of(text: Any) -> int:
    """A number that tells it from the other fonts of the file."""
    font = raw.FPDFTextObj_GetFont(text)
    return ctypes.addressof(font.contents) if font else 0


def has_own_font(page: PdfTextPage, number: int) -> bool:
    """Whether the file has the font of a character in it."""
    one = text_object(page, number)
    return bool(one) and raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(one)) == 1


def picture_boxes(page: PdfPage) -> list[Box]:
    """Left, bottom, right and top of each picture in the page's points."""
    return [picture_box(one) for one in islice(all_of(page), MAX_OBJECTS) if one.kind == raw.FPDF_PAGEOBJ_IMAGE]


def matrix_of(one: PageObject) -> Matrix:
    """From its own measure to that of its page."""
    return _product(_matrix(one.handle), one.matrix)


def picture_box(picture: PageObject) -> Box:
    a, b, c, d, e, f = matrix_of(picture)  # of a square of one point
    across, up = (e, e + a, e + c, e + a + c), (f, f + b, f + d, f + b + d)
    return min(across), min(up), max(across), max(up)


def corner_of(path: Any, at: int, matrix: Matrix) -> tuple[float, float, bool] | None:
    """A corner of a path on its page, and whether a part of the path begins there; nothing for the ends of curves."""
    segment = raw.FPDFPath_GetPathSegment(path, at)
    kind = raw.FPDFPathSegment_GetType(segment)
    x, y = ctypes.c_float(), ctypes.c_float()
    if kind == raw.FPDF_SEGMENT_BEZIERTO or not raw.FPDFPathSegment_GetPoint(segment, x, y):
        return None
    a, b, c, d, e, f = matrix
    return x.value * a + y.value * c + e, x.value * b + y.value * d + f, kind == raw.FPDF_SEGMENT_MOVETO


def is_picture(page: PdfPage) -> bool:
    """Whether a picture covers most of the page, as in scans."""
    left, bottom, right, top = page.get_bbox()
    room = (right - left) * (top - bottom)
    return any(
        (min(one[2], right) - max(one[0], left)) * (min(one[3], top) - max(one[1], bottom)) > _MIN_PICTURE * room
        for one in picture_boxes(page)
        if one[0] < right and left < one[2] and one[1] < top and bottom < one[3]
    )


def bounds_of(one: PageObject) -> Box:
    """Left, bottom, right and top in the page's points; nothing of what has no room."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    raw.FPDFPageObj_GetBounds(one.handle, left, bottom, right, top)
    a, b, c, d, e, f = one.matrix
    corners = [(x, y) for x in (left.value, right.value) for y in (bottom.value, top.value)]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), min(up), max(across), max(up)


def all_of(page: PdfPage) -> Iterator[PageObject]:
    """What a page is drawn with, groups before their parts, in the order in which they are drawn."""
    for at in range(raw.FPDFPage_CountObjects(page)):
        yield from _with_parts(raw.FPDFPage_GetObject(page, at), _UNCHANGED, 0)


def _with_parts(handle: Any, matrix: Matrix, depth: int) -> Iterator[PageObject]:
    kind = raw.FPDFPageObj_GetType(handle)
    yield PageObject(handle, kind, matrix)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MAX_DEPTH:
        inner = _product(_matrix(handle), matrix)
        for at in range(raw.FPDFFormObj_CountObjects(handle)):
            yield from _with_parts(raw.FPDFFormObj_GetObject(handle, at), inner, depth + 1)


def _matrix(handle: Any) -> Matrix:
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(handle, found):
        return _UNCHANGED
    return found.a, found.b, found.c, found.d, found.e, found.f


def _product(one: Matrix, other: Matrix) -> Matrix:
    """First one, then the other."""
    a, b, c, d, e, f = one
    a2, b2, c2, d2, e2, f2 = other
    return (
        a * a2 + b * c2,
        a * b2 + b * d2,
        c * a2 + d * c2,
        c * b2 + d * d2,
        e * a2 + f * c2 + e2,
        e * b2 + f * d2 + f2,
    )
