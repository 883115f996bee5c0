"""Parts of one open file, each as a file of its own: a process may open few files, but an archive has many."""

from __future__ import annotations

import io
import os
import tempfile
from typing import IO, Any

from django.conf import settings


class FilePart(io.RawIOBase):
    """Some bytes of an open file, to read. Must not be shared between threads."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        self._file.seek(self._start + self._at)  # other parts have moved the position since
        piece = self._file.read(max(0, min(len(buffer), self._size - self._at)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


class SharedFile:
    """A temporary file that is closed with the last of its parts."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed with the last part
            settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=settings.FILE_UPLOAD_TEMP_DIR
        )
        self.parts = 0


class SharedPart(FilePart):
    """A part of a shared file."""

    def __init__(self, shared: SharedFile, start: int, size: int) -> None:
        super().__init__(shared.file, start, size)
        self._shared = shared
        shared.parts += 1

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._shared.parts -= 1
            if not self._shared.parts:
                self._shared.file.close()
