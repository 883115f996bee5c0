"""Recognises the format of a content by its bytes, never by its name, and says which reader it needs, if any."""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from runs.documents.document_format import DocumentFormat, Signature, begins
from runs.documents.formats import FORMATS
from runs.documents.formats.zip import END as ZIP_END
from runs.documents.formats.zip import FORMAT as ZIP

HEAD_BYTES = 65_536
TAIL_BYTES = 65_536
"""Bytes that are examined at the beginning and the end. A zip file has the names of its parts at its end, and an
exported web page has its styles before its text.
"""
DAMAGED = "is damaged; open it with the program that made it and save it again"
NOT_UNPACKED = "is an archive that is not unpacked here; give it by itself, and named .zip or .tar.gz"
_NOT_READ: Mapping[str, Sequence[Signature]] = {
    "is a picture of a kind that cannot be read; save it as PNG": (
        *begins(b"GIF87a", b"GIF89a", b"\0\0\1\0"),
        *begins(b"BM", binary=True),
    ),
    "is an archive of a kind that is not unpacked; give it as .zip or .tar.gz": begins(
        b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd"
    ),
    "is a picture of a kind (HEIC) that cannot be read; save it as .jpg or .png": tuple(
        Signature(((4, b"ftyp" + brand),), binary=True) for brand in (b"hei", b"hev", b"mif1", b"msf1")
    ),
    "is sound or film, which cannot be read": (
        *begins(b"OggS\0", b"\x1aE\xdf\xa3"),
        *begins(b"ID3", b"fLaC", binary=True),
        Signature(((0, b"RIFF"), (8, b"WAVE"))),
        Signature(((4, b"ftyp"),), binary=True),
    ),
    "is a program": (
        *begins(b"\x7fELF", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe"),
        *begins(b"MZ", binary=True),
    ),
    "is a database of SQLite, which cannot be read": begins(b"SQLite format 3\0"),
}
"""Formats without a reader: a clause that continues the file's name, with the signatures. The first match is used."""
_APPLE = "is a document of Apple's Pages, Numbers or Keynote; export it as Word, Excel, PowerPoint or PDF"
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_MIMETYPE = re.compile(rb"PK\x03\x04.{26}mimetype", re.DOTALL)
"""Matches the first part of OpenDocument and EPUB files, which is not compressed and states what they are."""
_OF_OFFICE = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]|_rels/|docProps/|customXml/|word/|xl/|ppt/)", re.DOTALL)
"""Matches the first part of an Office document. Any other zip file may begin with an Office document that is stored in
it.
"""
_OF_APPLE = frozenset({b"Index.zip", b"index.apxl", b"buildVersionHistory.plist"})
_ENTRY, _DIRECTORY_END = b"PK\1\2", struct.Struct("<4s8xL4xH")
_NAME_AT = 46  # the offset of the name in an entry of a zip directory


class FileKind(NamedTuple):
    """The format of a content, or a clause that says why it cannot be read.

    Both are empty if the format is unknown: the content may be text.
    """

    format: str = ""
    problem: str = ""


def kind_of(head: bytes, tail: bytes = b"") -> FileKind:
    """Recognises a content by its first HEAD_BYTES (`head`) and its last TAIL_BYTES (`tail`)."""
    found = _format_with(head)
    if found is ZIP:
        return _kind_of_zip(head, tail)
    if found:
        return FileKind(found.name)
    problem = next(
        (problem for problem, signatures in _NOT_READ.items() if any(one.fits(head) for one in signatures)), ""
    )
    if problem:
        return FileKind(problem=problem)
    inside = _format_with(head, is_inside=True)
    return FileKind(_text_format(head) or (inside.name if inside else ""))


def _format_with(head: bytes, *, is_inside: bool = False) -> DocumentFormat | None:
    """Returns the first format with a matching signature of this sort."""
    for form in FORMATS.values():
        if any(one.is_inside is is_inside and one.fits(head) for one in form.signatures):
            return form
    return None


def _kind_of_zip(head: bytes, tail: bytes) -> FileKind:
    if first := _MIMETYPE.match(head):
        media_type = head[first.end() : first.end() + 100]
        for form in FORMATS.values():
            if form.zip_media_type and media_type.startswith(form.zip_media_type):
                return FileKind(form.name)
        if media_type.startswith(_OPEN_DOCUMENT):
            return FileKind(problem="is an OpenDocument file of a kind that cannot be read; save it as .xlsx or .pptx")
    names = list(_names_in(tail))
    if any(name.startswith(b"Index/") and name.endswith(b".iwa") for name in names) or _OF_APPLE.intersection(names):
        return FileKind(problem=_APPLE)
    is_cut_off = not names and _OF_OFFICE.match(head)  # its reader will say so
    for form in FORMATS.values():
        part = form.zip_part
        if part and (part in head if is_cut_off else any(name.startswith(part) for name in names)):
            return FileKind(form.name)
    return FileKind(ZIP.name)


def _names_in(tail: bytes) -> Iterator[bytes]:
    """Yields the names of the parts in a zip file's directory, as far as the directory is within the tail.

    A part may itself be a zip file with a directory. If the outer file is cut off, that directory is the last one in
    sight.
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
    """Whether the content is a document even if all its bytes are ASCII."""
    signatures = (one for form in FORMATS.values() for one in form.signatures if one.in_ascii)
    return any(one.fits(head) for one in signatures) or bool(_text_format(head))


def _text_format(head: bytes) -> str:
    """Returns the format of a content that consists of text but is not read as plain text."""
    return next((form.name for form in FORMATS.values() if form.is_text_of and form.is_text_of(head)), "")
