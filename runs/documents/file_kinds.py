"""What a content is, by the bytes that its format begins with and never by its name: which reader it is for, if any."""

import re
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.webpages import is_page_to_read

HEAD_BYTES = 65_536
TAIL_BYTES = 65_536
"""How much of a content's beginning and end is looked at. A zip has the names of its parts at its end, and an exported
page has its styles before its text.
"""
MIN_LATIN = 0.6
"""From this share of letters with a zero byte on, bytes without a mark are taken for UTF-16."""


class Signature(NamedTuple):
    """Bytes that must stand at their offsets. `format` is one that there is a reader for, or else `problem` is a clause
    behind the file's name. `binary`: such letters may begin a text, so there must be a NUL too. `in_ascii`: such a
    content may be all ASCII, and is no text for all that.
    """

    parts: tuple[tuple[int, bytes], ...]
    format: str = ""
    problem: str = ""
    binary: bool = False
    in_ascii: bool = False


PDF, DOCX, XLSX, PPTX, ODT, RTF = "pdf", "docx", "xlsx", "pptx", "odt", "rtf"
EPUB, HTML, EML, OLE, IMAGE, ZIP, TAR = "epub", "html", "eml", "ole", "image", "zip", "tar"
"""OLE is the container of Outlook messages, of documents with a password, and of the old formats of Office."""
_PDF_BEHIND = re.compile(rb"(?:\xef\xbb\xbf)?[\s\x00]{0,1000}%PDF-[12]\.\d")
"""Programs write line breaks before it, and readers look for it further on."""
_ARCHIVE = "is an archive of a kind that is not unpacked; give it as .zip or .tar.gz"
_SOUND = "is sound or film, which cannot be read"
_PROGRAM = "is a program"
_DATABASE = "is a database of SQLite, which cannot be read"
_VECTORS = "is a picture of a kind that cannot be read; save it as PNG"
_PHOTO = "is a picture of a kind (HEIC) that cannot be read; save it as .jpg or .png"
_APPLE = "is a document of Apple's Pages, Numbers or Keynote; export it as Word, Excel, PowerPoint or PDF"
_ZIP = b"PK\3\4"
ZIP_END = b"PK\5\6"


def _begins(*magics: bytes, binary: bool = False, in_ascii: bool = False, **what: str) -> list[Signature]:
    return [Signature(((0, magic),), binary=binary, in_ascii=in_ascii, **what) for magic in magics]


SIGNATURES: Sequence[Signature] = (
    *_begins(b"%PDF-1.", b"%PDF-2.", in_ascii=True, format=PDF),
    *_begins(b"{\\rtf1", in_ascii=True, format=RTF),
    *_begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", format=OLE),
    *_begins(b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", format=IMAGE),
    Signature(((0, b"RIFF"), (8, b"WEBP")), format=IMAGE),
    *_begins(b"GIF87a", b"GIF89a", b"\0\0\1\0", problem=_VECTORS),
    *_begins(b"BM", binary=True, problem=_VECTORS),
    *_begins(_ZIP, ZIP_END, format=ZIP),
    *_begins(b"\x1f\x8b", format=TAR),
    *_begins(b"BZh", binary=True, format=TAR),
    *_begins(b"\xfd7zXZ\0", format=TAR),
    Signature(((257, b"ustar"),), format=TAR),
    *_begins(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", problem=_ARCHIVE),
    *_begins(b"OggS\0", b"\x1aE\xdf\xa3", problem=_SOUND),
    *_begins(b"ID3", b"fLaC", binary=True, problem=_SOUND),
    Signature(((0, b"RIFF"), (8, b"WAVE")), problem=_SOUND),
    *(Signature(((4, b"ftyp" + brand),), binary=True, problem=_PHOTO) for brand in (b"hei", b"hev", b"mif1", b"msf1")),
    Signature(((4, b"ftyp"),), binary=True, problem=_SOUND),
    *_begins(b"\x7fELF", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", problem=_PROGRAM),
    *_begins(b"MZ", binary=True, problem=_PROGRAM),
    *_begins(b"SQLite format 3\0", problem=_DATABASE),
)
_MAIN_PARTS = ((b"word/document", DOCX), (b"xl/workbook", XLSX), (b"ppt/presentation", PPTX))
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_MEDIA_TYPES = ((_OPEN_DOCUMENT + b"text", ODT), (b"application/epub+zip", EPUB))
_MIMETYPE = re.compile(rb"PK\x03\x04.{26}mimetype", re.DOTALL)
"""OpenDocument and EPUB say what they are in their first part, which is not compressed."""
_OF_OFFICE = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|customXml/|word/|xl/|ppt/)", re.DOTALL)
"""The first part of such a document. Another zip may begin with a document that is stored in it."""
_OF_APPLE = frozenset({b"Index.zip", b"index.apxl", b"buildVersionHistory.plist"})
_ENTRY, _DIRECTORY_END = b"PK\1\2", struct.Struct("<4s8xL4xH")
_NAME_AT = 46


class Kind(NamedTuple):
    """Which reader a content is for, or why there is none, as a clause behind the file's name. Both are empty where
    nothing is known: it may be a text.
    """

    format: str = ""
    problem: str = ""


def kind_of(head: bytes, tail: bytes = b"") -> Kind:
    """`head` and `tail` are its first HEAD_BYTES and its last TAIL_BYTES."""
    found = next((one for one in SIGNATURES if _fits(one, head)), None)
    if _PDF_BEHIND.match(head):
        return Kind(PDF)
    if found is None:
        return Kind(_text_format(head))
    if found.format == ZIP:
        return _kind_of_zip(head, tail)
    return Kind(found.format, found.problem)


def _kind_of_zip(head: bytes, tail: bytes) -> Kind:
    if first := _MIMETYPE.match(head):
        media_type = head[first.end() : first.end() + 100]
        if inside := next((form for name, form in _MEDIA_TYPES if media_type.startswith(name)), ""):
            return Kind(inside)
        if media_type.startswith(_OPEN_DOCUMENT):
            return Kind(problem="is an OpenDocument file of a kind that cannot be read; save it as .xlsx or .pptx")
    names = list(_names_in(tail))
    found = (form for part, form in _MAIN_PARTS if any(name.startswith(part) for name in names))
    if not names and _OF_OFFICE.match(head):  # it is cut off, which its reader says
        found = (form for part, form in _MAIN_PARTS if part in head)
    if any(name.startswith(b"Index/") and name.endswith(b".iwa") for name in names) or _OF_APPLE.intersection(names):
        return Kind(problem=_APPLE)
    return Kind(next(found, ZIP))


def _names_in(tail: bytes) -> Iterator[bytes]:
    """The names of a zip's parts, from its directory, as far as that lies in the tail. What is stored in a part may be
    a zip with names of its own, and is the last one in sight where the outer one is cut off.
    """
    end = tail.rfind(ZIP_END)
    if end < 0 or end + _DIRECTORY_END.size > len(tail):
        return
    _, size, comment = _DIRECTORY_END.unpack_from(tail, end)
    if end + _DIRECTORY_END.size + comment != len(tail):
        return
    at = end - size if size <= end else tail.find(_ENTRY)
    while 0 <= at < end and tail.startswith(_ENTRY, at) and at + _NAME_AT <= end:
        name, extra, comment = struct.unpack_from("<HHH", tail, at + 28)
        yield tail[at + _NAME_AT : at + _NAME_AT + name]
        at += _NAME_AT + name + extra + comment


def is_document(head: bytes) -> bool:
    """Whether it is of a kind that is no text even where all its bytes are ASCII."""
    is_one = any(one.in_ascii and _fits(one, head) for one in SIGNATURES)
    return is_one or bool(_PDF_BEHIND.match(head) or _text_format(head))


def _text_format(head: bytes) -> str:
    """The format of a content whose bytes are text, and that is not read as the text that they are."""
    if _is_mail(head):
        return EML
    return HTML if is_page_to_read(head) else ""


_HEADER = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*(?:\n[ \t][^\n]*)*\n)+")
_OF_MAILS = (b"\nmime-version:", b"\nmessage-id:", b"\nreceived:", b"\nx-mailer:")


def _is_mail(head: bytes) -> bool:
    """Whether it begins with the header of a mail: lines of names and values, a sender, and what only mails have."""
    found = _HEADER.match(head.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n"))
    header = b"\n" + found[0].lower() if found else b""
    return b"\nfrom:" in header and any(name in header for name in _OF_MAILS)


def _fits(one: Signature, head: bytes) -> bool:
    return all(head.startswith(magic, at) for at, magic in one.parts) and (not one.binary or b"\0" in head)
