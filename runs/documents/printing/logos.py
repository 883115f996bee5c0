"""Checks the logo of a letterhead, and makes of it the picture that reports show."""

from __future__ import annotations

import io

from PIL import Image, ImageOps

from runs.errors import InvalidInput

MAX_BYTES = 1_000_000
MAX_PIXELS = 16_000_000
"""Pixels of a picture that is decoded, which takes 64 MB."""
_WIDTH, _HEIGHT = 1_200, 600
"""Pixels of the picture in reports, which show it smaller than 60 mm."""


def logo(data: bytes) -> bytes:
    """Returns a PNG of this PNG or JPEG file, without its metadata. Raises InvalidInput with a clause.

    A file that reports contain is one that was written here: neither Word nor typst reads every JPEG.
    """
    if len(data) > MAX_BYTES:
        raise InvalidInput("is larger than 1 MB; make it smaller")
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise InvalidInput(f"has more than {MAX_PIXELS // 1_000_000} million pixels; make it smaller")
            shown = ImageOps.exif_transpose(picture).convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InvalidInput("is no PNG or JPEG picture, or is damaged") from error
    shown.thumbnail((_WIDTH, _HEIGHT))
    written = io.BytesIO()
    shown.save(written, "PNG")
    return written.getvalue()
