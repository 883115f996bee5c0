"""Uploaded files: all files of a form in one temporary file, since each open file is one of the process's few."""

import io
import os
import tempfile
from typing import IO, Any, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


class OneFile(FileUploadHandler):
    """Django's own handler keeps a file open for each: 10,000 of a form are more than most processes may have."""

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._store: _Store | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self._store is None:
            self._store = _Store()
            self.file = self._store.file  # under this name the parser closes it when a form is refused
        self._start = self._store.file.seek(0, os.SEEK_END)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self._store is not None
        self._store.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        assert self._store is not None
        return UploadedFile(
            cast("IO[bytes]", Part(self._store, self._start, file_size)),
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
            self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        if self._store is not None:
            self._store.file.close()


class _Store:
    """The temporary file of a form; it is closed with the last of its parts."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115  closed with the last part
            settings.FILE_UPLOAD_MAX_MEMORY_SIZE, dir=settings.FILE_UPLOAD_TEMP_DIR
        )
        self.parts = 0


class Part(io.RawIOBase):
    """Some bytes of a file, as a file of its own to read. Not for several threads."""

    def __init__(self, store: _Store, start: int, size: int) -> None:
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
