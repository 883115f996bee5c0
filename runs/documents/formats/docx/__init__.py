"""Word files, read with all tracked changes accepted and with the numbers of their clauses."""

from runs.documents.document_format import DocumentFormat
from runs.documents.model.anchors import IN_TEXTS

FORMAT = DocumentFormat(
    name="docx",
    title="a Word document",
    unit="paragraph",
    zip_part=b"word/document",
    reader="runs.documents.formats.docx.docx_reader",
    edition=6,
    anchors=IN_TEXTS,
    takes_comments=True,
)
