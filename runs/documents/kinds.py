"""What a content is that is no text, by the bytes that its kind begins with: for a sentence, not for a decision."""

HEAD_BYTES = 4_096
TAIL_BYTES = 65_536
"""How much of a content's beginning and end is looked at. A zip has the names of its parts at its end."""

_PICTURE = "is a picture, which cannot be read yet"
_ARCHIVE = "is an archive; unpack it and give the files in it"
_OLD_OFFICE = "is a file of an old Office format; save it as .docx, .xlsx or .pptx, or as text"
_SOUND = "is sound or film, which cannot be read"
_PROGRAM = "is a program"
_BEGINNINGS = (
    (b"%PDF-", "is a PDF file, which cannot be read yet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_OFFICE),
    *(
        (magic, _PICTURE)
        for magic in (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"BM", b"\0\0\1\0")
    ),
    *((magic, _ARCHIVE) for magic in (b"PK\3\4", b"PK\5\6", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")),
    *((magic, _ARCHIVE) for magic in (b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd")),
    *((magic, _SOUND) for magic in (b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3")),
    *((magic, _PROGRAM) for magic in (b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe")),
    (b"SQLite format 3\0", "is a database of SQLite, which cannot be read"),
)
_IN_A_ZIP = (
    (b"word/document", "is a Word file, which cannot be read yet"),
    (b"xl/workbook", "is an Excel file, which cannot be read yet"),
    (b"ppt/presentation", "is a PowerPoint file, which cannot be read yet"),
    (b"application/vnd.oasis.opendocument", "is an OpenDocument file, which cannot be read yet"),
    (b"application/epub+zip", "is an e-book (EPUB), which cannot be read yet"),
)
_IN_A_CONTAINER = ((b"RIFF", 8, b"WEBP", _PICTURE), (b"RIFF", 8, b"WAVE", _SOUND), (b"", 4, b"ftyp", _SOUND))


def kind_of(head: bytes, tail: bytes = b"") -> str:
    """A clause behind the file's name, such as "is a PDF file, which cannot be read yet"; empty if nothing is known.

    `head` and `tail` are its first HEAD_BYTES and its last TAIL_BYTES.
    """
    for start, offset, magic, clause in _IN_A_CONTAINER:
        if head.startswith(start) and head[offset : offset + 4] == magic:
            return clause
    found = next((clause for magic, clause in _BEGINNINGS if head.startswith(magic)), "")
    if found is _ARCHIVE and head.startswith(b"PK"):
        return next((clause for name, clause in _IN_A_ZIP if name in head or name in tail), found)
    return found
