"""PDF files by pdfium: their text page by page, where words stand on a page, pages as pictures, and some of the pages.

pdfium ends its process on some hostile files and is not safe with threads: one file at a time, in isolated processes.
"""

import re

from runs.documents.document_format import OF_PICTURES, DocumentFormat, Signature, begins

_AFTER_SPACE = re.compile(rb"(?:\xef\xbb\xbf)?[\s\x00]{0,1000}%PDF-[12]\.\d")
"""Some programs write line breaks first, and readers search further on."""

FORMAT = DocumentFormat(
    name="pdf",
    title="a PDF document",
    unit="page",
    signatures=(*begins(b"%PDF-1.", b"%PDF-2.", in_ascii=True), Signature(pattern=_AFTER_SPACE, in_ascii=True)),
    reader="runs.documents.formats.pdf.reader",
    edition=9,
    packages=("pypdfium2", "tesserocr"),
    limits=OF_PICTURES,
    drawing="runs.documents.formats.pdf.drawing",
    has_places=True,
    shown_to_models="pdf",
)
