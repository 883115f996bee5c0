"""Contents of S/MIME, as mail programs make them, but without certificates and signatures, which nothing looks at."""

from __future__ import annotations

import zlib

SIGNED, ENVELOPED, ENCRYPTED = (bytes.fromhex(f"2a864886f70d0107{kind}") for kind in ("02", "03", "06"))
COMPRESSED, AUTHENTICATED = (bytes.fromhex(f"2a864886f70d01091001{kind}") for kind in ("09", "17"))
_DATA = bytes.fromhex("2a864886f70d010701")
_VERSION, _ALGORITHMS, _NO_SIGNERS = b"\x02\x01\x01", b"\x31\x00", b"\x31\x00"
_ZLIB = b"\x30\x0d\x06\x0b" + bytes.fromhex("2a864886f70d0109100308")


def signed(content: bytes | None) -> bytes:
    """In DER; without a content it has certificates alone, or the signature of another part."""
    inside = value(0xA0, value(0x04, content)) if content is not None else b""
    return _info(SIGNED, _VERSION + _ALGORITHMS + value(0x30, value(0x06, _DATA) + inside) + _NO_SIGNERS)


def streamed(content: bytes, piece: int = 5) -> bytes:
    """In BER, with lengths that are not said and a content in pieces, as programs write that do not hold it whole."""
    pieces = b"".join(value(0x04, content[at : at + piece]) for at in range(0, len(content), piece))
    inside = open_value(0xA0, open_value(0x24, pieces))
    about = _VERSION + _ALGORITHMS + open_value(0x30, value(0x06, _DATA) + inside) + _NO_SIGNERS
    return open_value(0x30, value(0x06, SIGNED) + open_value(0xA0, open_value(0x30, about)))


def compressed(content: bytes) -> bytes:
    inside = value(0xA0, value(0x04, zlib.compress(content)))
    return _info(COMPRESSED, b"\x02\x01\x00" + _ZLIB + value(0x30, value(0x06, _DATA) + inside))


def encrypted(kind: bytes = ENVELOPED) -> bytes:
    return _info(kind, b"\x02\x01\x00" + value(0x31, b"") + value(0x30, value(0x06, _DATA) + value(0x80, b"secret")))


def value(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 + len(length)]) + length + content


def open_value(tag: int, content: bytes) -> bytes:
    return bytes([tag, 0x80]) + content + b"\0\0"


def _info(kind: bytes, about: bytes) -> bytes:
    return value(0x30, value(0x06, kind) + value(0xA0, value(0x30, about)))
