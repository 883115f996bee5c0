"""Pictures that were given, as pages to be shown: one form that browsers know, and no larger than a screen needs."""

import io
import json
from itertools import islice

from PIL import ExifTags, Image

from runs.documents.formats.image.reader import FORMATS, pages_of
from runs.documents.packed_parts import packed
from runs.errors import InvalidInput

MAX_SIDE = 2_400
MAX_SIDE_FOR_MODELS = 2_000
MAX_BYTES_FOR_MODELS = 3_700_000
"""Claude takes 5 MB of a picture in base64, and 2,000 pixels a side where a request has more than twenty."""
_TAKEN = frozenset({"png", "jpeg", "webp"})
THUMBNAIL = 240
_QUALITY = 80


def picture(data: bytes, *, page: int, dpi: int = 0) -> bytes:
    """A page as WebP, behind JSON with its `width` and `height` in pixels, packed. `dpi` is that of PDF files."""
    image = _page(data, page)
    size = {"width": image.width, "height": image.height}
    return packed((json.dumps(size).encode(), _webp(image, MAX_SIDE)))


def thumbnail(data: bytes) -> bytes:
    """The first page as a small picture (WebP)."""
    return _webp(_page(data, 1), THUMBNAIL)


def for_models(data: bytes, *, page: int) -> bytes:
    """A page as models take pictures, behind its media type, packed: as it is, or else as a WebP."""
    kind = _kind_as_it_is(data) if page == 1 else ""
    if kind:
        return packed((f"image/{kind}".encode(), data))
    return packed((b"image/webp", _webp(_page(data, page), MAX_SIDE_FOR_MODELS)))


def _kind_as_it_is(data: bytes) -> str:
    """The last part of its media type; empty for a picture that has to be made smaller, upright or another one."""
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
    """On white where it is transparent."""
    if image.has_transparency_data:
        white = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(white, image.convert("RGBA"))
    small = image.convert("RGB")
    small.thumbnail((side, side))
    file = io.BytesIO()
    small.save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()
