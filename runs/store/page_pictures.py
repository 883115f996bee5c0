"""Pictures of pages of documents, and the places of words on them: drawn in isolated processes, and cached.

Everything can be drawn again at any time, so it is not a part of the store of files.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, cast

from django.core.files.base import ContentFile
from django.core.files.storage import storages

from runs import isolation
from runs.documents.document_format import LIMITS
from runs.documents.formats import FORMATS
from runs.documents.packed_parts import LENGTHS, unpacked
from runs.errors import InvalidInput
from runs.isolation import ChildFailed, Interrupted, NoTurn
from runs.store import blobs
from runs.store.blobs import BlobStorage

log = logging.getLogger(__name__)
DPI = 110
"""High enough to read fine print; a page then has about 150 kB."""
KEPT_SECONDS = 7 * 24 * 3_600
"""How long pictures are cached, about 150 kB for each page that someone has looked at."""
FAILED_SECONDS = 3_600
"""How long a failure is cached. A hostile file must not be drawn again with every list that shows it; a file that only
took too long on a busy machine gets another try.
"""
_NOT_DRAWN = "has a page that cannot be drawn"
_DRAWING = {form.shown_to_models: form.drawing for form in FORMATS.values() if form.shown_to_models}


class Rectangle(NamedTuple):
    """A place on a page, as fractions of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float


class PagePicture(NamedTuple):
    """A page as WebP. `width` and `height` are in points, or in pixels if the file is a picture."""

    width: float
    height: float
    webp: bytes


def picture(sha256: str, form: str, page: int) -> PagePicture:
    """The picture of a page, counted from 1. Raises InvalidInput for a missing page, ChildFailed, FileNotFoundError."""
    header, webp = unpacked(_draw(f"{FORMATS[form].drawing}.picture", sha256, page=page, dpi=DPI))
    size = json.loads(header)
    return PagePicture(float(size["width"]), float(size["height"]), webp)


def thumbnail(sha256: str, form: str) -> bytes:
    """The first page as a small WebP. Raises like `picture`."""
    return _draw(f"{FORMATS[form].drawing}.thumbnail", sha256)


def rectangles(sha256: str, form: str, page: int, start: int, end: int) -> Sequence[Rectangle]:
    """Where characters are on a page. Offsets count from its beginning. Raises like `picture`.

    Only for formats with `has_places`.
    """
    function = f"{FORMATS[form].drawing}.places"
    data = partial(blobs.read, sha256)
    found = json.loads(isolation.run(function, data, LIMITS, page=page, spans=f"{start}-{end}"))
    return [Rectangle(*map(float, one)) for one in found[0]]


def cut(sha256: str, first: int, last: int) -> bytes:
    """Some pages of a PDF as a PDF, always with the same bytes, so that prompts are cached. Raises like `picture`."""
    return _draw(f"{_DRAWING['pdf']}.extract_pages", sha256, first=first, last=last)


def for_models(sha256: str, page: int) -> tuple[str, bytes]:
    """The media type and the bytes of a page of a picture, as models accept it. Raises like `picture`."""
    media_type, data = unpacked(_draw(f"{_DRAWING['picture']}.for_models", sha256, page=page))
    return media_type.decode(), data


def _draw(function: str, sha256: str, **options: int | str) -> bytes:
    """The result of the function for this content, cached per version of its engine."""
    made_by = [function, LENGTHS.format, version("pypdfium2"), version("pillow"), *map(str, options.values())]
    try:
        return cached_or_drawn(
            sha256, made_by, lambda: isolation.run(function, partial(blobs.read, sha256), LIMITS, **options)
        )
    except InvalidInput as error:
        raise InvalidInput(_NOT_DRAWN) from error


def cached_or_drawn(sha256: str, made_by: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """The cached picture that these engines made of a content, or what `make` draws now.

    Raises InvalidInput with the reason if it cannot be drawn, which is cached too; NoTurn and Interrupted if it may be
    tried again.
    """
    store, name = _store(), _name(sha256, made_by)
    known = cached(sha256, made_by)
    if known is not None:
        return known
    try:
        made = make()
    except (NoTurn, Interrupted):
        raise
    except (InvalidInput, ChildFailed) as error:
        log.info("no picture of %s: %s", sha256, error)
        failed = Path(store.path(f"{name}-failed"))
        failed.parent.mkdir(parents=True, exist_ok=True)
        failed.write_text(str(error))
        raise InvalidInput(str(error)) from error
    store.save(name, ContentFile(made))
    return made


def cached(sha256: str, made_by: Sequence[str]) -> bytes | None:
    """The cached result, or None; does not draw. Raises InvalidInput like `cached_or_drawn`."""
    store, name = _store(), _name(sha256, made_by)
    if store.touch(name):
        with store.open(name) as file:
            return bytes(file.read())
    failed = Path(store.path(f"{name}-failed"))
    if failed.exists() and time.time() - failed.stat().st_mtime < FAILED_SECONDS:
        raise InvalidInput(failed.read_text())
    return None


def _name(sha256: str, made_by: Sequence[str]) -> str:
    return f"{sha256}/{hashlib.sha256(repr(list(made_by)).encode()).hexdigest()}"


def forget(sha256: str) -> None:
    """Delete everything that was drawn of a content."""
    shutil.rmtree(_store().path(sha256), ignore_errors=True)


def sweep() -> None:
    """Delete pictures that were not requested for `KEPT_SECONDS`."""
    oldest = time.time() - KEPT_SECONDS
    for folder in Path(_store().location).glob("*"):
        if all(file.stat().st_mtime < oldest for file in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def _store() -> BlobStorage:
    return cast("BlobStorage", storages["pages"])
