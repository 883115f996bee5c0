"""What people have put onto the pages of a PDF file beside their text: comments, lines through words, ticked boxes."""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from runs.documents.formats.pdf.annotations import MAX_LOOKED_AT, Annotation, Reader
from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.marked import MatchBudget, Span, Words

MAX_COMMENTS = 2_000
"""Of a file."""
_DRAWN = {raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP}
"""They are read as part of the page, unless the file has no picture of them."""
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
"""Without words in them they are empty, or no more than a colour on words of the page."""


class Aside(Enum):
    """What was not read, as it is said of one page and of several."""

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


class Marked(NamedTuple):
    """Words of a page, as offsets, and who has marked them, and on which day."""

    spans: Sequence[Span]
    by: str
    on: str


class Comment(NamedTuple):
    """`about`: the words of the page; none where it has none."""

    text: str
    about: Marked
    is_hidden: bool


class Asides(NamedTuple):
    """What is beside the text of one page."""

    unread: frozenset[Aside] = frozenset()
    struck: Sequence[Marked] = ()
    comments: Sequence[Comment] = ()


class Finder:
    """Reads what people have put onto the pages of one file, within limits for all of it."""

    def __init__(self, document: PdfDocument) -> None:
        self.reader, self.effort, self.left_comments = Reader(document.formenv), MatchBudget(), MAX_COMMENTS


class Gathering:
    """Gathers what is beside the text of one page."""

    def __init__(self, finder: Finder) -> None:
        self._finder, self._annotations = finder, list[Annotation]()
        self._unread, self._struck, self._comments = set[Aside](), list[Marked](), list[Comment]()

    @property
    def found(self) -> Asides:
        return Asides(frozenset(self._unread), self._struck, self._comments)

    def look(self, page: PdfPage) -> None:
        """At a page as it was loaded: what is drawn into it is no mark-up any more."""
        if raw.FPDFPage_GetAnnotCount(page) > MAX_LOOKED_AT:
            self._unread.add(Aside.COMMENT)
        for one in self._finder.reader.of(page):
            self._unread.update(_unread(one))
            if one.says or one.kind == raw.FPDF_ANNOT_STRIKEOUT:
                self._annotations.append(one)
        if self._finder.reader.left < 0:
            self._unread.add(Aside.COMMENT)

    def place(self, page: PdfTextPage, text: PageText) -> None:
        """Find the words of the page that they are about."""
        if not self._annotations:
            return
        words = Words(page, text, self._finder.effort)
        for one in self._annotations:
            spans = words.under(one.quads)
            if one.kind == raw.FPDF_ANNOT_STRIKEOUT and not one.is_hidden:
                self._struck += [Marked(spans, one.by, one.on)] if spans else []
                self._unread.update(() if spans else (Aside.STRUCK,))
            is_text = one.has_picture and one.kind in _DRAWN and not one.is_hidden and _has(text, one.says or "")
            if not one.says or is_text:
                continue
            if self._finder.left_comments <= 0:
                self._unread.add(Aside.COMMENT)
                continue
            self._finder.left_comments -= 1
            about = Marked(spans or words.beside(one.room), one.by, one.on)
            self._comments.append(Comment(one.says, about, one.is_hidden))

    def forget_places(self) -> None:
        """The page has other words than those that were found: OCR has read it instead, or it could not be read."""
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


def _has(text: PageText, words: str) -> bool:
    return "".join(words.split()) in "".join(text.text.split())
