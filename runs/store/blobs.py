"""The content-addressed store of files: each content is stored once, under its SHA-256, in Django's storage `blobs`."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, storages

from runs.contracts.ports import FileInfo

GRACE = timedelta(minutes=10)
"""A content that was stored, or stored again, within this time is not deleted: a row that names it may follow."""
_PIECE = 256 * 1024
"""Bytes that are read at once: few enough for the memory, and enough that a large file takes few reads."""


class BlobStorage(FileSystemStorage):
    """Writes a file under a temporary name first, so that a crash never leaves half a blob under its hash.

    The bytes, and then their name, are on the disk before `save` returns. So no row names a file that was lost when the
    power failed.
    """

    is_local = True
    """Whether files can be renamed, and have times that say who used them last (`runs.store.garbage_collection`)."""

    def _save(self, name: str, content: File[Any]) -> str:
        target = Path(self.path(name))
        new_folder = not target.parent.exists()
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).replace(target)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise
        _sync_names(target.parent)
        if new_folder:
            _sync_names(target.parent.parent)
        return name

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """Always the name itself: another writer of this name stored the same bytes."""
        return name

    def touch(self, name: str) -> bool:
        """Marks a blob as used, so that `garbage_collection` keeps it for a while. False if there is none."""
        try:
            os.utime(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def problem(self) -> str:
        """The problem of the folder, as a clause; empty if there is none."""
        folder = Path(self.path(""))
        well = os.access(folder if folder.exists() else folder.parent, os.W_OK | os.X_OK)
        return "" if well else "files cannot be written"


def _sync_names(folder: Path) -> None:
    """Write the names in a folder to the disk, so that they survive a crash. Only POSIX systems can do that."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def put(content: bytes) -> FileInfo:
    """Store a blob. If the bytes are stored already, only that is checked."""
    sha256 = hashlib.sha256(content).hexdigest()
    if not store().touch(name_of(sha256)):
        store().save(name_of(sha256), ContentFile(content))
    return FileInfo(sha256, len(content))


def put_file(source: File[Any]) -> FileInfo:
    """Store an uploaded file without holding it in memory."""
    digest = hashlib.sha256()
    size = 0
    for chunk in source.chunks():
        digest.update(chunk)
        size += len(chunk)
    source.seek(0)
    sha256 = digest.hexdigest()
    if not store().touch(name_of(sha256)):
        store().save(name_of(sha256), source)
    return FileInfo(sha256, size)


def free_bytes() -> int:
    """Free bytes on the disk of the data folder."""
    return shutil.disk_usage(settings.DATA_DIR).free


def opened(sha256: str) -> IO[bytes]:
    """The blob, open for reading. Raises FileNotFoundError when the store lost it."""
    return store().open(name_of(sha256))


def exists(sha256: str) -> bool:
    """Whether the store has the blob. It loses one only if its files are damaged."""
    return store().exists(name_of(sha256))


def pieces_of(sha256: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The blob piece by piece, or its bytes from `start` to before `end`. Raises FileNotFoundError at once when the
    store lost it.
    """
    if not exists(sha256):
        raise FileNotFoundError(sha256)

    def pieces() -> Iterator[bytes]:
        with opened(sha256) as blob:
            blob.seek(start)
            left = _PIECE if end is None else end - start
            while piece := blob.read(min(_PIECE, left)):
                left -= 0 if end is None else len(piece)
                yield piece

    return pieces()


def size_of(sha256: str) -> int:
    """Bytes of a blob. Raises FileNotFoundError when the store lost it."""
    return storages["blobs"].size(name_of(sha256))


def read(sha256: str) -> bytes:
    with opened(sha256) as file:
        return file.read()


def store() -> BlobStorage:
    """The storage of all contents. In a bucket (`runs.store.s3_storage`) it has the same methods, except `path`."""
    return cast("BlobStorage", storages["blobs"])


def name_of(sha256: str) -> str:
    """The name of a blob in the storage."""
    return f"{sha256[:2]}/{sha256[2:]}"


def sha256_of(name: str) -> str:
    """The hash of the blob with this name."""
    return name.replace("/", "")
