"""Parts of one temporary file as files of their own, since each open file is one of the process's few."""

import io
import os
import tempfile
from typing import IO, Any

from django.conf import settings


class Store:
    """The temporary file of a form; it is closed with the last of its parts."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed with the last part
            settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=settings.FILE_UPLOAD_TEMP_DIR
        )
        self.parts = 0


class Part(io.RawIOBase):
    """Some bytes of a file, as a file of its own to read. Not for several threads."""

    def __init__(self, store: Store, start: int, size: int) -> None:
        self._store, self._start, self._size, self._at = store, start, size, 0
        store.parts += 1

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        self._store.file.seek(self._start + self._at)
        piece = self._store.file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._store.parts -= 1
            if not self._store.parts:
                self._store.file.close()
