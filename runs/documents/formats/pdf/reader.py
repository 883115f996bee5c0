"""The text of a PDF file, page by page, with what is true of parts of it and what could not be read."""

from collections.abc import Sequence

from pypdfium2 import PdfDocument, raw

from runs.documents.formats.image import reader
from runs.documents.formats.pdf import FORMAT
from runs.documents.formats.pdf.annotations import Aside, Asides
from runs.documents.formats.pdf.drawing import opened
from runs.documents.formats.pdf.margins import running_lines
from runs.documents.formats.pdf.pages import Missing, Page, pages_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder, BuiltDocument
from runs.errors import InvalidInput
from runs.text.plural import pluralize, word_for

_MAX_RANGES = 12
"""Of pages, in a sentence."""
_SCAN = "is a scan: its pages are pictures without text; they are read when OCR is installed (uv sync --extra ocr)"
_ONLY_PICTURES = "has only pictures, and OCR found no words in them; scan it again with more contrast"
_UNREADABLE = "has no page that can be read; open it and save it again"
_XFA = {raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND}


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """A block per page. Pages without text are read by OCR where it is installed, or said to be pictures."""
    builder = Builder(FORMAT.name, joint="\n\f")
    with opened(data) as document:
        _note_what_is_inside(builder, document)
        pages = list(pages_of(document))
    starts = list[int]()
    for number, (page, running) in enumerate(zip(pages, running_lines([page.text for page in pages]), strict=True), 1):
        starts.append(builder.begin())
        if page.lines:
            reader.add_page(builder, number, page.lines, page.label)
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
    return builder.made(FORMAT.unit, len(pages), pictorial)


def _add_asides(builder: Builder, anchor: str, start: int, asides: Asides) -> None:
    """What is struck out on the page with this anchor, and behind all pages the comments on it, as in Word files."""
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


def _note_what_is_inside(builder: Builder, document: PdfDocument) -> None:
    if document.get_formtype() in _XFA:
        builder.note("It is a form of a kind (XFA) whose fields cannot be read; print it to a PDF file.")
    if files := document.count_attachments():
        were = word_for(files, "was", "were")
        builder.note(f"It has {pluralize(files, 'file')} attached inside, which {were} not read.")


def _note_what_is_missing(builder: Builder, pages: Sequence[Page]) -> None:
    if any(page.text.strip() or page.lines for page in pages):
        pass
    elif any(page.missing is Missing.UNREAD for page in pages):
        raise InvalidInput(reader.TOO_LONG)
    elif any(page.missing is Missing.TEXT for page in pages):
        raise InvalidInput(_ONLY_PICTURES if reader.can_read() else _SCAN)
    elif pages and all(page.missing is Missing.PAGE for page in pages):
        raise InvalidInput(_UNREADABLE)
    for missing in Missing:
        if numbers := [number for number, page in enumerate(pages, 1) if page.missing is missing]:
            builder.note(f"{_listed(numbers)} of {len(pages)} {missing.value[len(numbers) > 1]}.")
    for aside in Aside:
        if numbers := [number for number, page in enumerate(pages, 1) if aside in page.asides.unread]:
            builder.note(f"{_listed(numbers)} of {len(pages)} {aside.value[len(numbers) > 1]}.")


def _listed(numbers: Sequence[int]) -> str:
    """Page numbers as people write them: "Pages 3, 5 and 7 to 9"."""
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
