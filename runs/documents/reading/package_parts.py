"""The zip files of XML parts that Word, PowerPoint, Excel, OpenDocument and e-book files are: read part by part,
bounded, and without anything that XML may refer to.
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
MAX_PART_BYTES = 64 * 1024 * 1024
MAX_BYTES = 256 * 1024 * 1024
"""Of all parts that are read. Bytes are counted as they are unpacked: what a zip says of sizes may be untrue."""
MAX_MARKUP = 6_000_000
"""Tags of one part, and twice its attributes: a tree takes some 80 bytes for each. A contract of sixty pages has a
hundred thousand, a book of a thousand three million.
"""
MAX_DEPTH = 40
"""Of what readers go down into by themselves; libxml2 ends at 256."""
_PIECE = 1 << 18
_ENCRYPTED = 0x1
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DOCTYPES = tuple("<!DOCTYPE".encode(codec) for codec in ("ascii", "utf-16-le", "utf-16-be"))
_STRICT = re.compile(rb"""(=\s*["'])http://purl\.oclc\.org/ooxml/(\w+)/""")
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}")
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError),
    *(ValueError, OSError, OverflowError, LookupError, struct.error),
)
"""What zipfile raises on damaged files, by trial with changed bytes."""
_DAMAGED = "is damaged; open it with the program that made it and save it again"
NEEDS_PASSWORD = "needs a password; save it without one"  # noqa: S105


class Element(Protocol):
    """What readers use of an element of lxml. Its children are elements only: comments are left out."""

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
    """What a part refers to: `kind` is the last word of the relation's type, `target` the name of a part."""

    id: str
    kind: str
    target: str


class Package:
    """The parts of a zip file by their names, in which capitals make no difference.

    Everything here raises InvalidInput with a clause behind the file's name.
    """

    def __init__(self, data: bytes, max_bytes: int | None = None) -> None:
        if data.startswith(_OLE):
            raise InvalidInput(_why_no_zip(data))
        if data.count(b"PK\1\2") > MAX_PARTS:  # before zipfile makes an object of each
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
        """The bytes of a part, piece by piece; nothing if there is no such part."""
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
        """All of a part; None if there is no such part."""
        return b"".join(self.pieces(name, max_bytes)) if name in self else None

    def xml(self, name: str) -> Element | None:
        """The root of a part; None if there is no such part."""
        data = self.read(name)
        return None if data is None else parsed(data)

    def relations(self, name: str = "") -> Sequence[Relation]:
        """What a part refers to inside the file; the file itself, without a name. Addresses outside are left out."""
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: list[Relation] = []
        for one in root if root is not None else ():
            target = _target(folder, one.get("Target", ""))
            if target and one.get("TargetMode", "").casefold() != "external":
                found.append(Relation(one.get("Id", ""), one.get("Type", "").rpartition("/")[2], target))
        return found


def parsed(data: bytes) -> Element:
    """The root of an XML text, with the namespaces of Strict Office Open XML replaced by the usual ones.

    Refused: document types, whatever is in them, since entities are made there; and more than MAX_MARKUP.
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
    """The number in an attribute, between two bounds: whatever else stands there is `default`."""
    if text is None or not _NUMBER.fullmatch(text.strip()):
        return default
    return min(max(int(text), low), high)


def _target(folder: str, target: str) -> str:
    """The name of a part that a relation leads to; empty where that lies outside the file."""
    path = posixpath.normpath(posixpath.join("/", folder, unquote(target)))
    return path.lstrip("/") if target and "://" not in target else ""


def _why_no_zip(data: bytes) -> str:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return NEEDS_PASSWORD
    return "is a file of an old Office format; save it as .docx, .xlsx or .pptx"


def _megabytes(size: int) -> str:
    return f"{size // (1024 * 1024):,} MB"
