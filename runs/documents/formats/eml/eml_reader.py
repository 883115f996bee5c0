"""Reads mails as files (.eml): text, HTML if it differs from the text, invitations, attachments.

Signed and compressed S/MIME mails are opened, but signatures are not verified.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import compat32
from typing import NamedTuple

from runs.documents.formats.eml import FORMAT, invitations, mails, smime
from runs.documents.formats.html.html_reader import decode_or_guess, decode_or_none
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput

MAX_DEPTH = 5
"""Of nested parts: text and HTML, with pictures, with attachments, signed, forwarded."""
MAX_PARTS = 100  # of a mail
_FIELDS = ("Subject", "From", "Sender", "Reply-To", "To", "Cc", "Bcc", "Date")
_MAX_FIELD = 20_000  # characters of a header field
_MAX_HEADER = 20_000  # bytes of a field with parameters
_BOUNDARY = re.compile(rb"boundary\s*=", re.IGNORECASE)
_CONTENT = re.compile(rb"^content-(?:type|disposition):[^\n]*(?:\n[ \t][^\n]*)*", re.IGNORECASE | re.MULTILINE)
"""Fields whose parameters the standard library splits in quadratic time."""
_BROKEN = (
    *(MessageError, ValueError, LookupError, TypeError, AttributeError, RecursionError, AssertionError),
    *(OverflowError, NotImplementedError),
)
"""Raised by the standard library on files that are not mails, as found by fuzzing."""
_DAMAGED = "is a damaged mail; open it in a mail program and save it again"
_PAGES = frozenset({"text/html", "text/x-amp-html", "text/watch-html"})
_ENCRYPTED = "is encrypted; decrypt it in a mail program and save it again."
_SIGNED = "is signed, in a form that is not read; open it in a mail program and save it again."
_UNKNOWN = "is signed or encrypted, in a form that is not read; open it in a mail program and save it again."
_AS_SMIME = b"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: base64\n\n"
SIGNATURE = ("Signature", "S/MIME; it was not checked")


class Attachment(NamedTuple):
    """An attachment. `content`: the content of a signed attachment, otherwise None."""

    name: str
    part: Message
    content: bytes | None = None

    @property
    def data(self) -> bytes:
        return _content(self.part) if self.content is None else self.content

    @property
    def is_picture_in_text(self) -> bool:
        is_inline = self.part.get_content_disposition() == "inline" or "Content-ID" in self.part
        return self.part.get_content_maintype() == "image" and is_inline


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    try:
        message = _parse(data)
        parts = Parts(message)
        fields = [(name, _field(value)) for name in _FIELDS for value in message.get_all(name, [])[:1]]
        if not parts.lines and not fields:
            raise InvalidInput(_DAMAGED)
        return mails.build_mail(FORMAT, parts.mail(fields))
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error


def attachments(data: bytes) -> list[tuple[str, bytes]]:
    """Returns names and contents of attachments. Forwarded mails stay mails. Small pictures of the
    text are left out.
    """
    try:
        return attached_in(Parts(_parse(data)))
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error


def attached_in(parts: "Parts") -> list[tuple[str, bytes]]:
    """Like `attachments`, for parts that have been read already."""
    return mails.without_ornaments((one.name, one.is_picture_in_text, one.data) for one in parts.attachments)


def read_protected(data: bytes) -> "Parts":
    """Reads the attachment in which Outlook stores a signed or encrypted mail: S/MIME, or a mail
    part with its header.
    """
    try:
        return Parts(_parse(data if smime.is_mime(data) else _AS_SMIME + base64.encodebytes(data)))
    except _BROKEN as error:
        raise InvalidInput(_DAMAGED) from error


def _parse(data: bytes) -> Message:
    # checked before parsing, because each line is compared with all boundaries
    if len(_BOUNDARY.findall(data)) > 5 * MAX_PARTS:
        raise InvalidInput(f"has more than {MAX_PARTS} parts")
    if any(len(one[0]) > _MAX_HEADER for one in _CONTENT.finditer(data)):
        raise InvalidInput(_DAMAGED)
    return message_from_bytes(data, policy=compat32)  # newer policies parse headers in more than linear time


def _field(value: object) -> str:
    raw = str(value)[:_MAX_FIELD]
    try:
        return str(make_header(decode_header(raw)))
    except (HeaderParseError, UnicodeError, LookupError, ValueError):
        return raw


class Parts:
    """The lines of a mail's body, and its attachments."""

    def __init__(self, message: Message) -> None:
        self.lines: list[mails.MailLine] = []
        self.attachments: list[Attachment] = []
        self.notes: list[str] = []
        self.cautions: list[str] = []
        self.is_signed = False
        self._invitations: list[list[mails.MailLine]] = []
        self._left, self._attached, self._calendars = MAX_PARTS, 0, 0
        self._walk(message, 0)
        for lines in self._invitations:
            self._add(lines)

    def mail(self, fields: Sequence[tuple[str, str]]) -> mails.Mail:
        """Returns the mail with these fields, and one that says that it is signed, if it is."""
        signed = [SIGNATURE] if self.is_signed else []
        names = [one.name for one in self.attachments]
        return mails.Mail([*fields, *signed], self.lines, names, self.notes, self.cautions)

    def _walk(self, part: Message, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise InvalidInput(f"has more than {MAX_PARTS} parts")
        if depth > MAX_DEPTH:
            raise InvalidInput(f"has parts in parts that are nested more than {MAX_DEPTH} deep")
        kind = part.get_content_type()
        name = part.get_filename()
        if kind == "multipart/encrypted":
            self.notes.append(f"{_whole_or_part(depth)} {_ENCRYPTED}")
        elif kind in smime.MEDIA_TYPES or (name or "").lower().endswith(smime.SUFFIX):
            self._open(part, name, depth)
        elif kind in {"text/calendar", "application/ics"} or (name or "").lower().endswith(".ics"):
            # Calendars often come twice: as an alternative and as an attachment.
            text, _ = _text(part)
            self._calendars += len(text)
            try:
                lines = invitations.lines_of(text) if self._calendars <= invitations.MAX_CHARACTERS else []
            except InvalidInput:
                lines = []
            if not lines:
                self.notes.append("An invitation in the mail could not be read.")
            if lines and lines not in self._invitations:
                self._invitations.append(lines)
            is_attached = part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text"
            if is_attached or not lines:
                self._attach(part, name or "invitation.ics")
        elif (
            name
            or part.get_content_disposition() == "attachment"
            or part.get_content_maintype() not in {"text", "multipart"}
        ):
            self._attach(part, name)
        elif kind == "multipart/alternative":
            self._choose(part, depth)
        elif part.is_multipart():
            for child in _children(part):
                self._walk(child, depth + 1)
        else:
            self._say(part, kind)

    def _open(self, part: Message, name: str | None, depth: int) -> None:
        """Opens an S/MIME part, or notes that it cannot be read."""
        found = smime.open_content(_content(part))
        document = smime.name_inside(_field(name or ""))
        if found.content and (document or not _is_mail_part(found.content)):
            self._attach(part, document or "signed content", found.content)
            if found.kind is smime.SmimeKind.SIGNED:
                self.cautions.append(smime.unchecked(self.attachments[-1].name))
        elif found.content:
            self.is_signed |= found.kind is smime.SmimeKind.SIGNED
            self._walk(_parse(found.content), depth + 1)
        elif found.kind is smime.SmimeKind.ENCRYPTED:
            self.notes.append(f"{_whole_or_part(depth)} {_ENCRYPTED}")
        else:
            said = str(part.get_param("smime-type", "")).lower()
            is_signed = found.kind is smime.SmimeKind.SIGNED or said == "signed-data"
            why = _ENCRYPTED if "enveloped" in said else _SIGNED if is_signed else _UNKNOWN
            self.notes.append(f"{_whole_or_part(depth)} {why}")

    def _choose(self, part: Message, depth: int) -> None:
        """Adds the text (or the last alternative, which mail programs show, if the text is empty), and the alternatives
        that differ from it.
        """
        versions = [self._version(child, depth) for child in _children(part)]
        filled = [one for one in versions if any(line.text.strip() for line in one.alternative.lines)]
        texts = [one for one in filled if one.alternative.name == "text"]
        shown = next(iter([*texts, *filled[::-1]]), None)
        if shown is None and (failed := next((one.failure for one in versions if one.failure), None)):
            raise failed
        for one in versions:
            is_shown = one is shown
            self.attachments += [each for each in one.attachments if is_shown or not each.is_picture_in_text]
            self.notes += one.notes if is_shown else []
            self.cautions += one.cautions if is_shown else []
            self.notes += [f"The {one.alternative.name} of the mail {one.failure}."] if one.failure else []
        if shown:
            others = [one.alternative for one in filled if one is not shown]
            lines, cautions = mails.combine_alternatives(shown.alternative, others)
            self._add(lines)
            self.cautions += cautions

    def _version(self, part: Message, depth: int) -> "_Version":
        name = "text" if part.get_content_type() == "text/plain" else "HTML"
        before = self.lines, self.attachments, self.notes, self.cautions
        self.lines, self.attachments, self.notes, self.cautions = [], [], [], []
        try:
            self._walk(part, depth + 1)
            return _Version(mails.Alternative(name, self.lines), self.attachments, self.notes, self.cautions)
        except InvalidInput as error:
            return _Version(mails.Alternative(name, []), failure=error)
        finally:
            self.lines, self.attachments, self.notes, self.cautions = before

    def _say(self, part: Message, kind: str) -> None:
        if kind in _PAGES:
            lines, notes, cautions = mails.html_lines(_content(part), part.get_content_charset(""))
            self._add(lines)
            self.notes += notes
            self.cautions += cautions
        else:
            text, caution = _text(part)
            self._add(mails.plain_lines(text))
            self.cautions += [caution] if caution else []

    def _add(self, lines: Sequence[mails.MailLine]) -> None:
        if self.lines:
            self.lines.append(mails.MailLine(""))
        self.lines += lines

    def _attach(self, part: Message, name: str | None, content: bytes | None = None) -> None:
        self._attached += 1
        number = self._attached
        mails.check_count(number)
        if not name and part.get_content_type() == "message/rfc822":
            name = f"forwarded mail {number}.eml"
        if not name and part.get_content_maintype() == "image":
            name = f"picture {number}.{part.get_content_subtype()}"
        self.attachments.append(Attachment(mails.attachment_name(_field(name or ""), number), part, content))


class _Version(NamedTuple):
    """An alternative with its attachments, notes and cautions, or the reason why it cannot be read."""

    alternative: mails.Alternative
    attachments: Sequence[Attachment] = ()
    notes: Sequence[str] = ()
    cautions: Sequence[str] = ()
    failure: InvalidInput | None = None


def _whole_or_part(depth: int) -> str:
    return "A part of the mail" if depth else "The mail"


def _is_mail_part(content: bytes) -> bool:
    """Whether it is a mail part, or a text without a header."""
    return smime.is_mime(content) or decode_or_none(content, "utf-8") is not None


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    return (one for one in payload if isinstance(one, Message)) if isinstance(payload, list) else iter(())


def _content(part: Message) -> bytes:
    if part.get_content_type() == "message/rfc822":
        return b"\n".join(one.as_bytes(policy=compat32) for one in _children(part))
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: Message) -> tuple[str, str]:
    """Decodes with the encoding that the part names if it fits; otherwise as UTF-8, or with a guess and a caution."""
    return decode_or_guess(_content(part), part.get_content_charset(""), "utf-8")
