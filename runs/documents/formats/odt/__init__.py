"""OpenDocument texts, read like Word files with all tracked changes accepted."""

from runs.documents.document_format import DocumentFormat
from runs.documents.model.anchors import IN_TEXTS

FORMAT = DocumentFormat(
    name="odt",
    title="an OpenDocument text",
    unit="paragraph",
    zip_media_type=b"application/vnd.oasis.opendocument.text",
    reader="runs.documents.formats.odt.odt_reader",
    edition=3,
    packages=("lxml",),
    anchors=IN_TEXTS,
)
