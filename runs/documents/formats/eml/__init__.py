"""Mails as files: header fields, body, and the names of attachments."""

import re

from runs.documents.document_format import HTML_PACKAGES, DocumentFormat
from runs.documents.model.anchors import BY_LINES

_HEADER = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*(?:\n[ \t][^\n]*)*\n)+")
_OF_MAILS = (b"\nmime-version:", b"\nmessage-id:", b"\nreceived:", b"\nx-mailer:")


def is_mail(head: bytes) -> bool:
    """Whether it begins with the header of a mail: names and values, a sender, and a field that only mails have."""
    found = _HEADER.match(head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"))
    header = b"\n" + found[0].lower() if found else b""
    return b"\nfrom:" in header and any(name in header for name in _OF_MAILS)


FORMAT = DocumentFormat(
    name="eml",
    title="a mail",
    unit="line",
    is_text_of=is_mail,
    reader="runs.documents.formats.eml.eml_reader",
    edition=3,
    packages=("chardet", "icalendar", *HTML_PACKAGES),
    attachments=True,
    anchors=BY_LINES,
)
