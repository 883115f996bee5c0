"""RTF files line by line: the text as it is when all tracked changes are accepted, then its notes and margins.

A reader of ours: the library that there is drops notes, takes deleted words for text, and takes more than linear time.
"""

from runs.documents.document_format import DocumentFormat, begins
from runs.documents.model.anchors import BY_LINES

FORMAT = DocumentFormat(
    name="rtf",
    title="an RTF document",
    unit="line",
    signatures=begins(b"{\\rtf1", in_ascii=True),
    reader="runs.documents.formats.rtf.reader",
    edition=2,
    anchors=BY_LINES,
)
