"""What a content is that is no text, by the bytes that its kind begins with: for a sentence, not for a decision."""

from collections.abc import Sequence
from typing import NamedTuple

HEAD_BYTES = 4_096
TAIL_BYTES = 65_536
"""How much of a content's beginning and end is looked at. A zip has the names of its parts at its end."""
MIN_LATIN = 0.6
"""From this share of letters with a zero byte on, bytes without a mark are taken for UTF-16."""


class Signature(NamedTuple):
    """Bytes that must stand at their offsets; `kind` is a clause behind the file's name. `binary`: such letters may
    begin a text, so there must be a NUL too. `in_ascii`: such a content may be all ASCII, and is no text for all that.
    """

    kind: str
    parts: tuple[tuple[int, bytes], ...]
    binary: bool = False
    in_ascii: bool = False


_PDF = "is a PDF file, which cannot be read yet"
_RTF = "is an RTF file, which cannot be read yet; save it as text"
_PICTURE = "is a picture, which cannot be read yet"
_ARCHIVE = "is an archive; unpack it and give the files in it"
_OLD_OFFICE = "is a file of an old Office format; save it as .docx, .xlsx or .pptx, or as text"
_SOUND = "is sound or film, which cannot be read"
_PROGRAM = "is a program"
_DATABASE = "is a database of SQLite, which cannot be read"
_ZIP = b"PK\3\4"


def _begins(kind: str, *magics: bytes, binary: bool = False, in_ascii: bool = False) -> list[Signature]:
    return [Signature(kind, ((0, magic),), binary, in_ascii) for magic in magics]


SIGNATURES: Sequence[Signature] = (
    *_begins(_PDF, b"%PDF-1.", b"%PDF-2.", in_ascii=True),
    *_begins(_RTF, b"{\\rtf1", in_ascii=True),
    *_begins(_OLD_OFFICE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    *_begins(_PICTURE, b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"\0\0\1\0"),
    *_begins(_PICTURE, b"BM", binary=True),
    Signature(_PICTURE, ((0, b"RIFF"), (8, b"WEBP"))),
    *_begins(_ARCHIVE, _ZIP, b"PK\5\6", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07"),
    *_begins(_ARCHIVE, b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"),
    *_begins(_ARCHIVE, b"BZh", binary=True),
    *_begins(_SOUND, b"OggS\0", b"\x1aE\xdf\xa3"),
    *_begins(_SOUND, b"ID3", b"fLaC", binary=True),
    Signature(_SOUND, ((0, b"RIFF"), (8, b"WAVE"))),
    Signature(_SOUND, ((4, b"ftyp"),), binary=True),
    *_begins(_PROGRAM, b"\x7fELF", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe"),
    *_begins(_PROGRAM, b"MZ", binary=True),
    *_begins(_DATABASE, b"SQLite format 3\0"),
)
_IN_A_ZIP = (
    (b"word/document", "is a Word file, which cannot be read yet"),
    (b"xl/workbook", "is an Excel file, which cannot be read yet"),
    (b"ppt/presentation", "is a PowerPoint file, which cannot be read yet"),
    (
        b"application/vnd.oasis.opendocument",
        "is an OpenDocument file, which cannot be read yet",
    ),
    (b"application/epub+zip", "is an e-book (EPUB), which cannot be read yet"),
)


def kind_of(head: bytes, tail: bytes = b"") -> str:
    """A clause behind the file's name, such as "is a PDF file, which cannot be read yet"; empty if nothing is known.

    `head` and `tail` are its first HEAD_BYTES and its last TAIL_BYTES.
    """
    found = next((one for one in SIGNATURES if _fits(one, head)), None)
    if found is None:
        return ""
    if head.startswith(_ZIP):
        kinds = (kind for name, kind in _IN_A_ZIP if name in head or name in tail)
        return next(kinds, found.kind)
    return found.kind


def is_document(head: bytes) -> bool:
    """Whether it is of a kind that is no text even where all its bytes are ASCII."""
    return any(one.in_ascii and _fits(one, head) for one in SIGNATURES)


def _fits(one: Signature, head: bytes) -> bool:
    return all(head.startswith(magic, at) for at, magic in one.parts) and (not one.binary or b"\0" in head)
