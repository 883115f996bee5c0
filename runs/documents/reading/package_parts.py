"""Reads the XML parts of zip files, as in Word, PowerPoint, Excel, OpenDocument and e-book files.

Sizes are limited, and nothing that the XML refers to is loaded.
"""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol, cast, overload
from urllib.parse import unquote

from lxml import etree

from runs.errors import InvalidInput

MAX_PARTS = 5_000
MAX_PART_BYTES = 64 * 1024 * 1024  # unpacked
MAX_BYTES = 256 * 1024 * 1024
"""Of all parts that are read. Unpacked bytes are counted, because the sizes that a zip states may be wrong."""
MAX_MARKUP = 6_000_000
"""Tags of one part plus twice its attributes; a tree takes some 80 bytes for each. A contract of sixty pages has a
hundred thousand, a book of a thousand pages three million.
"""
MAX_DEPTH = 40
"""Nesting that readers follow by recursion. The limit of libxml2 is 256."""
_PIECE = 1 << 18
_ENCRYPTED = 0x1  # a flag of zip entries
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DOCTYPES = tuple("<!DOCTYPE".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))
_STRICT = re.compile(rb"""(=\s*["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OSError, OverflowError, LookupError, struct.error),
)
"""Raised by zipfile on damaged files, as found by fuzzing."""
_DAMAGED = "is damaged; open it with the program that made it and save it again"
NEEDS_PASSWORD = "needs a password; save it without one"  # noqa: S105


class Element(Protocol):
    """The interface of an lxml element that readers use. Its children are elements only, without comments."""

    tag: str
    text: str | None
    tail: str | None

    @overload
    def get(self, key: str) -> str | None: ...
    @overload
    def get(self, key: str, default: str) -> str: ...
    def find(self, path: str) -> "Element | None": ...
    def findall(self, path: str) -> "Sequence[Element]": ...
    def iter(self, *tags: str) -> "Iterator[Element]": ...
    def __iter__(self) -> "Iterator[Element]": ...
    def __len__(self) -> int: ...


class Relation(NamedTuple):
    """A reference of a part. `kind` is the last word of the relation's type, `target` the name of a part."""

    id: str
    kind: str
    target: str


class Package:
    """The parts of a zip file by name, ignoring case.

    All methods raise InvalidInput with a clause that continues the file's name.
    """

    def __init__(self, data: bytes, max_bytes: int | None = None) -> None:
        if data.startswith(_OLE):
            raise InvalidInput(_why_no_zip(data))
        if data.count(b"PK\1\2") > MAX_PARTS:  # before zipfile creates an object for each
            raise InvalidInput(f"has more than {MAX_PARTS:,} parts, as no document has")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except _BROKEN as error:
            raise InvalidInput(_DAMAGED) from error
        self._left = MAX_BYTES if max_bytes is None else max_bytes
        self._infos = {info.filename.lstrip("/").casefold(): info for info in infos}

    @cached_property
    def names(self) -> Sequence[str]:
        return [info.filename.lstrip("/") for info in self._infos.values()]

    def __contains__(self, name: str) -> bool:
        return name.lstrip("/").casefold() in self._infos

    def pieces(self, name: str, max_bytes: int = MAX_PART_BYTES) -> Iterator[bytes]:
        """Yields the bytes of a part piece by piece, or nothing if there is no such part."""
        info = self._infos.get(name.lstrip("/").casefold())
        if info is None:
            return
        if info.flag_bits & _ENCRYPTED:
            raise InvalidInput(NEEDS_PASSWORD)
        if info.compress_type not in _METHODS:
            raise InvalidInput("is packed in a way that no such document is; save it again")
        left = min(max_bytes, self._left)
        try:
            with self._zip.open(info) as part:
                while piece := part.read(_PIECE):
                    left -= len(piece)
                    self._left -= len(piece)
                    if left < 0:
                        raise InvalidInput(f"unpacks to more than {_megabytes(max_bytes)}; split it")
                    yield piece
        except _BROKEN as error:
            raise InvalidInput(_DAMAGED) from error

    def read(self, name: str, max_bytes: int = MAX_PART_BYTES) -> bytes | None:
        """Returns all bytes of a part, or None if there is no such part."""
        return b"".join(self.pieces(name, max_bytes)) if name in self else None

    def xml(self, name: str) -> Element | None:
        """Returns the root element of a part, or None if there is no such part."""
        data = self.read(name)
        return None if data is None else parsed(data)

    def relations(self, name: str = "") -> Sequence[Relation]:
        """Returns the relations of a part, or of the whole file if no name is given. External
        addresses are left out.
        """
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: list[Relation] = []
        for one in root if root is not None else ():
            # Parts outside the file, such as web pages, have no name in it.
            written = one.get("Target", "")
            path = posixpath.normpath(posixpath.join("/", folder, unquote(written)))
            target = path.lstrip("/") if written and "://" not in written else ""
            if target and one.get("TargetMode", "").casefold() != "external":
                found.append(Relation(one.get("Id", ""), one.get("Type", "").rpartition("/")[2], target))
        return found


def parsed(data: bytes) -> Element:
    """Parses XML and returns its root. Namespaces of Strict Office Open XML are replaced by the usual ones.

    Raises InvalidInput for a document type, which could define entities, and for more than MAX_MARKUP.
    """
    if any(mark in data for mark in _DOCTYPES):
        raise InvalidInput("has a document type or entities in it, which no such file needs; save it again")
    if data.count(b"<") + 2 * data.count(b"=") > MAX_MARKUP:
        raise InvalidInput(f"has more than {MAX_MARKUP:,} XML tags and attributes in one part; split it")
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(_STRICT.sub(rb"\1http://schemas.openxmlformats.org/\2/2006/", data), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        deep = "depth" in str(error)
        raise InvalidInput("is nested deeper than any document" if deep else _DAMAGED) from error
    if root.getroottree().docinfo.doctype:
        raise InvalidInput("has a document type in it, which no such file needs; save it again")
    return cast("Element", root)


def whole_number(text: str | None, default: int = 0, *, low: int = 0, high: int = 1_000_000) -> int:
    """Parses a whole number from an attribute. Returns `default` for anything else and for numbers out of bounds."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return default
    return min(max(int(text), low), high)


def _why_no_zip(data: bytes) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return NEEDS_PASSWORD
    return "is a file of an old Office format; save it as .docx, .xlsx or .pptx"


def _megabytes(size: int) -> str:
    return f"{size // (1024 * 1024):,} MB"
