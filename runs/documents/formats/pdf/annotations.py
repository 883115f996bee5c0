"""The annotations of PDF pages. A file may have many, and large ones: what is read of them is bounded."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pypdfium2 import PdfPage, raw

from runs.documents.formats.pdf.objects import Box

MAX_LOOKED_AT = 300
"""Of a page."""
MAX_CHARACTERS = 10_000
"""Of what one says."""
MAX_BYTES = 4_000_000
"""Of all that the annotations of a file say, each counted as often as it is asked for."""
MAX_QUADS = 20_000
"""Of a file: lines of words that are marked. Each takes some twenty microseconds."""
MAX_ANNOTATIONS = 20_000
"""Of a file, links left out."""
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")


class Annotation(NamedTuple):
    """`kind` is pdfium's; `says` is None where it is too long. `by` and `on`: who made it and on which day, as far as
    the file says so. `quads`: where the words stand that it marks; `room` is its own place on the page.
    """

    kind: int
    is_hidden: bool
    has_picture: bool
    is_ticked: bool
    says: str | None
    by: str
    on: str
    quads: Sequence[Box]
    room: Box


class Reader:
    """Reads the annotations of one file, page after page."""

    def __init__(self, form: Any) -> None:
        self._form, self._left, self._left_quads, self.left = form, MAX_BYTES, MAX_QUADS, MAX_ANNOTATIONS

    def of(self, page: PdfPage) -> Iterator[Annotation]:
        """The first `MAX_LOOKED_AT`, without links, in the order in which the file has them, while any are left."""
        for at in range(min(raw.FPDFPage_GetAnnotCount(page), MAX_LOOKED_AT)):
            if handle := raw.FPDFPage_GetAnnot(page, at):
                try:
                    kind = raw.FPDFAnnot_GetSubtype(handle)
                    if kind in {raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_UNKNOWN}:
                        continue
                    self.left -= 1
                    if self.left >= 0:
                        yield self._read(handle, kind)
                finally:
                    raw.FPDFPage_CloseAnnot(handle)

    def _read(self, handle: Any, kind: int) -> Annotation:
        is_field = kind == raw.FPDF_ANNOT_WIDGET
        says = "" if is_field else self._comment(handle, kind)
        by = on = ""
        if says or kind == raw.FPDF_ANNOT_STRIKEOUT:
            by = self._string(handle, b"T") or ""
            on = _day(self._string(handle, b"CreationDate") or self._string(handle, b"M") or "")
        return Annotation(
            kind,
            is_hidden=_is_hidden(raw.FPDFAnnot_GetFlags(handle)),
            has_picture=bool(raw.FPDFAnnot_HasKey(handle, b"AP")),
            is_ticked=bool(is_field and self._form and raw.FPDFAnnot_IsChecked(self._form, handle)),
            says=says,
            by=by,
            on=on,
            quads=self._quads(handle) if says or kind == raw.FPDF_ANNOT_STRIKEOUT else (),
            room=_room(handle),
        )

    def _comment(self, handle: Any, kind: int) -> str | None:
        """A popup shows what the annotation says that it belongs to, except where only the popup has the words."""
        if kind == raw.FPDF_ANNOT_POPUP and (parent := raw.FPDFAnnot_GetLinkedAnnot(handle, b"Parent")):
            try:
                if self._string(parent, b"Contents") != "":
                    return ""
            finally:
                raw.FPDFPage_CloseAnnot(parent)
        said = self._string(handle, b"Contents")
        if said == "" and self._string(handle, b"RC") != "":  # as rich text alone, which is XML
            return None
        return said

    def _string(self, handle: Any, key: bytes) -> str | None:
        """None where it is too long, or all of them are."""
        size = raw.FPDFAnnot_GetStringValue(handle, key, None, 0) if self._left > 0 else MAX_BYTES
        self._left -= size
        if size > 2 * MAX_CHARACTERS + 2:
            return None
        units = (ctypes.c_ushort * (size // 2 + 1))()
        raw.FPDFAnnot_GetStringValue(handle, key, units, size)
        text = bytes(units)[: max(size - 2, 0)].decode("utf-16-le", errors="replace")
        return "\n".join(text.splitlines()).strip()

    def _quads(self, handle: Any) -> list[Box]:
        found, quad = list[Box](), raw.FS_QUADPOINTSF()
        count = min(raw.FPDFAnnot_CountAttachmentPoints(handle), self._left_quads)
        self._left_quads -= count
        for at in range(count):
            if raw.FPDFAnnot_GetAttachmentPoints(handle, at, quad):
                across, up = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                found.append((min(across), min(up), max(across), max(up)))
        return found


def _is_hidden(flags: int) -> bool:
    """Neither on a screen nor on paper."""
    shown = raw.FPDF_ANNOT_FLAG_NOVIEW | raw.FPDF_ANNOT_FLAG_PRINT
    return bool(flags & raw.FPDF_ANNOT_FLAG_HIDDEN) or flags & shown == raw.FPDF_ANNOT_FLAG_NOVIEW


def _day(date: str) -> str:
    """As ISO 8601 has it."""
    found = _DATE.match(date)
    return "-".join(filter(None, found.groups())) if found else ""


def _room(handle: Any) -> Box:
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(handle, box)
    return min(box.left, box.right), min(box.bottom, box.top), max(box.left, box.right), max(box.bottom, box.top)
