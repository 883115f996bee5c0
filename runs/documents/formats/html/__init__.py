"""Saved web pages and exports of word processors. The source of a web project is text instead; see `webpages`."""

from runs.documents.document_format import HTML_PACKAGES, DocumentFormat
from runs.documents.formats.html.webpages import is_page_to_read
from runs.documents.model.anchors import IN_TEXTS

FORMAT = DocumentFormat(
    name="html",
    title="a web page",
    unit="paragraph",
    is_text_of=is_page_to_read,
    media_types=("text/html", "application/xhtml+xml"),
    reader="runs.documents.formats.html.html_reader",
    edition=3,
    packages=("chardet", *HTML_PACKAGES),
    is_text=True,
    anchors=IN_TEXTS,
)
