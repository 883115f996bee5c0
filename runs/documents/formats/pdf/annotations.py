"""Reads the annotations of PDF pages. Their number and size are limited."""

import ctypes
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.geometry import loose_box
from runs.documents.formats.pdf.objects import Box

MAX_LOOKED_AT = 300
"""Annotations per page."""
MAX_CHARACTERS = 10_000
"""Per annotation."""
MAX_BYTES = 4_000_000
"""Of all annotations of a file. Text that is read twice counts twice."""
MAX_QUADS = 20_000
"""Quadrilaterals (lines of marked words) per file. Each takes some twenty microseconds."""
MAX_ANNOTATIONS = 20_000
"""Per file, without links."""
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")


class Annotation(NamedTuple):
    """An annotation. `kind` is pdfium's code, and `says` is None if the text is too long.

    `by` and `on`: author and day according to the file. `quads`: the places of the words that it marks. `room`: its own
    place on the page.
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


class AnnotationReader:
    """Reads the annotations of one file, page by page."""

    def __init__(self, form: Any) -> None:
        self._form, self._left, self._left_quads, self.left = form, MAX_BYTES, MAX_QUADS, MAX_ANNOTATIONS

    def of(self, page: PdfPage) -> Iterator[Annotation]:
        """Yields the first `MAX_LOOKED_AT` annotations without links, in file order, until the limit of the file is
        reached.
        """
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
            date = _DATE.match(self._string(handle, b"CreationDate") or self._string(handle, b"M") or "")
            on = "-".join(filter(None, date.groups())) if date else ""  # as in ISO 8601
        # Hidden is also what is shown neither on screen nor on paper.
        flags = raw.FPDFAnnot_GetFlags(handle)
        printed = raw.FPDF_ANNOT_FLAG_NOVIEW | raw.FPDF_ANNOT_FLAG_PRINT
        box = raw.FS_RECTF()
        raw.FPDFAnnot_GetRect(handle, box)
        return Annotation(
            kind,
            is_hidden=bool(flags & raw.FPDF_ANNOT_FLAG_HIDDEN) or flags & printed == raw.FPDF_ANNOT_FLAG_NOVIEW,
            has_picture=bool(raw.FPDFAnnot_HasKey(handle, b"AP")),
            is_ticked=bool(is_field and self._form and raw.FPDFAnnot_IsChecked(self._form, handle)),
            says=says,
            by=by,
            on=on,
            quads=self._quads(handle) if says or kind == raw.FPDF_ANNOT_STRIKEOUT else (),
            room=(
                min(box.left, box.right),
                min(box.bottom, box.top),
                max(box.left, box.right),
                max(box.bottom, box.top),
            ),
        )

    def _comment(self, handle: Any, kind: int) -> str | None:
        """Returns the text of an annotation. A popup repeats its parent's text, unless only the popup has it."""
        if kind == raw.FPDF_ANNOT_POPUP and (parent := raw.FPDFAnnot_GetLinkedAnnot(handle, b"Parent")):
            try:
                if self._string(parent, b"Contents") != "":
                    return ""
            finally:
                raw.FPDFPage_CloseAnnot(parent)
        said = self._string(handle, b"Contents")
        if said == "" and self._string(handle, b"RC") != "":  # only as rich text, which is XML
            return None
        return said

    def _string(self, handle: Any, key: bytes) -> str | None:
        """Returns None if the text is too long, or if the limit of the file is exceeded."""
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


MAX_COMPARED = 5_000_000
"""Comparisons of a character with a box, per file; these take some two seconds. In a hostile file each box may be as
large as its page.
"""

type Span = tuple[int, int]


class _Middle(NamedTuple):
    up: float
    across: float
    at: int
    """The offset in the text."""


class MatchBudget:
    """Counts the comparisons of characters and boxes in one file."""

    def __init__(self) -> None:
        self.left = MAX_COMPARED


class PageWords:
    """The words of one page. Its characters are located when they are needed for the first time."""

    def __init__(self, page: PdfTextPage, text: PageText, effort: MatchBudget) -> None:
        self._page, self._text, self._effort = page, text, effort

    def under(self, boxes: Iterable[Box]) -> list[Span]:
        """Returns the ranges of characters whose centre is in one of the boxes, or nothing once the
        budget is used up.
        """
        found = set[int]()
        for left, bottom, right, top in boxes:
            low, high = bisect_left(self._middles, (bottom,)), bisect_right(self._middles, (top, float("inf")))
            self._effort.left -= max(high - low, 1)
            if self._effort.left < 0:
                return []
            found.update(one.at for one in self._middles[low:high] if left <= one.across <= right)
        spans: list[Span] = []
        for at in sorted(found):
            if spans and not self._text.text[spans[-1][1] : at].strip():
                spans[-1] = spans[-1][0], at + 1
            else:
                spans.append((at, at + 1))
        return spans

    def beside(self, box: Box) -> list[Span]:
        """Returns the line with the character nearest to the centre of the box, or nothing if the page has no text."""
        across, up = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        self._effort.left -= len(self._middles)
        if self._effort.left < 0 or not self._middles:
            return []
        at = min(self._middles, key=lambda one: (one.up - up) ** 2 + (one.across - across) ** 2).at
        text = self._text.text
        return [(text.rfind("\n", 0, at) + 1, (text.find("\n", at) + 1 or len(text) + 1) - 1)]

    @cached_property
    def _middles(self) -> Sequence[_Middle]:
        text, numbers = self._text
        self._effort.left -= len(text)
        if self._effort.left < 0:
            return []
        found = []
        for at, character in enumerate(text):
            if not character.isspace():
                left, bottom, right, top = loose_box(self._page, numbers[at])
                found.append(_Middle((bottom + top) / 2, (left + right) / 2, at))
        return sorted(found)


MAX_COMMENTS = 2_000
"""Per file."""

_DRAWN = {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP}
"""Annotations that are read as part of the page, unless the file has no picture of them."""

_ON_WORDS = {
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_STRIKEOUT,
}

_SAYS_NOTHING_ELSE = {
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_FREETEXT,
    raw.FPDF_ANNOT_POPUP,
    raw.FPDF_ANNOT_WIDGET,
} | _ON_WORDS
"""Annotations that are empty if they have no text, or only colour words of the page."""


class Aside(Enum):
    """Things that were not read, as clauses about one page and about several pages."""

    STRUCK = (
        "has a mark-up that strikes out words, and it could not be told which; its text has them as if they were not",
        "have mark-up that strikes out words, and it could not be told which; their text has them as if they were not",
    )
    COMMENT = (
        "has comments that were not read, since they are too many, too long or made in another way",
        "have comments that were not read, since they are too many, too long or made in another way",
    )
    DRAWN = (
        "has mark-up without words, such as drawings or attached files, which was not read",
        "have mark-up without words, such as drawings or attached files, which was not read",
    )
    TICKED = (
        "has boxes of a form that are ticked, which its text does not say",
        "have boxes of a form that are ticked, which their text does not say",
    )


class MarkedWords(NamedTuple):
    """Marked words of a page as offsets, with the author and the day."""

    spans: Sequence[Span]
    by: str
    on: str


class PageComment(NamedTuple):
    """A comment. `about`: the words that it refers to, none if the page has no text."""

    text: str
    about: MarkedWords
    is_hidden: bool


class Asides(NamedTuple):
    """What is on one page in addition to its text."""

    unread: frozenset[Aside] = frozenset()
    struck: Sequence[MarkedWords] = ()
    comments: Sequence[PageComment] = ()


class AnnotationFinder:
    """Reads what people have added to the pages of one file, within limits for the whole file."""

    def __init__(self, document: PdfDocument) -> None:
        self.reader, self.effort, self.left_comments = AnnotationReader(document.formenv), MatchBudget(), MAX_COMMENTS


class PageAnnotations:
    """Collects what is on one page in addition to its text."""

    def __init__(self, finder: AnnotationFinder) -> None:
        self._finder, self._annotations = finder, list[Annotation]()
        self._unread, self._struck, self._comments = set[Aside](), list[MarkedWords](), list[PageComment]()

    @property
    def result(self) -> Asides:
        return Asides(frozenset(self._unread), self._struck, self._comments)

    def collect(self, page: PdfPage) -> None:
        """Reads the annotations of a page. Must be called before annotations are flattened into the page."""
        if raw.FPDFPage_GetAnnotCount(page) > MAX_LOOKED_AT:
            self._unread.add(Aside.COMMENT)
        for one in self._finder.reader.of(page):
            self._unread.update(_unread(one))
            if one.says or one.kind == raw.FPDF_ANNOT_STRIKEOUT:
                self._annotations.append(one)
        if self._finder.reader.left < 0:
            self._unread.add(Aside.COMMENT)

    def locate(self, page: PdfTextPage, text: PageText) -> None:
        """Finds the words of the page that the annotations refer to."""
        if not self._annotations:
            return
        words = PageWords(page, text, self._finder.effort)
        for one in self._annotations:
            spans = words.under(one.quads)
            if one.kind == raw.FPDF_ANNOT_STRIKEOUT and not one.is_hidden:
                self._struck += [MarkedWords(spans, one.by, one.on)] if spans else []
                self._unread.update(() if spans else (Aside.STRUCK,))
            is_text = (
                one.has_picture
                and one.kind in _DRAWN
                and not one.is_hidden
                and "".join((one.says or "").split()) in "".join(text.text.split())
            )
            if not one.says or is_text:
                continue
            if self._finder.left_comments <= 0:
                self._unread.add(Aside.COMMENT)
                continue
            self._finder.left_comments -= 1
            about = MarkedWords(spans or words.beside(one.room), one.by, one.on)
            self._comments.append(PageComment(one.says, about, one.is_hidden))

    def forget_places(self) -> None:
        """Discards the places, because the text of the page was replaced by OCR or could not be read."""
        self._unread.update({Aside.STRUCK} if self._struck else ())
        self._struck = []
        self._comments = [one._replace(about=one.about._replace(spans=())) for one in self._comments]


def _unread(one: Annotation) -> Iterator[Aside]:
    if one.is_ticked and not one.is_hidden:
        yield Aside.TICKED
    if one.says is None:
        yield Aside.COMMENT
    is_drawn = one.has_picture and one.kind in _DRAWN
    if one.says == "" and not (one.is_hidden or is_drawn or one.kind in _SAYS_NOTHING_ELSE):
        yield Aside.DRAWN
