"""The objects of a page: its pictures, and the colours of its text, including invisible text."""

import ctypes
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple

from pypdfium2 import PdfPage, PdfTextPage, raw

type Handle = int
"""The address of a pdfium object."""
INT, HANDLE = ctypes.c_int, ctypes.c_void_p


def direct(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Wraps a pdfium function so that it takes and returns handles as plain numbers and keeps the GIL.

    Releasing the GIL would take longer than the call.
    """
    return ctypes.PYFUNCTYPE(result, *arguments)(address(function))


def address(handle: Any) -> Handle:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


class ObjectQuery:
    """Queries pdfium for some numbers of each of many handles.

    `function` takes the handle and `addresses` addresses to write to. All handles of a page are queried with one map(),
    and the buffers are kept for the next page. If pdfium does not know a value, `unknown` is used.
    """

    def __init__(self, function: Any, kind: str, unknown: Sequence[int], *, addresses: int = 1) -> None:
        self._function = direct(function, INT, *[HANDLE] * (1 + addresses))
        self._numbers, self._unknown, self._places = array(kind), array(kind, unknown), [list[int]()] * addresses

    def of(self, handles: Sequence[Handle]) -> "array[Any]":
        size = len(self._unknown)
        if len(handles) > len(self._places[0]):
            self._numbers = array(self._numbers.typecode, self._unknown * len(handles))
            begin, length = self._numbers.buffer_info()
            step = self._numbers.itemsize
            self._places = [
                list(range(begin + at * step, begin + length * step, size * step)) for at in range(len(self._places))
            ]
        known = list(map(self._function, handles, *self._places))
        found = self._numbers[: size * len(handles)]
        if not all(known):
            for at in (at for at, is_known in enumerate(known) if not is_known):
                found[size * at : size * at + size] = self._unknown
        return found


MAX_OBJECTS = 50_000  # of a page
MAX_DEPTH = 5
"""Of nested groups of objects."""
_MIN_PICTURE = 0.8
"""The minimum share of the page that the picture of a scan covers."""
type Box = tuple[float, float, float, float]
type Matrix = tuple[float, float, float, float, float, float]
UNCHANGED: Matrix = (1, 0, 0, 1, 0, 0)


class PageObject(NamedTuple):
    """An object on a page. `matrix` is that of the group that contains it."""

    handle: Any
    kind: int
    matrix: Matrix


type Paint = tuple[tuple[int, int], ...]
"""Shade of grey and opacity, both up to 255, of the fill of letters, of their outline, or of both.
Empty if invisible.
"""

_text_object = direct(raw.FPDFText_GetTextObject, HANDLE, HANDLE, INT)
_bounds = direct(raw.FPDFPageObj_GetBounds, INT, *[HANDLE] * 5)
_INVISIBLE = {raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP}
_OUTLINED = {raw.FPDF_TEXTRENDERMODE_STROKE, raw.FPDF_TEXTRENDERMODE_STROKE_CLIP}
_BOTH = {raw.FPDF_TEXTRENDERMODE_FILL_STROKE, raw.FPDF_TEXTRENDERMODE_FILL_STROKE_CLIP}


def shade_of(red: int, green: int, blue: int, opacity: int) -> tuple[int, int]:
    """Returns the grey shade that pdfium makes from a colour, and the opacity."""
    return (30 * red + 59 * green + 11 * blue) // 100, opacity


def paint_of(text: Any) -> Paint:
    """Returns an empty paint for objects other than text, as for invisible text."""
    if raw.FPDFTextObj_GetTextRenderMode(text) == raw.FPDF_TEXTRENDERMODE_UNKNOWN:
        return ()
    return tuple(shade_of(*colour, opacity) for colour, opacity in colours_of(text))


def colours_of(text: Any) -> list[tuple[tuple[int, int, int], int]]:
    """Returns the colours (red, green, blue) and opacities, up to 255, of fill and outline."""
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
    """Returns the object that a character was drawn with, or NULL if pdfium has inserted the character."""
    return raw.FPDFText_GetTextObject(page, number)


def pieces_of(page: PdfTextPage, numbers: Iterable[int]) -> set[Handle]:
    """Returns the objects that these characters were drawn with. 0 stands for characters that pdfium has inserted."""
    return {one or 0 for one in map(_text_object, repeat(address(page.raw)), numbers)}


def is_invisible(page: PdfTextPage, number: int) -> bool:
    """Whether a character is drawn in invisible mode."""
    one = text_object(page, number)
    return bool(one) and raw.FPDFTextObj_GetTextRenderMode(one) in _INVISIBLE


def is_visible_text(text: Any) -> bool:
    """Whether it is drawn at all, even if white on white."""
    return raw.FPDFTextObj_GetTextRenderMode(text) not in _INVISIBLE


def words_of(text: Any, page: PdfTextPage) -> str:
    """Returns the words of a text object, or an empty string if pdfium omits it because the same words are at the same
    place.
    """
    size = raw.FPDFTextObj_GetText(text, page, None, 0)
    words = (ctypes.c_ushort * (size // 2 + 1))()
    raw.FPDFTextObj_GetText(text, page, words, size)
    return bytes(words)[:size].decode("utf-16-le", "replace").strip("\0")


def font_of(text: Any) -> int:
    """Returns a number that identifies the font within the file."""
    font = raw.FPDFTextObj_GetFont(text)
    return ctypes.addressof(font.contents) if font else 0


def has_own_font(page: PdfTextPage, number: int) -> bool:
    """Whether the font of a character is embedded."""
    one = text_object(page, number)
    return bool(one) and raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(one)) == 1


def picture_boxes(page: PdfPage) -> list[Box]:
    """Returns left, bottom, right and top of each picture in points."""
    return [picture_box(one) for one in islice(all_of(page), MAX_OBJECTS) if one.kind == raw.FPDF_PAGEOBJ_IMAGE]


def matrix_of(one: PageObject) -> Matrix:
    """Returns the matrix from the object's own coordinates to those of its page."""
    return _product(_matrix(one.handle), one.matrix)


def picture_box(picture: PageObject) -> Box:
    a, b, c, d, e, f = matrix_of(picture)  # of a unit square
    across, up = (e, e + a, e + c, e + a + c), (f, f + b, f + d, f + b + d)
    return min(across), min(up), max(across), max(up)


def corner_of(path: Any, at: int, matrix: Matrix) -> tuple[float, float, bool] | None:
    """Returns a corner of a path on its page and whether a sub-path begins there, or None for the ends of curves."""
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
    """Returns left, bottom, right and top in points, or zeros if the object has no extent."""
    found = array("f", bytes(4 * 4))
    begin, _ = found.buffer_info()
    _bounds(address(one.handle), begin, begin + 4, begin + 8, begin + 12)
    left, bottom, right, top = found
    if one.matrix is UNCHANGED:
        return left, bottom, right, top
    a, b, c, d, e, f = one.matrix
    corners = [(x, y) for x in (left, right) for y in (bottom, top)]
    across = [a * x + c * y + e for x, y in corners]
    up = [b * x + d * y + f for x, y in corners]
    return min(across), min(up), max(across), max(up)


def all_of(page: PdfPage) -> Iterator[PageObject]:
    """Yields the objects of a page in drawing order, groups before their parts."""
    for at in range(raw.FPDFPage_CountObjects(page)):
        yield from _with_parts(raw.FPDFPage_GetObject(page, at), UNCHANGED, 0)


def _with_parts(handle: Any, matrix: Matrix, depth: int) -> Iterator[PageObject]:
    kind = raw.FPDFPageObj_GetType(handle)
    yield PageObject(handle, kind, matrix)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_DEPTH:
        inner = _product(_matrix(handle), matrix)
        for at in range(raw.FPDFFormObj_CountObjects(handle)):
            yield from _with_parts(raw.FPDFFormObj_GetObject(handle, at), inner, depth + 1)


def _matrix(handle: Any) -> Matrix:
    found = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(handle, found):
        return UNCHANGED
    return found.a, found.b, found.c, found.d, found.e, found.f


def _product(one: Matrix, other: Matrix) -> Matrix:
    """Returns the matrix that applies `one` first and then `other`."""
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
