"""Uploaded files: all files of a form in one temporary file, because a process may have few open files."""

import os
from typing import IO, Any, cast

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from runs.store.file_parts import SharedFile, SharedPart


class OneFile(FileUploadHandler):
    """Django's own handler keeps a file open for each upload. A form may have 10,000, more than most processes may
    open.
    """

    def __init__(self, request: Any = None) -> None:
        super().__init__(request)
        self._store: SharedFile | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self._store is None:
            self._store = SharedFile()
            self.file = self._store.file  # under this name the parser closes it when a form is refused
        self._start = self._store.file.seek(0, os.SEEK_END)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self._store is not None
        self._store.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        assert self._store is not None
        return UploadedFile(
            cast("IO[bytes]", SharedPart(self._store, self._start, file_size)),
            self.file_name,
            self.content_type,
            file_size,
            self.charset,
            self.content_type_extra,
        )

    def upload_interrupted(self) -> None:
        if self._store is not None:
            self._store.file.close()
