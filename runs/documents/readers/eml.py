"""Mails as files (.eml): their text, or that of their HTML, and what is attached to them."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import compat32
from typing import NamedTuple

from runs.documents.readers.building import Made
from runs.documents.readers.html import decoded
from runs.documents.readers.mails import (
    MAX_ATTACHED_BYTES,
    MAX_ATTACHMENTS,
    MAX_ORNAMENT,
    Line,
    Mail,
    attachment_name,
    html_lines,
    laid_out,
    plain_lines,
)
from runs.errors import InvalidInput

MAX_DEPTH = 5
"""Of parts in parts of one mail: text and HTML, beside pictures, beside attachments, signed, forwarded."""
MAX_PARTS = 100
_FIELDS = ("Subject", "From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date")
_MAX_FIELD = 20_000
_MAX_HEADER = 20_000
_BOUNDARY = re.compile(rb"boundary\s*=", re.IGNORECASE)
_CONTENT = re.compile(rb"^content-(?:type|disposition):[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE)
"""The fields whose parameters the standard library splits, in quadratic time."""
_BROKEN = (
    *(MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError),
    *(OverflowError, NotImplementedError),
)
"""What the standard library raises on mails that are none, by trial with changed bytes."""
_DAMAGED = "is a damaged mail; open it in a mail program and save it again"
_ENCRYPTED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})


class Attachment(NamedTuple):
    name: str
    part: Message


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> Made:
    try:
        return laid_out("eml", _mail(_parsed(data)))
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error


def attachments(data: bytes) -> list[tuple[str, bytes]]:
    """The names and contents of what is attached; forwarded mails as mails. Small pictures of the text are left out."""
    try:
        found = [(one, _content(one.part)) for one in _Parts(_parsed(data)).attachments]
        contents = [
            (one.name, content)
            for one, content in found
            if len(content) >= MAX_ORNAMENT or not _is_picture_in_text(one.part)
        ]
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error
    if sum(len(content) for _, content in contents) > MAX_ATTACHED_BYTES:
        raise InvalidInput(f"has attachments of more than {MAX_ATTACHED_BYTES // 1_000_000} MB")
    return contents


def _is_picture_in_text(part: Message) -> bool:
    is_inline = part.get_content_disposition() == "inline" or "Content-ID" in part
    return part.get_content_maintype() == "image" and is_inline


def _parsed(data: bytes) -> Message:
    if len(_BOUNDARY.findall(data)) > 5 * MAX_PARTS:  # before they are parsed: each line is compared with all of them
        raise InvalidInput(f"has more than {MAX_PARTS} parts")
    if any(len(one[0]) > _MAX_HEADER for one in _CONTENT.finditer(data)):
        raise InvalidInput(_DAMAGED)
    return message_from_bytes(data, policy=compat32)  # newer policies parse headers in more than linear time


def _mail(message: Message) -> Mail:
    parts = _Parts(message)
    fields = [(name, _field(value)) for name in _FIELDS for value in message.get_all(name, [])[:1]]
    if not parts.lines and not fields:
        raise InvalidInput(_DAMAGED)
    return Mail(fields, parts.lines, [one.name for one in parts.attachments], parts.notes)


def _field(value: object) -> str:
    raw = str(value)[:_MAX_FIELD]
    try:
        return str(make_header(decode_header(raw)))
    except (HeaderParseError, UnicodeError, LookupError, ValueError):
        return raw


class _Parts:
    """The lines of a mail's body, and what is attached."""

    def __init__(self, message: Message) -> None:
        self.lines: list[Line] = []
        self.attachments: list[Attachment] = []
        self.notes: list[str] = []
        self._left = MAX_PARTS
        self._walk(message, 0)

    def _walk(self, part: Message, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise InvalidInput(f"has more than {MAX_PARTS} parts")
        if depth > MAX_DEPTH:
            raise InvalidInput(f"has parts in parts that are nested more than {MAX_DEPTH} deep")
        kind = part.get_content_type()
        name = part.get_filename()
        if kind in _ENCRYPTED:
            self.notes.append("The mail is encrypted; decrypt it in a mail program and save it again.")
        elif name or part.get_content_disposition() == "attachment" or not _is_shown(part, kind):
            self._attach(part, name)
        elif kind == "multipart/alternative":
            self._walk_best(part, depth)
        elif part.is_multipart():
            for child in _children(part):
                self._walk(child, depth + 1)
        else:
            self._say(part, kind)

    def _walk_best(self, part: Message, depth: int) -> None:
        """The text, unless it is empty; else what stands last, which mail programs show."""
        children = list(_children(part))
        texts = [one for one in children if one.get_content_type() == "text/plain" and _text(one).strip()]
        for child in texts[:1] or children[-1:]:
            self._walk(child, depth + 1)

    def _say(self, part: Message, kind: str) -> None:
        if self.lines:
            self.lines.append(Line(""))
        if kind == "text/html":
            lines, notes = html_lines(_content(part), part.get_content_charset(""))
            self.lines += lines
            self.notes += notes
        else:
            self.lines += plain_lines(_text(part))

    def _attach(self, part: Message, name: str | None) -> None:
        if len(self.attachments) == MAX_ATTACHMENTS:
            raise InvalidInput(f"has more than {MAX_ATTACHMENTS} attachments")
        number = len(self.attachments) + 1
        if not name and part.get_content_type() == "message/rfc822":
            name = f"forwarded mail {number}.eml"
        if not name and part.get_content_maintype() == "image":
            name = f"picture {number}.{part.get_content_subtype()}"
        self.attachments.append(Attachment(attachment_name(_field(name or ""), number), part))


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    return (one for one in payload if isinstance(one, Message)) if isinstance(payload, list) else iter(())


def _is_shown(part: Message, kind: str) -> bool:
    """Whether it is a part of the body and not something that is attached without a name."""
    return part.get_content_maintype() in {"text", "multipart"} and kind != "text/calendar"


def _content(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return b"\n".join(one.as_bytes(policy=compat32) for one in _children(part))
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: Message) -> str:
    """In the encoding that it names, if that fits; else UTF-8 or Windows-1252."""
    data = _content(part)
    for codec in (part.get_content_charset(""), "utf-8", "cp1252"):
        if codec and (text := decoded(data, codec)) is not None:
            return text
    return data.decode("cp1252", errors="replace")
