"""PDF files and their pages, opened by pdfium within limits and closed again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pypdfium2 import PdfDocument, PdfiumError, PdfPage, raw

from runs.errors import InvalidInput

MAX_PAGES = 2_000
_PROBLEMS = {
    raw.FPDF_ERR_PASSWORD: "needs a password; save it without one",
    raw.FPDF_ERR_SECURITY: "is encrypted in a way that cannot be read; save it without protection",
}
_DAMAGED = "is damaged, or no PDF file; open it and save it again"
_DRAWN = {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP}
"""Annotations that people read as part of the page: fields of a form that are filled in, words put onto it."""


@contextmanager
def opened(data: bytes) -> Iterator[PdfDocument]:
    """The document. Raises InvalidInput where pdfium cannot open it or go on with it, or it has too many pages."""
    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        raise InvalidInput(_PROBLEMS.get(error.err_code, _DAMAGED)) from error
    with document:
        if len(document) > MAX_PAGES:
            raise InvalidInput(f"has more than {MAX_PAGES:,} pages; split it")
        if document.get_formtype() != raw.FORMTYPE_NONE:
            document.init_forms()  # pdfium draws what is filled in where the file has only the values
        try:
            yield document
        except PdfiumError as error:
            raise InvalidInput(_DAMAGED) from error


@contextmanager
def page_of(document: PdfDocument, number: int, before: Callable[[PdfPage], None] | None = None) -> Iterator[PdfPage]:
    """A page, counted from 1, with what people have filled into it and put onto it as part of its content, so that its
    characters have the same numbers whenever it is opened; `before` sees it without. Raises InvalidInput if there is no
    such page, or it cannot be loaded, or nothing of it can be shown.
    """
    if not 1 <= number <= len(document):
        raise InvalidInput(f"has no page {number}")
    page = _loaded(document, number)
    try:
        if not min(page.get_size()) > 0:
            raise InvalidInput(f"has a page {number} that cannot be shown, since its crop box is outside the sheet")
        if before:
            before(page)
        if _has_more(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
            page.close()
            page = _loaded(document, number)
        yield page
    finally:
        page.close()


def _loaded(document: PdfDocument, number: int) -> PdfPage:
    try:
        return document[number - 1]
    except PdfiumError as error:
        raise InvalidInput(f"has a damaged page {number}") from error


def _has_more(page: PdfPage) -> bool:
    return any(_kind(page, at) in _DRAWN for at in range(raw.FPDFPage_GetAnnotCount(page)))


def _kind(page: PdfPage, at: int) -> int:
    annotation = raw.FPDFPage_GetAnnot(page, at)
    try:
        return int(raw.FPDFAnnot_GetSubtype(annotation)) if annotation else raw.FPDF_ANNOT_UNKNOWN
    finally:
        if annotation:
            raw.FPDFPage_CloseAnnot(annotation)
