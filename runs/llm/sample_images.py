"""Two tiny pictures and a tiny PDF file, for the questions that show whether a model sees such things."""

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

_SIDE = 64
_YELLOW, _BLACK = b"\xff\xff\x00", b"\x00\x00\x00"
COLOURS = ("yellow", "black")
"""Not those that come to mind first: a model that sees nothing may guess."""
WORD = "heliotrope"


def pictures() -> Sequence[dict[str, Any]]:
    """Blocks of a question, each a picture in one of COLOURS."""
    return [_block("image", "image/png", _png(pixel)) for pixel in (_YELLOW, _BLACK)]


def document() -> Sequence[dict[str, Any]]:
    """A block of a question: a PDF file of one page that says WORD."""
    return [_block("document", "application/pdf", _pdf(f"The word is {WORD}."))]


def _block(kind: str, media_type: str, data: bytes) -> dict[str, Any]:
    return {
        "type": kind,
        "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()},
    }


def _png(pixel: bytes) -> bytes:
    header = struct.pack("!IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + pixel * _SIDE) * _SIDE)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    parts = [
        struct.pack("!I", len(data)) + name + data + struct.pack("!I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _pdf(words: str) -> bytes:
    content = f"BT /F 24 Tf 20 80 Td ({words}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
    )
    file, offsets = "%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF\n"
    return f"{file}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()
