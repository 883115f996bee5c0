"""The container format of Outlook messages, which are read, and of old Office formats and encrypted documents."""

from runs.documents.document_format import HTML_PACKAGES, DocumentFormat, begins
from runs.documents.model.anchors import BY_LINES

FORMAT = DocumentFormat(
    name="ole",
    title="an Outlook mail",
    unit="line",
    signatures=begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    reader="runs.documents.formats.ole.ole_reader",
    edition=6,
    packages=("olefile", *HTML_PACKAGES),
    attachments=True,
    layout_name="msg",
    anchors=BY_LINES,
)
