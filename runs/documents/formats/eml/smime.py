"""Opens S/MIME (CMS): returns the content of signed and compressed data, and recognises encrypted data. Signatures are
not verified.

Only the path to the content is parsed, in linear time: asn1crypto takes half a minute for 3 MB in pieces of one byte.
"""

import re
import zlib
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from runs.errors import InvalidInput

MAX_BYTES = 100_000_000
"""Of a compressed content after unpacking."""
MEDIA_TYPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
SUFFIX = ".p7m"
_MIME = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)*?content-type:", re.IGNORECASE)
_MIME_BYTES = 10_000  # of a content that are searched for a header
_PKCS_7, _PKCS_9 = bytes.fromhex("2a864886f70d0107"), bytes.fromhex("2a864886f70d01091001")
_SIGNED, _COMPRESSED = _PKCS_7 + b"\2", _PKCS_9 + b"\x09"
_ENCRYPTED = frozenset({_PKCS_7 + b"\3", _PKCS_7 + b"\4", _PKCS_7 + b"\6", _PKCS_9 + b"\x17"})
_OBJECT_ID, _OCTETS, _OCTETS_IN_PIECES, _SEQUENCE, _CONTENT = 0x06, 0x04, 0x24, 0x30, 0xA0
_INDEFINITE = 0x80  # the length octet of values that end at two zero bytes


class SmimeKind(StrEnum):
    SIGNED = "signed"
    COMPRESSED = "compressed"
    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"
    """Damaged, or of a kind that cannot be read."""


class SmimeContent(NamedTuple):
    """`content` is empty if it cannot be read. Signed data may consist of certificates only."""

    kind: SmimeKind
    content: bytes = b""


def open_content(data: bytes) -> SmimeContent:
    """Returns what is inside the data. Raises InvalidInput if it unpacks to too much."""
    try:
        kind, inside = _content_info(data)
        if kind in _ENCRYPTED:
            return SmimeContent(SmimeKind.ENCRYPTED)
        if kind == _SIGNED:
            return SmimeContent(SmimeKind.SIGNED, _encapsulated_content(data, inside))
        if kind == _COMPRESSED:
            packed_data = _encapsulated_content(data, inside)
            unpacking = zlib.decompressobj()
            content = unpacking.decompress(packed_data, MAX_BYTES)
            if unpacking.unconsumed_tail:
                raise InvalidInput(f"unpacks to more than {MAX_BYTES // 1_000_000} MB")
            return SmimeContent(SmimeKind.COMPRESSED, content)
    except (ValueError, IndexError, StopIteration, zlib.error):
        pass
    return SmimeContent(SmimeKind.UNREADABLE)


class _Element(NamedTuple):
    """A BER value: its tag, the range of its contents, and the start of the next value."""

    tag: int
    start: int
    end: int
    following: int


def _content_info(data: bytes) -> tuple[bytes, _Element]:
    """Returns the identifier and the content element of a ContentInfo."""
    parts = _elements_in(data, _expect(_element(data, 0), _SEQUENCE))
    kind = _expect(next(parts), _OBJECT_ID)
    return data[kind.start : kind.end], next(_elements_in(data, _expect(next(parts), _CONTENT)))


def _encapsulated_content(data: bytes, about: _Element) -> bytes:
    """Returns the content of SignedData or CompressedData, which is its third part, or nothing if it is detached."""
    parts = _elements_in(data, _expect(about, _SEQUENCE))
    next(parts), next(parts)
    _, *contents = _elements_in(data, _expect(next(parts), _SEQUENCE))
    return _octets(data, next(_elements_in(data, _expect(contents[0], _CONTENT)))) if contents else b""


def _octets(data: bytes, one: _Element) -> bytes:
    """Returns a byte string, which may consist of nested pieces."""
    if one.tag == _OCTETS:
        return data[one.start : one.end]
    at, pieces = _expect(one, _OCTETS_IN_PIECES).start, list[bytes]()
    while at < one.end:
        tag, start, size = _header(data, at)
        if tag == _OCTETS:
            pieces.append(data[start : start + size])
        elif tag not in {_OCTETS_IN_PIECES, 0}:
            raise ValueError("no piece of a string")
        at = start + size if tag == _OCTETS else start
    return b"".join(pieces)


def _elements_in(data: bytes, outer: _Element) -> Iterator[_Element]:
    at = outer.start
    while at < outer.end and data[at : at + 2] != b"\0\0":
        one = _element(data, at)
        yield one
        at = one.following


def _element(data: bytes, at: int) -> _Element:
    tag, start, size = _header(data, at)
    if size >= 0:
        if start + size > len(data):
            raise ValueError("cut off")
        return _Element(tag, start, start + size, start + size)
    depth, at = 1, start  # of indefinite length: ends at two zero bytes
    while depth:
        inner, begin, size = _header(data, at)
        depth += (size < 0) - (inner == 0 and size == 0)
        end, at = at, begin + max(size, 0)
    return _Element(tag, start, end, at)


def _header(data: bytes, at: int) -> tuple[int, int, int]:
    """Returns the tag, the start of the contents and their length, or -1 for an indefinite length."""
    tag, size, start = data[at], data[at + 1], at + 2
    if tag & 0x1F == 0x1F:
        raise ValueError("a tag of several bytes")
    if size == _INDEFINITE:
        return tag, start, -1
    if size > _INDEFINITE:
        start, count = start + (size & 0x7F), size & 0x7F
        size = int.from_bytes(data[start - count : start])
    return tag, start, size


def _expect(one: _Element, tag: int) -> _Element:
    if one.tag != tag:
        raise ValueError("another kind of value")
    return one


def is_mime(content: bytes) -> bool:
    """Whether it is a mail part with a header, not a document by itself."""
    return _MIME.match(content[:_MIME_BYTES]) is not None


def unchecked(name: str) -> str:
    """Returns a caution about a document from inside signed data."""
    return f"{name} was taken out of a signed file, whose signature was not checked."


def name_inside(name: str) -> str:
    """Returns the document's name without the suffix of signed files, or an empty string for `smime.p7m`."""
    stem = name[: -len(SUFFIX)] if name.lower().endswith(SUFFIX) else ""
    return stem if "." in stem.strip(".") else ""
