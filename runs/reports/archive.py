"""The archive of a run: the files it made or changed, and its report, as one zip that is streamed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import datetime
from io import RawIOBase
from typing import TYPE_CHECKING

from django.utils import timezone

from runs import trees
from runs.models import Run
from runs.pev.paths import clashes, clean_path
from runs.reading.files import written_files
from runs.reports.markdown import as_markdown

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PIECE = 256 * 1024
"""Bytes read of a file at once: few turns of the thread, and little memory for each download."""


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
            with (
                archive.open(_entry(clean_path(path), at), "w", force_zip64=True) as target,
                trees.open_blob(sha256) as blob,
            ):
                while piece := blob.read(_PIECE):
                    target.write(piece)
                    yield outlet.fetched()
        archive.writestr(_entry(report_name([path for path, _ in files]), at), report)
        yield outlet.fetched()
    yield outlet.fetched()


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
    entry.external_attr = 0o644 << 16
    return entry
