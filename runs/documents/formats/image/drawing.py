"""Converts pictures to pages that can be shown: in a format that browsers know, and no larger than a screen needs."""

import io
import json
from itertools import islice

from PIL import ExifTags, Image

from runs.documents.formats.image.image_reader import FORMATS, pages_of
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput

MAX_SIDE = 2_400  # pixels of a page that is shown to people
MAX_SIDE_FOR_MODELS = 2_000
MAX_BYTES_FOR_MODELS = 3_700_000
"""Claude accepts 5 MB per picture in base64, and 2,000 pixels per side in requests with more than twenty pictures."""
_TAKEN = frozenset({"png", "jpeg", "webp"})
THUMBNAIL = 240  # pixels of its longer side
_QUALITY = 80  # of WebP, from 0 to 100


def picture(data: bytes, *, page: int, dpi: int = 0) -> bytes:
    """Returns JSON with `width` and `height` in pixels and the page as WebP, packed. `dpi` is used
    for PDF files only.
    """
    image = _page(data, page)
    size = {"width": image.width, "height": image.height}
    return packed((json.dumps(size).encode(), _webp(image, MAX_SIDE)))


def thumbnail(data: bytes) -> bytes:
    """Returns the first page as a small picture (WebP)."""
    return _webp(_page(data, 1), THUMBNAIL)


def for_models(data: bytes, *, page: int) -> bytes:
    """Returns a page as models accept it: its media type and the picture, packed; unchanged if possible, otherwise as
    WebP.
    """
    kind = _kind_as_it_is(data) if page == 1 else ""
    if kind:
        return packed((f"image/{kind}".encode(), data))
    return packed((b"image/webp", _webp(_page(data, page), MAX_SIDE_FOR_MODELS)))


def _kind_as_it_is(data: bytes) -> str:
    """Returns the subtype of the picture's media type, or an empty string if it must be scaled, turned or converted."""
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        is_still = getattr(picture, "n_frames", 1) == 1 and picture.getexif().get(ExifTags.Base.Orientation, 1) == 1
        fits = len(data) <= MAX_BYTES_FOR_MODELS and max(picture.size) <= MAX_SIDE_FOR_MODELS
        kind = (picture.format or "").lower()
    return kind if is_still and fits and kind in _TAKEN else ""


def _page(data: bytes, number: int) -> Image.Image:
    found = next(islice(pages_of(data), max(number - 1, 0), number), None)
    if found is None or number < 1:
        raise InvalidInput(f"has no page {number}")
    return found


def _webp(image: Image.Image, side: int) -> bytes:
    """Converts to WebP, with a white background if the picture is transparent."""
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    small = image.convert("RGB")
    small.thumbnail((side, side))
    file = io.BytesIO()
    small.save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()
