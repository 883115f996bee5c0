"""Files in the OLE container of old Office formats. Outlook mails (.msg) are read; other kinds are only recognised."""

import io
import re
import struct
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import olefile

from runs.documents.formats.eml import eml_reader as eml
from runs.documents.formats.eml import mails, smime
from runs.documents.formats.ole import FORMAT
from runs.documents.formats.rtf import rtf_reader as rtf
from runs.documents.reading.building import BuiltDocument
from runs.documents.reading.package_parts import NEEDS_PASSWORD
from runs.errors import InvalidInput

MAX_STREAM_BYTES = 50_000_000  # a file may claim that a stream has any length
_OLD = "is a file of an old Office format; save it as .docx, .xlsx or .pptx"
_DAMAGED = "is a damaged mail of Outlook; open it and save it again"
_DAMAGED_OLD = "is a damaged file of an old Office format; open it and save it as .docx, .xlsx or .pptx"
_DAMAGED_OTHER = "is damaged; open it with the program that made it and save it as .docx, .xlsx, .pptx or .eml"
_OLD_STREAMS = ("WordDocument", "Workbook", "Book", "PowerPoint Document")
_PROPERTIES = "__properties_version1.0"
_OLD_BEGINNINGS = re.compile(rb"\xec\xa5|\x09\x08[\x00-\x10]\x00\x00[\x05\x06]")
"""Matches the beginning of Word and Excel streams. They are directly after the first sector when the stream directory,
which many files have at their end, has been cut off.
"""
_SECTOR = 512  # the size of the header, directly after which the first stream may begin
_SENT, _DELIVERED, _CODE_PAGE, _START, _END = 0x0039, 0x0E06, 0x3FFD, 0x0060, 0x0061
_HEADER_BYTES = 32  # before the entries of a property stream
_ENTRY = struct.Struct("<HHI8s")
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_PROTECTED = re.compile(r"IPM\.Note\.(?:SMIME|Secure)", re.IGNORECASE)
"""Message classes of signed and encrypted mails."""
_SMIME = "smime.p7m"
_MEETING = re.compile(r"IPM\.(?:Schedule\.Meeting\.(\w+)|Appointment)", re.IGNORECASE)
_MEETINGS = {"request": "Invitation", "canceled": "Cancelled", "resp": "Answer to an invitation"}
_ATTACHMENT = re.compile(r"__attach_version1\.0_#[0-9A-Fa-f]{8}")
_BROKEN = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError),
    *(struct.error, AssertionError),
)
"""Raised by olefile on damaged files, as found by fuzzing."""


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            if file.exists("EncryptedPackage"):
                raise InvalidInput(NEEDS_PASSWORD)
            if any(file.exists(name) for name in _OLD_STREAMS):
                raise InvalidInput(_OLD)
            if not file.exists(_PROPERTIES):
                raise InvalidInput("is a file of a kind that cannot be read")
            return mails.build_mail(FORMAT, _Message(file).mail())
    except _BROKEN as error:
        raise InvalidInput(_damaged(data)) from error


def attachments(data: bytes) -> list[tuple[str, bytes]]:
    """Returns names and contents of attachments.

    Mails inside the mail are not files and are left out, as are small pictures of the text. Returns nothing for files
    that are not mails or are damaged; the reader reports these.
    """
    message = None
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            if not file.exists(_PROPERTIES):
                return []
            message = _Message(file)
            if parts := message.protected():
                return eml.attached_in(parts)
            found = message.attached()
    except _BROKEN as error:
        if message is None:
            return []
        raise InvalidInput(_DAMAGED) from error
    return mails.without_ornaments(
        (one.name, one.is_picture_in_text, one.content) for one in found if one.content is not None
    )


def _damaged(data: bytes) -> str:
    """Returns the message for a file that cannot be opened, from its beginning and the stream names in its bytes.

    The streams of mails are searched for first, because a mail may have a Word file attached.
    """
    is_old = _OLD_BEGINNINGS.match(data, _SECTOR) is not None
    if not is_old and _name(_PROPERTIES) in data:
        return _DAMAGED
    return _DAMAGED_OLD if is_old or any(_name(one) in data for one in _OLD_STREAMS) else _DAMAGED_OTHER


def _name(stream: str) -> bytes:
    """Encodes a name as in the stream directory, including its terminator."""
    return f"{stream}\0".encode("utf-16-le")


class _Attachment(NamedTuple):
    """An attachment. `content` is None for mails inside the mail. `signed`: it was taken out of a signed file."""

    name: str
    content: bytes | None
    is_picture_in_text: bool
    signed: bool = False


class _Message:
    """The properties of a mail, by number."""

    def __init__(self, file: olefile.OleFileIO) -> None:
        self._file = file
        # Properties of fixed size are in one stream.
        data = self.stream(_PROPERTIES) or b""
        entries = data[_HEADER_BYTES : len(data) - (len(data) - _HEADER_BYTES) % _ENTRY.size]
        self._fixed = {tag: value for _, tag, _, value in _ENTRY.iter_unpack(entries)}
        page = int.from_bytes(self._fixed.get(_CODE_PAGE, b"")[:4], "little")
        self._codec = f"cp{page}" if 0 < page < 65_000 else "cp1252"

    def mail(self) -> mails.Mail:
        sender, address = self.text("0C1A"), self.text("5D01") or self.text("0C1F")
        fields = [
            ("Subject", self.text("0037")),
            ("From", f"{sender} <{address}>" if sender and "@" in address and address != sender else sender or address),
            ("To", self.text("0E04")),
            ("Cc", self.text("0E03")),
            ("Bcc", self.text("0E02")),
            ("Date", self._date(_SENT) or self._date(_DELIVERED)),
            *self._meeting(),
        ]
        if parts := self.protected():
            return parts.mail(fields)
        lines, notes, cautions = self._body()
        attached = self.attached()
        cautions += [smime.unchecked(one.name) for one in attached if one.signed]
        return mails.Mail(fields, lines, [one.name for one in attached], notes, cautions)

    def protected(self) -> eml.Parts | None:
        """Returns the content of a signed or encrypted mail, which is its only attachment."""
        places = self._places()
        if len(places) != 1:
            return None
        names = {self.text(tag, f"{places[0]}/").lower() for tag in ("3707", "3704", "3001")}
        if not _PROTECTED.match(self.text("001A")) and _SMIME not in names:
            return None
        content = self._content(places[0])
        return eml.read_protected(content) if content else None

    def attached(self) -> list[_Attachment]:
        found = list[_Attachment]()
        for number, place in enumerate(self._places(), 1):
            names = (self.text(tag, f"{place}/") for tag in ("3707", "3704", "3001"))
            name = mails.attachment_name(next(filter(None, names), ""), number)
            content, is_picture = self._content(place), bool(self.text("3712", f"{place}/"))
            inside = smime.open_content(content) if content and smime.name_inside(name) else None
            if inside and inside.content:
                signed = inside.kind is smime.SmimeKind.SIGNED
                found.append(_Attachment(smime.name_inside(name), inside.content, is_picture, signed))
            else:
                found.append(_Attachment(name, content, is_picture))
        return found

    def _content(self, place: str) -> bytes | None:
        return self.stream(f"{place}/__substg1.0_37010102")

    def _places(self) -> list[str]:
        """Returns the paths of attachments in the file."""
        places = sorted({path[0] for path in self._file.listdir(storages=True) if _ATTACHMENT.fullmatch(path[0])})
        mails.check_count(len(places))
        return places

    def text(self, tag: str, place: str = "") -> str:
        wide = self.stream(f"{place}__substg1.0_{tag}001F")
        if wide is not None:
            return wide.decode("utf-16-le", errors="replace").rstrip("\0")
        return _decode(self.stream(f"{place}__substg1.0_{tag}001E") or b"", self._codec).rstrip("\0")

    def stream(self, path: str) -> bytes | None:
        if not self._file.exists(path):
            return None
        with self._file.openstream(path) as stream:
            data: bytes = stream.read(MAX_STREAM_BYTES)
        return data

    def _body(self) -> tuple[list[mails.MailLine], list[str], list[str]]:
        """Returns the lines of the text, followed by the HTML or rich text if it differs; notes; and cautions."""
        text = self.text("1000")
        page = self.stream("__substg1.0_10130102") or self.text("1013").encode(errors="replace")
        versions, notes, doubts = list[mails.Alternative](), list[str](), list[str]()
        if text.strip():
            versions.append(mails.Alternative("text", mails.plain_lines(text)))
        try:
            if page:
                lines, unread, guessed = mails.html_lines(page)
                versions.append(mails.Alternative("HTML", lines))
                doubts += guessed if not text.strip() else []
                notes += unread if not text.strip() else []
            elif packed := self.stream("__substg1.0_10090102"):
                versions.append(mails.Alternative("rich text", mails.plain_lines(rtf.make(unpacked_rtf(packed)).text)))
        except InvalidInput as error:
            if not versions:
                raise
            notes.append(f"The {'HTML' if page else 'rich text'} of the mail {error}.")
        lines, cautions = mails.combine_alternatives(versions[0], versions[1:]) if versions else ([], [])
        return lines, notes, [*doubts, *cautions]

    def _meeting(self) -> list[tuple[str, str]]:
        """Returns the kind of a meeting request, and its start and end in UTC."""
        kind = _MEETING.match(self.text("001A"))
        if kind is None:
            return []
        what = next((words for name, words in _MEETINGS.items() if (kind[1] or "").lower().startswith(name)), "Meeting")
        return [("Meeting", what), ("Start", self._date(_START)), ("End", self._date(_END))]

    def _date(self, tag: int) -> str:
        """Returns a time in UTC, or an empty string if the file does not have it."""
        value = self._fixed.get(tag)
        ticks = int.from_bytes(value, "little") if value else 0  # in units of 100 nanoseconds
        if not 0 < ticks < 2**61:
            return ""
        return (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%a, %d %b %Y %H:%M:%S +0000")


def _decode(data: bytes, codec: str) -> str:
    try:
        return data.decode(codec, errors="replace")
    except LookupError:
        return data.decode("cp1252", errors="replace")


MAX_BYTES = 20_000_000  # of an unpacked rich text

_HEADER = struct.Struct("<IIII")

_PACKED, _PLAIN = 0x75465A4C, 0x414C454D

_WINDOW = 4_096  # of the compression of rich texts (LZFu)

_BEGUN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans "
    rb"SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""The initial contents of each window."""


def unpacked_rtf(data: bytes) -> bytes:
    if len(data) < _HEADER.size:
        raise InvalidInput("has a text that is damaged; open it and save it again")
    _, size, kind, _ = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if kind == _PLAIN:
        return body[:size]
    if kind != _PACKED or size > MAX_BYTES:
        raise InvalidInput("has a text that is damaged or too long; open it and save it again")
    return _unpack(body, size)


def _unpack(body: bytes, size: int) -> bytes:
    out = bytearray(_BEGUN)  # offsets count from its start, so no separate window is needed
    end, at = len(_BEGUN) + size, 0
    while at < len(body) and len(out) < end:
        control = body[at]
        at += 1
        for bit in range(8):
            if len(out) >= end or at >= len(body):
                break
            if not control >> bit & 1:
                out.append(body[at])
                at += 1
                continue
            token = int.from_bytes(body[at : at + 2])
            at += 2
            back = (len(out) - (token >> 4)) % _WINDOW
            if not back or back > len(out):  # end of the data
                return bytes(out[len(_BEGUN) :])
            for _ in range((token & 0xF) + 2):  # byte by byte, because a piece may overlap itself
                out.append(out[-back])
    return bytes(out[len(_BEGUN) : end])
