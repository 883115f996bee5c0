"""Static files: names with the hash of their content, which browsers keep for a year, and texts compressed once.

No step prepares them: a name is hashed when a page first names it, and a file is compressed when it is first requested.
JavaScript modules import each other by plain names (`./words.js`); the file that is sent names the hashed ones.
"""

import gzip
import hashlib
import mimetypes
import posixpath
import re
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.staticfiles.finders import find
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

_HASHED = re.compile(r"^(?P<stem>.+)\.(?P<digest>[0-9a-f]{16})(?P<suffix>\.[^./]+)$")
_MIN_COMPRESSED = 500
"""Bytes: a smaller file fits into one packet as it is."""
_IMPORT = re.compile(rb'^((?:import\b|\}) [^"\n]*|import )"(\.{1,2}/[^"\n]+\.js)";$', re.MULTILINE)
"""An import of another of our modules, in the form that the formatter gives it."""
_TEXTS = ("text/", "application/javascript", "application/json", "image/svg+xml")
FOR_EVER = "public, max-age=31536000, immutable"
ASK_FIRST = "public, no-cache"


class File(NamedTuple):
    """`gzipped` is empty if compressing is not worth it; `digest` has the first 16 digits of the SHA-256."""

    content: bytes
    gzipped: bytes
    digest: str
    kind: str
    imports: tuple[str, ...] = ()


class HashedNames(StaticFilesStorage):
    """The storage behind `{% static %}`. Addresses change with the content, so a browser never has to ask again."""

    def url(self, name: str | None) -> str:
        return super().url(hashed(name) if name else name)


def hashed(name: str) -> str:
    """The name with its hash: `css/base.css` as `css/base.0123456789abcdef.css`. A missing file keeps its name."""
    file = file_of(name)
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}.{file.digest}.{suffix}" if file and dot and "/" not in suffix else name


class StaticFiles(ASGIStaticFilesHandler):
    """Static files, and 404 for everything else below their address."""

    def serve(self, request: HttpRequest) -> HttpResponse:
        """Raises Http404 also for paths that lead outside or cannot be paths; Django would answer with 500."""
        try:
            path = self.file_path(request.path)
            named = _HASHED.match(path)
            file = file_of(f"{named['stem']}{named['suffix']}") if named else None
            file, is_hashed = (file, True) if file else (file_of(path), False)
        except (SuspiciousOperation, ValueError, OSError) as error:
            raise Http404 from error
        if file is None:
            raise Http404
        # A page of another version asks for another content: it gets this one, but does not keep it under that name.
        keeps = is_hashed and named is not None and named["digest"] == file.digest
        return _answer(request, file, FOR_EVER if keeps else ASK_FIRST)


def _answer(request: HttpRequest, file: File, cache_control: str) -> HttpResponse:
    can_unzip = bool(re.search(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", request.headers.get("Accept-Encoding", "")))
    zipped = can_unzip and bool(file.gzipped)
    etag = f'"{file.digest}{"-gzip" if zipped else ""}"'
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if etag in known or "*" in known:
        response = HttpResponse(status=HTTPStatus.NOT_MODIFIED)
        del response.headers["Content-Type"]
    else:
        response = HttpResponse(file.gzipped if zipped else file.content, content_type=file.kind)
        if zipped:
            response.headers["Content-Encoding"] = "gzip"
    response.headers["ETag"], response.headers["Cache-Control"] = etag, cache_control
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


def file_of(name: str) -> File | None:
    """The file of this name as it is on the disk, or None. Raises an error for a name that leads elsewhere.

    Imports in modules of ours name the hashed files, so the hash of a module changes with the modules that it imports.
    """
    place = _path_of(name) if not settings.DEBUG else find(name)
    if place is None:
        return None
    state = Path(place).stat()
    file = _read(place, state.st_mtime_ns, state.st_size)
    if not (name.startswith("js/") and file.imports):
        return file
    above = posixpath.dirname(name)
    imported = (hashed(posixpath.normpath(posixpath.join(above, path))) for path in file.imports)
    return _name_imports(file, tuple(posixpath.relpath(path, above) for path in imported))


@lru_cache(maxsize=1_000)
def _path_of(name: str) -> str | None:
    found = find(name)
    return found if found and Path(found).is_file() else None


@lru_cache(maxsize=1_000)
def _read(place: str, changed: int, size: int) -> File:
    """Kept as long as the file does not change. There are some hundred files of a few megabytes together."""
    kind = mimetypes.guess_type(place)[0] or "application/octet-stream"
    return _file(Path(place).read_bytes(), kind + ("; charset=utf-8" if kind.startswith(_TEXTS) else ""))


@lru_cache(maxsize=1_000)
def _name_imports(file: File, names: tuple[str, ...]) -> File:
    """The module with these names of the modules that it imports."""
    left = iter(names)
    content = _IMPORT.sub(lambda match: match[1] + b'"./' + next(left).encode() + b'";', file.content)
    return _file(content, file.kind)


def _file(content: bytes, kind: str) -> File:
    gzipped = b""
    if kind.startswith(_TEXTS) and len(content) >= _MIN_COMPRESSED:
        gzipped = gzip.compress(content, 9, mtime=0)
    smaller = gzipped if len(gzipped) < len(content) else b""
    imports = tuple(match[2].decode() for match in _IMPORT.finditer(content))
    return File(content, smaller, hashlib.sha256(content).hexdigest()[:16], kind, imports)
