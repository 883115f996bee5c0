"""RTF as Outlook packs it in mails (MS-OXRTFCP): pieces of what came before, by their places in it."""

import struct

from runs.errors import InvalidInput

MAX_BYTES = 20_000_000
_HEADER = struct.Struct("<IIII")
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D
_WINDOW = 4_096
_BEGUN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans "
    rb"SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What each window begins with."""


def unpacked_rtf(data: bytes) -> bytes:
    if len(data) < _HEADER.size:
        raise InvalidInput("has a text that is damaged; open it and save it again")
    _, size, kind, _ = _HEADER.unpack_from(data)
    body = data[_HEADER.size :]
    if kind == _PLAIN:
        return body[:size]
    if kind != _PACKED or size > MAX_BYTES:
        raise InvalidInput("has a text that is damaged or too long; open it and save it again")
    return _unpacked(body, size)


def _unpacked(body: bytes, size: int) -> bytes:
    out = bytearray(_BEGUN)  # places count in it, so that no window is needed: it holds all that a window would
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
            if not back or back > len(out):  # the end
                return bytes(out[len(_BEGUN) :])
            for _ in range((token & 0xF) + 2):  # byte by byte, since a piece may go on into itself
                out.append(out[-back])
    return bytes(out[len(_BEGUN) : end])
