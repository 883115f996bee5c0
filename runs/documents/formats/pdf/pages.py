"""What the pages of a PDF file say: their own text, or what OCR reads where they have none worth the name."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import NamedTuple, cast

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from runs.documents.formats.image import reader
from runs.documents.formats.pdf.annotations import Asides, Finder, Gathering
from runs.documents.formats.pdf.characters import NAMELESS, PageText, text_of, text_page_of
from runs.documents.formats.pdf.drawing import drawn, page_of
from runs.documents.formats.pdf.ink import Shown, TookTooLongError, looks
from runs.documents.formats.pdf.margins import notes_of
from runs.documents.formats.pdf.objects import Box, PageObject, all_of, corner_of, is_picture, matrix_of, picture_box
from runs.documents.formats.pdf.unnamed import OCR_SCALE, Comparison, UnnamedLine, unnamed_lines
from runs.documents.model.layout import MIN_CONFIDENCE
from runs.documents.reading.building import MAX_CHARACTERS, WorkBudget, cleaned
from runs.errors import InvalidInput

_MIN_PICTURES = 0.5
_MIN_TABLE = 0.4
"""Of the page. A logo has less, and so has a small table, whose rows can be read as lines."""
_MIN_ROWS, _MIN_COLUMNS = 5, 4
"""Lines across and upright: frames around a page and its boxes have fewer."""
_MIN_LENGTH = 12.0
"""In points, of a line; columns are as wide."""
_TOLERANCE = 2.0
"""In points: how far a line is from straight, and two from being the same."""
_MAX_LOOKS = 500_000
"""Objects and corners that are looked at in a document: a second or so. Pages behind that count as text."""
_MAX_LOOKS_OF_PAGE = 20_000


class Looking:
    """Looks at the pages of one document, as long as they do not have too many objects in all."""

    def __init__(self) -> None:
        self._left, self._page_left = _MAX_LOOKS, 0

    def is_pictorial(self, page: PdfPage) -> bool:
        """Whether pictures take half of the page, or a ruled table nearly as much."""
        self._page_left = before = min(self._left, _MAX_LOOKS_OF_PAGE)
        left, bottom, right, top = area = page.get_bbox()
        room = max((right - left) * (top - bottom), 1.0)
        pictures, lines = 0.0, list[Box]()
        for one in all_of(page):
            if not self._may_go_on():
                break
            if one.kind == raw.FPDF_PAGEOBJ_IMAGE:
                pictures += _shared(picture_box(one), area)
            elif one.kind == raw.FPDF_PAGEOBJ_PATH:
                lines += self._lines(one)
        self._left -= before - max(self._page_left, 0)
        return bool(pictures >= _MIN_PICTURES * room or _table(lines, area) >= _MIN_TABLE * room)

    def _may_go_on(self) -> bool:
        self._page_left -= 1
        return self._page_left >= 0

    def _lines(self, path: PageObject) -> Iterator[Box]:
        """The straight edges of a path, across or upright: the box of each is a line."""
        count, matrix = raw.FPDFPath_CountSegments(path.handle), matrix_of(path)
        corners = [corner_of(path.handle, at, matrix) for at in range(count) if self._may_go_on()]
        for (x, y, _), (x2, y2, begins) in pairwise(filter(None, corners)):
            thin, long = sorted((abs(x - x2), abs(y - y2)))
            if not begins and thin <= _TOLERANCE and long >= _MIN_LENGTH:
                yield min(x, x2), min(y, y2), max(x, x2), max(y, y2)


def _shared(box: Box, area: Box) -> float:
    """How much of the page is in the box."""
    width, height = min(box[2], area[2]) - max(box[0], area[0]), min(box[3], area[3]) - max(box[1], area[1])
    return max(width, 0.0) * max(height, 0.0)


def _table(lines: Sequence[Box], area: Box) -> float:
    """How much of the page lies within a grid of lines: between the upright ones, as far as others cross there."""
    upright = [line for line in lines if line[2] - line[0] <= _TOLERANCE]
    if len(_places((line[0] for line in upright), _MIN_LENGTH)) < _MIN_COLUMNS:
        return 0.0
    left, bottom, right, top = _around(upright)
    across = [line for line in lines if line[3] - line[1] <= _TOLERANCE and line[0] < right and left < line[2]]
    rows = _places((line[1] for line in across if bottom - _TOLERANCE <= line[1] <= top + _TOLERANCE), _TOLERANCE)
    return _shared((left, bottom, right, top), area) if len(rows) >= _MIN_ROWS else 0.0


def _around(lines: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*lines, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _places(values: Iterable[float], apart: float) -> list[float]:
    """Those that are more than this apart from each other."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > apart:
            found.append(value)
    return found


_GLANCE_SCALE = 24 / 72
_MIN_INK = 24
"""Shades of grey, of 256, that a page has to have to show anything."""
_FEW = 80
"""Letters of a page that may be no more than a stamp or a number on a scan."""
_MAX_NAMELESS = 0.3
"""Of the letters of a page."""
_MAX_LABEL = 100


class Missing(Enum):
    """What is not known of a page, as it is said of one and of several."""

    TEXT = "is a picture without text", "are pictures without text"
    MOST = "is a picture with hardly any text", "are pictures with hardly any text"
    LETTERS = "has a font that does not say which letters it has", "have fonts that do not say which letters they have"
    NAMES = (
        "has a font that does not name its letters; the letters may not be those that are shown",
        "have fonts that do not name their letters; the letters may not be those that are shown",
    )
    UNREAD = (
        "was not read, since OCR takes too long; split the file",
        "were not read, since OCR takes too long; split the file",
    )
    PAGE = "could not be read", "could not be read"
    LOOKS = (
        "could not be checked for text that nobody sees, since that took too long",
        "could not be checked for text that nobody sees, since that took too long",
    )
    DOUBTFUL = (
        "has invisible or white text and could not be checked for text that nobody sees, since that took too long; "
        "nothing on it counts as seen",
        "have invisible or white text and could not be checked for text that nobody sees, since that took too long; "
        "nothing on them counts as seen",
    )


class Page(NamedTuple):
    """`lines`: what OCR has read, instead of `text`. As offsets, the parts of the text that nobody sees (`unseen`), and
    those that a picture shows and the page does not draw (`unprinted`): OCR of the program that made the file. `notes`:
    footnotes and their marks.
    `pictorial`: it is mostly pictures or tables, or a scan, so that its text is not all that it says. `has_more`: there
    is, or may be, something else than text on it. `asides`: what people have put onto it beside its text.
    """

    text: str = ""
    label: str = ""
    unseen: Sequence[tuple[int, int]] = ()
    unprinted: Sequence[tuple[int, int]] = ()
    notes: Sequence[tuple[int, int]] = ()
    lines: Sequence[reader.Line] = ()
    missing: Missing | None = None
    pictorial: bool = False
    has_more: bool = True
    asides: Asides = Asides()


def pages_of(document: PdfDocument) -> Iterator[Page]:
    """Raises InvalidInput when they have too much text."""
    labels, finder, size = _Labels(document), Finder(document), 0
    reading = _Reading(document, _Ocr(), WorkBudget(), Looking(), Shown())
    for number in range(1, len(document) + 1):
        gathering = Gathering(finder)
        try:
            page = _page(reading, number, gathering)
        except MemoryError:
            raise
        except Exception:  # whatever is wrong with a page, the others are read
            gathering.forget_places()
            page = Page(missing=Missing.PAGE)
        size += len(page.text)
        if size > MAX_CHARACTERS:
            raise InvalidInput(f"has more than {MAX_CHARACTERS:,} characters of text; split it")
        yield page._replace(label=labels.of(number), asides=gathering.found)


class _Reading(NamedTuple):
    """What the pages of one file share: what it has cost so far, and what is known from those before."""

    document: PdfDocument
    ocr: "_Ocr"
    effort: WorkBudget
    looking: Looking
    shown: Shown


def _page(reading: _Reading, number: int, gathering: Gathering) -> Page:
    document, ocr, effort = reading.document, reading.ocr, reading.effort
    with page_of(document, number, gathering.look) as page:
        with text_page_of(page) as text_page:
            text = text_of(text_page)
            gathering.place(text_page, text)
            letters = len("".join(text.text.split()))
            again = partial(page_of, document, number)
            found = _with_looks(page, text_page, text, reading, again) if letters else Page()
            found = found._replace(notes=notes_of(text_page, text))
            is_pictorial = found.has_more and reading.looking.is_pictorial(page)
            nameless = text.text.count(NAMELESS)
            missing = _missing(page, letters, nameless)
            if not missing and (unnamed := _unnamed(text_page, text, found)):
                with effort.paused():
                    are_shown = ocr.are_shown(page, text_page, text, unnamed)
                if are_shown is None:
                    return found._replace(pictorial=True, missing=Missing.NAMES)
                if not are_shown:
                    missing, nameless = Missing.NAMES, sum(line.letters for line in unnamed)
        found = found._replace(pictorial=missing is not None or is_pictorial)
        if not missing:
            return found
        with effort.paused():
            lines = ocr.lines(page)
        if lines is None:
            return found._replace(missing=missing if missing is Missing.NAMES else Missing.UNREAD)
        words = [word for line in lines for word in line.words]
        has_more = sum(len(word.text) for word in words) > letters - nameless
        if has_more and (missing is not Missing.NAMES or reader.Line(words).confidence >= MIN_CONFIDENCE):
            gathering.forget_places()
            return Page(lines=lines, pictorial=True)
        if missing is Missing.MOST and reader.can_read():  # it shows no more words
            return found
        return found._replace(missing=missing)


def _with_looks(
    page: PdfPage,
    text_page: PdfTextPage,
    text: PageText,
    reading: _Reading,
    again: Callable[[], AbstractContextManager[PdfPage]],
) -> Page:
    try:
        found = looks(page, text_page, text, reading.effort, reading.shown, again)
        return Page(text.text, unseen=found.unseen, unprinted=found.unprinted, has_more=found.has_more)
    except TookTooLongError as error:
        if error.has_sign:
            return Page(text.text, unseen=[(0, len(text.text))], missing=Missing.DOUBTFUL)
        return Page(text.text, missing=Missing.LOOKS)  # most long documents are honest


def _unnamed(text_page: PdfTextPage, text: PageText, page: Page) -> list[UnnamedLine]:
    """The lines with unnamed letters, most of them visible: others prove nothing. Unnamed spaces are no ink."""

    def is_seen(line: UnnamedLine) -> bool:
        hidden = sum(max(min(end, line.end) - max(start, line.start), 0) for start, end in page.unseen)
        return 2 * hidden < line.end - line.start

    return list(filter(is_seen, unnamed_lines(text_page, text)))


def _missing(page: PdfPage, letters: int, nameless: int) -> Missing | None:
    """What OCR may find on the page beyond its text."""
    if not letters:
        return Missing.TEXT if _shows_something(page) else None
    if nameless > _MAX_NAMELESS * letters:
        return Missing.LETTERS
    return Missing.MOST if letters < _FEW and is_picture(page) else None


def _shows_something(page: PdfPage) -> bool:
    dark, light = cast("tuple[int, int]", drawn(page, _GLANCE_SCALE, grey=True).getextrema())
    return light - dark >= _MIN_INK


class _Labels:
    """What a document itself calls its pages, such as "iv", as long as they can be labels."""

    def __init__(self, document: PdfDocument) -> None:
        self._document, self._are_labels = document, True

    def of(self, number: int) -> str:
        """Nothing where that is the number of the page."""
        size = raw.FPDF_GetPageLabel(self._document, number - 1, None, 0) if self._are_labels else 0
        self._are_labels = size <= 2 * _MAX_LABEL  # pdfium takes long to put long ones together
        if not size or not self._are_labels:
            return ""
        written = ctypes.create_string_buffer(size)
        raw.FPDF_GetPageLabel(self._document, number - 1, written, size)
        label = " ".join(cleaned(written.raw[:-2].decode("utf-16-le", errors="replace")).split())
        return "" if label == str(number) else label


class _Ocr:
    """Reads pages by OCR, where it is installed."""

    def __init__(self) -> None:
        self._room, self._comparison = reader.Room(), Comparison()

    def are_shown(
        self, page: PdfPage, text_page: PdfTextPage, text: PageText, lines: Sequence[UnnamedLine]
    ) -> bool | None:
        """Whether the page shows the letters of these lines; None where that is not known."""
        if not reader.can_read() or not self._room.has_time:
            return None
        try:
            return self._comparison.are_shown(page, text_page, text, lines)
        except InvalidInput:  # it has taken too long
            return None

    def lines(self, page: PdfPage) -> Sequence[reader.Line] | None:
        """None where it would take too long."""
        if not reader.can_read():
            return ()
        if not self._room.take():
            return None
        try:
            return reader.read_picture(drawn(page, OCR_SCALE, grey=True))
        except InvalidInput:  # it has taken too long
            return None
