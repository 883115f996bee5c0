"""E-books: their chapters, which are HTML pages, in reading order."""

from runs.documents.document_format import HTML_PACKAGES, DocumentFormat
from runs.documents.model.anchors import Anchors

FORMAT = DocumentFormat(
    name="epub",
    title="an e-book",
    unit="chapter",
    zip_media_type=b"application/epub+zip",
    reader="runs.documents.formats.epub.epub_reader",
    edition=2,
    packages=HTML_PACKAGES,
    anchors=Anchors(r"sp\d+[\w.]*", {r"sp(\d+)\.\w+?(\d+)$": "chapter {0}, paragraph {1}"}),
)
