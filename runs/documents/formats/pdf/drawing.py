"""Draws PDF pages, locates characters on them, and extracts pages as a file."""

import io
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PIL import Image
from pypdfium2 import PdfDocument, PdfiumError, PdfPage, raw

from runs.documents.formats.pdf.characters import text_of, text_page_of
from runs.documents.formats.pdf.geometry import PageView, rectangles
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput

MAX_PAGES = 2_000
_PROBLEMS = {
    raw.FPDF_ERR_PASSWORD: "needs a password; save it without one",
    raw.FPDF_ERR_SECURITY: "is encrypted in a way that cannot be read; save it without protection",
}
_DAMAGED = "is damaged, or no PDF file; open it and save it again"
_DRAWN = {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP}
"""Annotations that people read as part of the page: filled form fields, and text and stamps placed on it."""


@contextmanager
def open_document(data: bytes) -> Iterator[PdfDocument]:
    """Opens the document. Raises InvalidInput if pdfium cannot open it, or if it has too many pages."""
    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        raise InvalidInput(_PROBLEMS.get(error.err_code, _DAMAGED)) from error
    with document:
        if len(document) > MAX_PAGES:
            raise InvalidInput(f"has more than {MAX_PAGES:,} pages; split it")
        if document.get_formtype() != raw.FORMTYPE_NONE:
            document.init_forms()  # otherwise pdfium does not draw fields that have only a value in the file
        try:
            yield document
        except PdfiumError as error:
            raise InvalidInput(_DAMAGED) from error


@contextmanager
def page_of(document: PdfDocument, number: int, before: Callable[[PdfPage], None] | None = None) -> Iterator[PdfPage]:
    """Loads a page, counted from 1, with form fields and annotations flattened into its content.

    Flattening gives its characters the same indices every time. `before` receives the page before it is flattened.
    Raises InvalidInput if there is no such page, or if it cannot be loaded or shown.
    """
    if not 1 <= number <= len(document):
        raise InvalidInput(f"has no page {number}")
    page = _loaded(document, number)
    try:
        if not min(page.get_size()) > 0:
            raise InvalidInput(f"has a page {number} that cannot be shown, since its crop box is outside the sheet")
        if before:
            before(page)
        if (
            any(_kind(page, at) in _DRAWN for at in range(raw.FPDFPage_GetAnnotCount(page)))
            and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS
        ):
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


def _kind(page: PdfPage, at: int) -> int:
    annotation = raw.FPDFPage_GetAnnot(page, at)
    try:
        return int(raw.FPDFAnnot_GetSubtype(annotation)) if annotation else raw.FPDF_ANNOT_UNKNOWN
    finally:
        if annotation:
            raw.FPDFPage_CloseAnnot(annotation)


MAX_DPI = 200
MAX_PIXELS = 12_000_000
MAX_SIDE = 8_000
"""Pixels. WebP allows 16,383."""
THUMBNAIL_WIDTH = 240  # pixels
_QUALITY = 80  # of WebP, from 0 to 100
_DIGITS = 5
"""Decimals of a fraction of the page's side: a hundredth of a point."""


def places(data: bytes, *, page: int, spans: str) -> bytes:
    """Returns the places of characters on a page, as JSON: for each span a list of [left, top, right, bottom].

    The numbers are fractions of the page's width and height from the top left. `spans` are offsets in the block of that
    page, such as "12-40 90-120", with exclusive ends. A list is empty if the characters are not on the page, or were
    read from a picture.
    """
    with open_document(data) as document, page_of(document, page) as shown, text_page_of(shown) as text_page:
        text, view = text_of(text_page), PageView(shown)
        asked = (map(int, span.split("-")) for span in spans.split())
        lines = [text.spans(start, end) for start, end in asked]
        found = [[box for line in one for box in rectangles(text_page, view, *line)] for one in lines]
    return json.dumps([[[round(side, _DIGITS) for side in one] for one in boxes] for boxes in found]).encode()


def picture(data: bytes, *, page: int, dpi: int = 110) -> bytes:
    """Draws a page as WebP. Returns JSON with its `width` and `height` in points and the picture, packed.

    Large pages are drawn with fewer pixels.
    """
    with open_document(data) as document, page_of(document, page) as shown:
        width, height = shown.get_size()
        image = draw(shown, min(dpi, MAX_DPI) / 72)
    return packed((json.dumps({"width": width, "height": height}).encode(), _webp(image)))


def thumbnail(data: bytes, *, page: int = 1) -> bytes:
    """Draws a page as a small picture (WebP)."""
    with open_document(data) as document, page_of(document, page) as shown:
        image = draw(shown, THUMBNAIL_WIDTH / max(shown.get_width(), 1.0))
    return _webp(image)


def extract_pages(data: bytes, *, first: int, last: int) -> bytes:
    """Returns the pages from `first` to `last`, counted from 1, as a PDF file. Pages that do not exist are left out."""
    with open_document(data) as document:
        if not 1 <= first <= last or first > len(document):
            raise InvalidInput(f"has no pages {first} to {last}")
        with PdfDocument.new() as part:
            part.import_pages(document, list(range(first - 1, min(last, len(document)))))
            file = io.BytesIO()
            part.save(file)
    return file.getvalue()


def scale_within_limits(page: PdfPage, scale: float) -> float:
    """Returns the scale in pixels per point, reduced if the picture would be too large."""
    width, height = (max(float(side), 1.0) for side in page.get_size())
    return min(scale, math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / max(width, height))


def draw(
    page: PdfPage, scale: float, *, grey: bool = False, cut: tuple[int, int, int, int] = (0, 0, 0, 0)
) -> Image.Image:
    """Draws the page with so many pixels per point, within limits.

    `cut`: pixels to leave out on the left, at the bottom, on the right and at the top.
    """
    scale = scale_within_limits(page, scale)
    crop = tuple(max(side - 0.5, 0) / scale for side in cut)  # pypdfium2 takes points and rounds up to whole pixels
    bitmap = page.render(scale=scale, grayscale=grey, crop=crop)
    try:
        image: Image.Image = bitmap.to_pil().copy()  # copied, because the bitmap's memory belongs to pdfium
    finally:
        bitmap.close()
    return image


def _webp(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.convert("RGB").save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()
