"""The archive of a run: the files it made or changed, and its report, as one zip that is streamed."""

from __future__ import annotations

import hashlib
import re
import stat
import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import RawIOBase
from typing import TYPE_CHECKING

from django.utils import timezone

from runs import trees
from runs.errors import PathRefused
from runs.models import Run
from runs.pev.files.paths import clashes, clean_path
from runs.reading.files import written_files
from runs.reports.markdown import as_markdown

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')


class _Outlet(RawIOBase):
    """What `zipfile` writes to: it keeps nothing but what has not been fetched yet."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def fetched(self) -> bytes:
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data


def stream(run: Run) -> Iterator[bytes]:
    """The bytes of the zip. What is read from the database is read before the first byte is given out."""
    made = [(path, info.sha256) for path, info in written_files(run, run.head).items()]
    return _zipped(made, as_markdown(run), run.finished_at or timezone.now())


def _zipped(files: list[tuple[str, str]], report: str, at: datetime) -> Iterator[bytes]:
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, sha256 in files:
            with archive.open(_entry(entry_name(path), at), "w", force_zip64=True) as target:
                for piece in trees.pieces_of(sha256):
                    target.write(piece)
                    yield outlet.fetched()
        archive.writestr(_entry(report_name([entry_name(path) for path, _ in files]), at), report)
        yield outlet.fetched()
    yield outlet.fetched()


def entry_name(path: str) -> str:
    """The path as every system can unpack it, below the folder that it is unpacked in, and nowhere else.

    What Windows cannot store becomes `_`, and so does the dot of `.git`: paths of runs from before it was refused may
    have one. A part that was changed ends in a piece of its hash, so that no two become one.
    """
    digest, parts = hashlib.sha256(), []
    for part in path.split("/"):
        digest.update(f"/{part}".encode("utf-8", "surrogatepass"))
        parts.append(_safe(part, digest.hexdigest()[:8]))
    return "/".join(parts)


def _safe(part: str, mark: str) -> str:
    if _is_safe(part):
        return part
    name = _NOT_ON_WINDOWS.sub("_", "".join(char for char in part if char.isprintable())).rstrip(". ")
    name = name if _is_safe(name) else f"_{name.lstrip('.')}"
    stem, dot, ending = name.rpartition(".")
    return f"{stem}-{mark}.{ending}" if dot and stem else f"{name}-{mark}"


def _is_safe(name: str) -> bool:
    try:
        return clean_path(f"x/{name}") == f"x/{name}" and not _NOT_ON_WINDOWS.search(name)
    except PathRefused:
        return False


def report_name(paths: list[str]) -> str:
    """`report.md`, or another name when the run made a file that is called so."""
    name, number = "report.md", 1
    while any(name in pair for pair in clashes([*paths, name])):
        number += 1
        name = f"report-{number}.md"
    return name


def _entry(path: str, at: datetime) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, date_time=timezone.localtime(at).timetuple()[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry
