"""Logos of letterheads: which files are taken, and that reports contain a PNG that was written here."""

import io
import zlib

import pytest
from PIL import Image

from runs.documents.printing.logos import MAX_BYTES, logo
from runs.errors import InvalidInput

NO_PICTURE = "is no PNG or JPEG picture, or is damaged"


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (300, 100), **options: object) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, 1).save(file, kind, **options)
    return file.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)


def claiming(width: int, height: int) -> bytes:
    """A PNG of some bytes that says it is so large."""
    head = width.to_bytes(4) + height.to_bytes(4) + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        picture("PNG"),
        picture("PNG", "P"),
        picture("PNG", "I;16"),
        picture("JPEG"),
        picture("JPEG", "CMYK"),  # python-docx reads neither this nor a JPEG without the header of JFIF
        picture("JPEG", exif=Image.Exif()),
        picture("PNG", size=(4000, 20)),
    ],
)
def test_every_png_and_jpeg_becomes_a_small_png(data: bytes) -> None:
    with Image.open(io.BytesIO(logo(data))) as shown:
        assert (shown.format, shown.mode, shown.width <= 1_200, shown.height <= 600) == ("PNG", "RGBA", True, True)


def test_what_the_file_says_about_itself_is_not_published() -> None:
    about = Image.Exif()
    about[0x010E] = "taken at 1 High Street"
    data = picture("JPEG", exif=about) + b"<script>alert(1)</script>"
    assert (b"High Street" in data, b"High Street" in logo(data), b"script" in logo(data)) == (True, False, False)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", NO_PICTURE),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', NO_PICTURE),
        (picture("GIF"), NO_PICTURE),
        (b"\x89PNG\r\n\x1a\n" + b"garbage" * 50, NO_PICTURE),
        (picture("PNG")[:120], NO_PICTURE),
        (picture("JPEG")[:300], NO_PICTURE),
        (claiming(5_000, 5_000), "has more than 16 million pixels; make it smaller"),
        (claiming(100_000, 100_000), NO_PICTURE),  # what Pillow itself takes for a bomb
        (picture("PNG") + b"x" * MAX_BYTES, "is larger than 1 MB; make it smaller"),
    ],
)
def test_anything_else_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        logo(data)
    assert str(refused.value) == problem
