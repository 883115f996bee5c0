"""Packs several byte strings into one to exchange them with isolated processes."""

import struct
from collections.abc import Iterable, Iterator

LENGTHS = struct.Struct("!I")


def packed(parts: Iterable[bytes]) -> bytes:
    """Joins byte strings, each preceded by its length."""
    return b"".join(LENGTHS.pack(len(part)) + part for part in parts)


def unpacked(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        (size,) = LENGTHS.unpack_from(data, at)
        at += LENGTHS.size
        yield data[at : at + size]
        at += size
