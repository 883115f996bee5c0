"""Reads PDF files with pdfium: text page by page, the places of words, pages as pictures, and extracts of pages.

pdfium crashes on some hostile files and is not thread-safe, so each file is read in an isolated process of its own.
"""

import re

from runs.documents.document_format import OF_PICTURES, DocumentFormat, Signature, begins
from runs.documents.model.anchors import ON_PAGES

_AFTER_SPACE = re.compile(rb"\A(?:\xef\xbb\xbf)?[\s\x00]{0,1000}%PDF-[12]\.\d")
"""Some programs write line breaks before the signature."""
_BEHIND = rb"\A[\s\S]{1,1024}?%PDF-[12]\.\d"
"""Some programs write other bytes first, such as the header of a reply, and PDF readers search the first kilobyte. Text
may contain the signature too, but neither a NUL nor the comment with bytes that are not UTF-8, which most programs
write next.
"""
_NOT_UTF_8 = rb"[\r\n ]+%[^\r\n]*?[\xc0-\xff](?![\x80-\xbf])"

FORMAT = DocumentFormat(
    name="pdf",
    title="a PDF document",
    unit="page",
    signatures=(
        *begins(b"%PDF-1.", b"%PDF-2.", in_ascii=True),
        Signature(pattern=_AFTER_SPACE, in_ascii=True),
        Signature(pattern=re.compile(_BEHIND), binary=True, in_ascii=True, is_inside=True),
        Signature(pattern=re.compile(_BEHIND + _NOT_UTF_8), is_inside=True),
    ),
    reader="runs.documents.formats.pdf.pdf_reader",
    edition=9,
    packages=("pypdfium2", "tesserocr"),
    limits=OF_PICTURES,
    drawing="runs.documents.formats.pdf.drawing",
    has_places=True,
    shown_to_models="pdf",
    anchors=ON_PAGES,
    notes_on_pages=True,
)
