"""Reads the text of a PDF file page by page, with marks and notes on what could not be read."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import NamedTuple, cast

from pypdfium2 import PdfDocument, PdfPage, PdfTextPage, raw

from runs.documents.formats.image import image_reader
from runs.documents.formats.pdf import FORMAT
from runs.documents.formats.pdf.annotations import AnnotationFinder, Aside, Asides, PageAnnotations
from runs.documents.formats.pdf.characters import NAMELESS, PageText, text_of, text_page_of
from runs.documents.formats.pdf.drawing import draw, open_document, page_of
from runs.documents.formats.pdf.ink import ShownFonts, TookTooLongError, find_hidden_text
from runs.documents.formats.pdf.margins import notes_of, running_lines
from runs.documents.formats.pdf.objects import Box, PageObject, all_of, corner_of, is_picture, matrix_of, picture_box
from runs.documents.formats.pdf.unnamed import OCR_SCALE, Comparison, UnnamedLine, unnamed_lines
from runs.documents.model.layout import MIN_CONFIDENCE, BlockKind, MarkKind
from runs.documents.reading.building import MAX_CHARACTERS, Builder, BuiltDocument, WorkBudget, cleaned
from runs.errors import InvalidInput
from runs.text.plural import pluralize, word_for

_MIN_PICTURES = 0.5  # share of the page
_MIN_TABLE = 0.4
"""Share of the page. Logos take less, and so do small tables, whose rows can be read as lines."""
_MIN_ROWS, _MIN_COLUMNS = 5, 4
"""Horizontal and vertical lines. Frames around a page and its boxes have fewer."""
_MIN_LENGTH = 12.0
"""Of a line, in points; also the minimum width of a column."""
_TOLERANCE = 2.0
"""In points: how far a line may deviate from straight, and how far two equal lines may be apart."""
_MAX_LOOKS = 500_000
"""Objects and corners that are examined in a document, which takes about a second. Later pages count as text."""
_MAX_LOOKS_OF_PAGE = 20_000  # so that one page cannot use up the budget of the document


class Looking:
    """Examines the pages of one document until they have had too many objects in all."""

    def __init__(self) -> None:
        self._left, self._page_left = _MAX_LOOKS, 0

    def is_pictorial(self, page: PdfPage) -> bool:
        """Whether pictures cover half of the page, or a ruled table nearly as much."""
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
        """Yields the straight horizontal and vertical edges of a path as boxes."""
        count, matrix = raw.FPDFPath_CountSegments(path.handle), matrix_of(path)
        corners = [corner_of(path.handle, at, matrix) for at in range(count) if self._may_go_on()]
        for (x, y, _), (x2, y2, begins) in pairwise(filter(None, corners)):
            thin, long = sorted((abs(x - x2), abs(y - y2)))
            if not begins and thin <= _TOLERANCE and long >= _MIN_LENGTH:
                yield min(x, x2), min(y, y2), max(x, x2), max(y, y2)


def _shared(box: Box, area: Box) -> float:
    """Returns the share of the page that the box covers."""
    width, height = min(box[2], area[2]) - max(box[0], area[0]), min(box[3], area[3]) - max(box[1], area[1])
    return max(width, 0.0) * max(height, 0.0)


def _table(lines: Sequence[Box], area: Box) -> float:
    """Returns the share of the page that is within a grid of lines: between vertical lines, as far as horizontal lines
    cross.
    """
    upright = [line for line in lines if line[2] - line[0] <= _TOLERANCE]
    if len(_places((line[0] for line in upright), _MIN_LENGTH)) < _MIN_COLUMNS:
        return 0.0
    lefts, bottoms, rights, tops = zip(*upright, strict=True)
    left, bottom, right, top = min(lefts), min(bottoms), max(rights), max(tops)
    across = [line for line in lines if line[3] - line[1] <= _TOLERANCE and line[0] < right and left < line[2]]
    rows = _places((line[1] for line in across if bottom - _TOLERANCE <= line[1] <= top + _TOLERANCE), _TOLERANCE)
    return _shared((left, bottom, right, top), area) if len(rows) >= _MIN_ROWS else 0.0


def _places(values: Iterable[float], apart: float) -> list[float]:
    """Returns those of the values that are more than this apart."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > apart:
            found.append(value)
    return found


_GLANCE_SCALE = 24 / 72  # 24 dots per inch are enough to see whether a page is blank
_MIN_INK = 24
"""Shades of grey, of 256, that a page must span to show anything."""
_FEW = 80
"""Pages with fewer letters may be scans with a stamp or a number."""
_MAX_NAMELESS = 0.3
"""Share of the letters of a page."""
_MAX_LABEL = 100  # characters


class PageProblem(Enum):
    """What is unknown about a page, as clauses about one page and about several pages."""

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
        "could not be checked for hidden text, since that took too long",
        "could not be checked for hidden text, since that took too long",
    )
    DOUBTFUL = (
        "has invisible or white text and could not be checked for hidden text, since that took too long; "
        "nothing on it counts as seen",
        "have invisible or white text and could not be checked for hidden text, since that took too long; "
        "nothing on them counts as seen",
    )


class PageReading(NamedTuple):
    """What was read of one page. Ranges are offsets in `text`.

    * `lines`: what OCR has read, instead of `text`.
    * `unseen`: invisible text.
    * `unprinted`: text that a picture shows and the page does not draw: OCR by the program that made the file.
    * `notes`: footnotes and their marks.
    * `pictorial`: the page consists mostly of pictures or tables, or is a scan, so that its content is more than its
      text.
    * `has_more`: the page has, or may have, something other than text.
    * `asides`: what people have added to the page.
    """

    text: str = ""
    label: str = ""
    unseen: Sequence[tuple[int, int]] = ()
    unprinted: Sequence[tuple[int, int]] = ()
    notes: Sequence[tuple[int, int]] = ()
    lines: Sequence[image_reader.OcrLine] = ()
    missing: PageProblem | None = None
    pictorial: bool = False
    has_more: bool = True
    asides: Asides = Asides()


def pages_of(document: PdfDocument) -> Iterator[PageReading]:
    """Reads all pages. Raises InvalidInput if they have too much text."""
    labels, finder, size = _Labels(document), AnnotationFinder(document), 0
    reading = _Reading(document, _Ocr(), WorkBudget(), Looking(), ShownFonts())
    for number in range(1, len(document) + 1):
        gathering = PageAnnotations(finder)
        try:
            page = _page(reading, number, gathering)
        except MemoryError:
            raise
        except Exception:  # whatever is wrong with one page, the others are read
            gathering.forget_places()
            page = PageReading(missing=PageProblem.PAGE)
        size += len(page.text)
        if size > MAX_CHARACTERS:
            raise InvalidInput(f"has more than {MAX_CHARACTERS:,} characters of text; split it")
        yield page._replace(label=labels.of(number), asides=gathering.result)


class _Reading(NamedTuple):
    """What the pages of one file share: budgets, and what is known from earlier pages."""

    document: PdfDocument
    ocr: "_Ocr"
    effort: WorkBudget
    looking: Looking
    shown: ShownFonts


def _page(reading: _Reading, number: int, gathering: PageAnnotations) -> PageReading:
    document, ocr, effort = reading.document, reading.ocr, reading.effort
    with page_of(document, number, gathering.collect) as page:
        with text_page_of(page) as text_page:
            text = text_of(text_page)
            gathering.locate(text_page, text)
            letters = len("".join(text.text.split()))
            again = partial(page_of, document, number)
            found = _examine_looks(page, text_page, text, reading, again) if letters else PageReading()
            found = found._replace(notes=notes_of(text_page, text))
            is_pictorial = found.has_more and reading.looking.is_pictorial(page)
            nameless = text.text.count(NAMELESS)
            missing = _problem_with(page, letters, nameless)
            if not missing and (unnamed := _unnamed(text_page, text, found)):
                with effort.paused():
                    are_shown = ocr.are_shown(page, text_page, text, unnamed)
                if are_shown is None:
                    return found._replace(pictorial=True, missing=PageProblem.NAMES)
                if not are_shown:
                    missing, nameless = PageProblem.NAMES, sum(line.letters for line in unnamed)
        found = found._replace(pictorial=missing is not None or is_pictorial)
        if not missing:
            return found
        with effort.paused():
            lines = ocr.lines(page)
        if lines is None:
            return found._replace(missing=missing if missing is PageProblem.NAMES else PageProblem.UNREAD)
        words = [word for line in lines for word in line.words]
        has_more = sum(len(word.text) for word in words) > letters - nameless
        if has_more and (missing is not PageProblem.NAMES or image_reader.OcrLine(words).confidence >= MIN_CONFIDENCE):
            gathering.forget_places()
            return PageReading(lines=lines, pictorial=True)
        if missing is PageProblem.MOST and image_reader.can_read():  # OCR has found no more words
            return found
        return found._replace(missing=missing)


def _examine_looks(
    page: PdfPage,
    text_page: PdfTextPage,
    text: PageText,
    reading: _Reading,
    again: Callable[[], AbstractContextManager[PdfPage]],
) -> PageReading:
    try:
        found = find_hidden_text(page, text_page, text, reading.effort, reading.shown, again)
        return PageReading(text.text, unseen=found.unseen, unprinted=found.unprinted, has_more=found.has_more)
    except TookTooLongError as error:
        if error.has_sign:
            return PageReading(text.text, unseen=[(0, len(text.text))], missing=PageProblem.DOUBTFUL)
        return PageReading(text.text, missing=PageProblem.LOOKS)  # most long documents hide nothing


def _unnamed(text_page: PdfTextPage, text: PageText, page: PageReading) -> list[UnnamedLine]:
    """Returns the lines with unnamed letters that are mostly visible. Invisible ones prove nothing, and unnamed spaces
    have no ink.
    """

    def is_seen(line: UnnamedLine) -> bool:
        hidden = sum(max(min(end, line.end) - max(start, line.start), 0) for start, end in page.unseen)
        return 2 * hidden < line.end - line.start

    return list(filter(is_seen, unnamed_lines(text_page, text)))


def _problem_with(page: PdfPage, letters: int, nameless: int) -> PageProblem | None:
    """Returns what OCR may find on the page in addition to its text."""
    if not letters:
        dark, light = cast("tuple[int, int]", draw(page, _GLANCE_SCALE, grey=True).getextrema())
        return PageProblem.TEXT if light - dark >= _MIN_INK else None
    if nameless > _MAX_NAMELESS * letters:
        return PageProblem.LETTERS
    return PageProblem.MOST if letters < _FEW and is_picture(page) else None


class _Labels:
    """The labels that a document gives to its pages, such as "iv", as long as they are plausible."""

    def __init__(self, document: PdfDocument) -> None:
        self._document, self._are_labels = document, True

    def of(self, number: int) -> str:
        """Returns the label of a page, or an empty string if it is the page's number."""
        size = raw.FPDF_GetPageLabel(self._document, number - 1, None, 0) if self._are_labels else 0
        self._are_labels = size <= 2 * _MAX_LABEL  # pdfium takes long to build long labels
        if not size or not self._are_labels:
            return ""
        written = ctypes.create_string_buffer(size)
        raw.FPDF_GetPageLabel(self._document, number - 1, written, size)
        label = " ".join(cleaned(written.raw[:-2].decode("utf-16-le", errors="replace")).split())
        return "" if label == str(number) else label


class _Ocr:
    """Reads pages by OCR, if it is installed."""

    def __init__(self) -> None:
        self._room, self._comparison = image_reader.OcrBudget(), Comparison()

    def are_shown(
        self, page: PdfPage, text_page: PdfTextPage, text: PageText, lines: Sequence[UnnamedLine]
    ) -> bool | None:
        """Whether the page shows the letters of these lines, or None if that is unknown."""
        if not image_reader.can_read() or not self._room.has_time:
            return None
        try:
            return self._comparison.are_shown(page, text_page, text, lines)
        except InvalidInput:  # OCR has taken too long
            return None

    def lines(self, page: PdfPage) -> Sequence[image_reader.OcrLine] | None:
        """Returns None if OCR would take too long."""
        if not image_reader.can_read():
            return ()
        if not self._room.take():
            return None
        try:
            return image_reader.read_picture(draw(page, OCR_SCALE, grey=True))
        except InvalidInput:  # OCR has taken too long
            return None


_MAX_RANGES = 12
"""Of pages, in a sentence."""
_SCAN = "is a scan: its pages are pictures without text; they are read when OCR is installed (uv sync --extra ocr)"
_ONLY_PICTURES = "has only pictures, and OCR found no words in them; scan it again with more contrast"
_UNREADABLE = "has no page that can be read; open it and save it again"
_XFA = {raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads a PDF file as one block per page. Pages without text are read by OCR if it is installed, or noted as
    pictures.
    """
    builder = Builder(FORMAT.name, joint="\n\f")
    with open_document(data) as document:
        if document.get_formtype() in _XFA:
            builder.note("It is a form of a kind (XFA) whose fields cannot be read; print it to a PDF file.")
        if files := document.count_attachments():
            were = word_for(files, "was", "were")
            builder.note(f"It has {pluralize(files, 'file')} attached inside, which {were} not read.")
        pages = list(pages_of(document))
    starts = list[int]()
    for number, (page, running) in enumerate(zip(pages, running_lines([page.text for page in pages]), strict=True), 1):
        starts.append(builder.begin())
        if page.lines:
            image_reader.add_page(builder, number, page.lines, page.label)
            continue
        start = starts[-1]
        builder.add(f"page={number}", BlockKind.PAGE, page.text, label=page.label)
        for kind, spans in (
            (MarkKind.RUNNING, [*running, *page.notes]),
            (MarkKind.UNSEEN, page.unseen),
            (MarkKind.READ, page.unprinted),
        ):
            for first, last in spans:
                builder.mark(kind, start + first, start + last)
    for number, (page, start) in enumerate(zip(pages, starts, strict=True), 1):
        _add_asides(builder, f"page={number}", start, page.asides)
    _note_what_is_missing(builder, pages)
    pictorial = [number for number, page in enumerate(pages, 1) if page.pictorial]
    return builder.build(FORMAT.unit, len(pages), pictorial)


def _add_asides(builder: Builder, anchor: str, start: int, asides: Asides) -> None:
    """Marks what is struck out on the page with this anchor, and adds the comments on it after all pages, as for Word
    files.
    """
    for struck in asides.struck:
        for first, last in struck.spans:
            builder.mark(MarkKind.STRUCK, start + first, start + last, by=struck.by, on=struck.on)
    for number, comment in enumerate(asides.comments, 1):
        note, about = f"{anchor}.cm{number}", comment.about
        block = builder.add(note, BlockKind.COMMENT, comment.text, label="" if about.spans else about.by)
        if comment.is_hidden:
            builder.mark(MarkKind.HIDDEN, block.start, block.end)
        for first, last in about.spans:
            builder.mark(MarkKind.COMMENTED, start + first, start + last, by=about.by, on=about.on, note=note)


def _note_what_is_missing(builder: Builder, pages: Sequence[PageReading]) -> None:
    if any(page.text.strip() or page.lines for page in pages):
        pass
    elif any(page.missing is PageProblem.UNREAD for page in pages):
        raise InvalidInput(image_reader.TOO_LONG)
    elif any(page.missing is PageProblem.TEXT for page in pages):
        raise InvalidInput(_ONLY_PICTURES if image_reader.can_read() else _SCAN)
    elif pages and all(page.missing is PageProblem.PAGE for page in pages):
        raise InvalidInput(_UNREADABLE)
    for missing in PageProblem:
        if numbers := [number for number, page in enumerate(pages, 1) if page.missing is missing]:
            builder.note(f"{_pages_in_words(numbers)} of {len(pages)} {missing.value[len(numbers) > 1]}.")
    for aside in Aside:
        if numbers := [number for number, page in enumerate(pages, 1) if aside in page.asides.unread]:
            builder.note(f"{_pages_in_words(numbers)} of {len(pages)} {aside.value[len(numbers) > 1]}.")


def _pages_in_words(numbers: Sequence[int]) -> str:
    """Formats page numbers as people write them: "Pages 3, 5 and 7 to 9"."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = ranges[-1][0], number
        else:
            ranges.append((number, number))
    left = sum(last - first + 1 for first, last in ranges[_MAX_RANGES:])
    words: list[str] = []
    for first, last in ranges[:_MAX_RANGES]:
        words += [f"{first} to {last}"] if last > first + 1 else map(str, range(first, last + 1))
    words += [f"{left} more"] if left else []
    listed = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
    return f"Page {listed}" if len(numbers) == 1 else f"Pages {listed}"
