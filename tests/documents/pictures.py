"""Pictures of printed lines, as a scanner makes them."""

import io
import struct
import zlib
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont


def page(lines: Sequence[str], *, width: int = 1_200, height: int = 400, mode: str = "L") -> Image.Image:
    """Black lines of 40 pixels on white, the first one's top left corner at 60, 60."""
    picture = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((60, 60 + number * 70), line, font=ImageFont.load_default(40), fill=0)
    return picture.convert(mode)


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def png_of_size(width: int, height: int) -> bytes:
    """A PNG file that says how large it is and has next to nothing in it."""
    header = struct.pack("!IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(bytes(1_000))), (b"IEND", b"")
    chunks = [
        struct.pack("!I", len(data)) + name + data + struct.pack("!I", zlib.crc32(name + data)) for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
