"""RTF files, read line by line with all tracked changes accepted, then notes, headers and footers."""

from runs.documents.document_format import DocumentFormat, begins
from runs.documents.model.anchors import BY_LINES

FORMAT = DocumentFormat(
    name="rtf",
    title="an RTF document",
    unit="line",
    signatures=begins(b"{\\rtf1", in_ascii=True),
    reader="runs.documents.formats.rtf.rtf_reader",
    edition=2,
    anchors=BY_LINES,
)
