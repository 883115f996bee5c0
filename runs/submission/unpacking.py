"""Unpacks uploaded archives into their files, and puts attachments of mails next to the mails.

The resulting files are checked and stored like all others.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import IO, Any, NamedTuple, cast

from django.conf import settings
from django.core.files.base import File
from django.core.files.uploadedfile import UploadedFile

from runs import isolation
from runs.contracts.ports import FileInfo
from runs.documents import archives, attachments
from runs.documents.document_format import MAX_BYTES as MAX_DOCUMENT
from runs.documents.file_kinds import HEAD_BYTES, TAIL_BYTES, kind_of
from runs.documents.formats import FORMATS
from runs.documents.packed_parts import unpacked as parts_of
from runs.errors import InvalidInput, PathRefused, UploadRefused
from runs.isolation import ChildFailed, Limits
from runs.store import input_examination
from runs.store.file_parts import SharedFile, SharedPart
from runs.store.input_limits import in_mb
from runs.submission.intake import RefusedUpload, Upload, check_space, intake, without_secrets
from runs.text.paths import ATTACHMENTS, MAX_CHARACTERS, clashes, clean_path
from runs.text.sensitive_names import is_lock
from runs.text.truncate import truncate_path

MAX_SECONDS = 60.0
"""Limits for all archives and mails of an upload."""
BATCH_BYTES = 32_000_000
"""Bytes that are unpacked into memory at the same time. A larger file is unpacked alone."""
MAX_NAMED = 20
"""Refused files of an archive that are listed by name."""
NESTED = "is an archive inside an archive; give it by itself"
IN_MAIL = "is an archive inside a mail; give it by itself"
MAX_DEPTH = 3
"""The depth of mails that are attached to mails."""
_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tbz2?|txz|(?:tar\.)?(?:gz|bz2|xz))$", re.IGNORECASE)
"""Names of archives that people want to be unpacked. Programs, fonts and many documents are zip files too."""
_NOTHING = "is an archive without a file that can be taken"
_JUNK = "It is rarely needed, so it was left out."


def unpacked(uploads: Sequence[Upload]) -> tuple[list[Upload], list[RefusedUpload]]:
    """Replace archives by their files, and add attachments in a folder next to each mail. Also returns refused files.

    Lock files of word processors are refused as well, like in the browser.

    An archive that cannot be unpacked stays, with its problem. Raises UploadRefused when the disk has no room.
    """
    work = _Work()
    found = list[Upload]()
    for upload in uploads:
        if is_lock(upload.path):
            work.refused.append(RefusedUpload(truncate_path(upload.path, MAX_CHARACTERS), _JUNK))
            continue
        for one in work.files_of(upload) if _is_archive(upload) else [upload]:
            found += [one, *work.attached_to(one)]
    return found, work.refused


def unpack_uploads(
    uploads: Sequence[Upload], drafted: Mapping[str, FileInfo]
) -> tuple[dict[str, Upload], list[str], list[str]]:
    """The files by path, with those of archives; the paths that were left out; sentences on refused files and doubtful
    names. `drafted` are files that the new ones come to. Raises UploadRefused or PathRefused.
    """
    chosen, held_back = without_secrets(uploads)
    intake(chosen, drafted)  # what is too much is refused before any of it is read
    check_space(sum(upload.content.size or 0 for upload in chosen))
    sent, refused = unpacked(chosen)
    kept, more = without_secrets(sent)
    files = intake(kept, drafted)
    doubtful = [f"{path}: {upload.caution}" for path, upload in files.items() if upload.caution]
    return files, [*held_back, *more], [*(f"{one.path} was not taken. {one.why}" for one in refused), *doubtful]


def note_problems(stored: Iterable[tuple[FileInfo, Upload]]) -> None:
    """Store why contents cannot be read, if that is known from their uploads."""
    input_examination.keep_problems({info.sha256: upload.problem for info, upload in stored if upload.problem})


def _is_archive(upload: Upload) -> bool:
    if not _ARCHIVE.search(upload.path) or not 0 < (upload.content.size or 0) <= settings.FILE_BYTES:
        return False
    return _is_packed(_whole(upload))  # the names of its parts are at the end, and only they say that it is no document


def _is_mail(upload: Upload) -> bool:
    if (upload.content.size or 0) > min(settings.FILE_BYTES, MAX_DOCUMENT):
        return False
    beginning = next(iter(upload.content.chunks()), b"")
    upload.content.seek(0)
    form = FORMATS.get(kind_of(beginning[:HEAD_BYTES]).format)
    return form is not None and form.attachments


def _whole(upload: Upload) -> bytes:
    data = b"".join(upload.content.chunks())
    upload.content.seek(0)
    return data


class _File(NamedTuple):
    name: str
    content: File[Any]
    problem: str
    caution: str = ""


class _Work:
    """Unpacks the archives of one upload within common limits."""

    def __init__(self) -> None:
        self.refused: list[RefusedUpload] = []
        self._end = time.monotonic() + MAX_SECONDS
        self._files = 0
        self._bytes = 0

    def files_of(self, upload: Upload) -> list[Upload]:
        """The files of an archive, or the archive with its problem."""
        before = len(self.refused)
        try:
            files = self._read(upload)
        except _NoRoom as error:
            del self.refused[before:]
            self.refused.append(RefusedUpload(truncate_path(upload.path, MAX_CHARACTERS), str(error)))
            return []
        except UploadRefused:
            raise
        except (InvalidInput, ChildFailed) as error:
            del self.refused[before:]
            problem = f"is more than can be unpacked: {error}" if isinstance(error, ChildFailed) else str(error)
            return [replace(upload, problem=problem)]
        self._count(files)
        return self._place(upload, files) or [replace(upload, problem=_NOTHING)]

    def attached_to(self, upload: Upload, depth: int = 0) -> list[Upload]:
        """The attachments of a mail and of attached mails; empty for other files."""
        if depth == MAX_DEPTH or not _is_mail(upload):
            return []
        try:
            names, *contents = self._run_reader(attachments.__name__, _whole(upload), attachments.MAX_BYTES)
            self._check_room([], contents)
            store = SharedFile() if contents else None
            files = [
                _File(name, _file_in(store, content), IN_MAIL if _is_packed(content) else "")
                for name, content in zip(json.loads(names), contents, strict=True)
            ]
        except UploadRefused:
            raise
        except (InvalidInput, ChildFailed) as error:
            why = str(error) if isinstance(error, _NoRoom) else f"What is attached to it was not taken: it {error}."
            self.refused.append(RefusedUpload(truncate_path(upload.path, MAX_CHARACTERS), why))
            return []
        placed, refused = _clean(f"{upload.path}{ATTACHMENTS}", files)
        self._refuse(upload.path, refused, 0)
        self._count(placed.values())
        found = [Upload(path, one.content, named=False, problem=one.problem) for path, one in placed.items()]
        return [two for one in found for two in (one, *self.attached_to(one, depth + 1))]

    def _count(self, files: Iterable[_File]) -> None:
        sizes = [one.content.size or 0 for one in files]
        self._files += len(sizes)
        self._bytes += sum(sizes)

    def _read(self, upload: Upload) -> list[_File]:
        """All files of an archive, with their names in it."""
        data, files, refused, more = _whole(upload), list[_File](), list[tuple[str, str]](), 0
        store = None
        following: dict[str, int] | None = {}
        junk: dict[str, None] = {}
        while following is not None:
            header, *contents = self._batch(data, following)
            answer = json.loads(header)
            self._check_room(files, contents)
            store = store or (SharedFile() if contents else None)
            files += [
                _File(name.removeprefix("./"), _file_in(store, content), NESTED if _is_packed(content) else "", caution)
                for name, caution, content in zip(answer["names"], answer["cautions"], contents, strict=True)
            ]
            refused += answer["refused"]
            more += answer["more"]
            junk |= dict.fromkeys(answer["junk"])
            following = answer["next"]
        self._refuse(upload.path, [*refused, *((name, _JUNK) for name in junk)], more)
        return files

    def _batch(self, data: bytes, following: dict[str, int]) -> list[bytes]:
        max_file = min(settings.FILE_BYTES, archives.MAX_FILE_BYTES)
        options = {
            "max_batch": BATCH_BYTES,
            "max_file": max_file,
            "max_bytes": min(settings.UPLOAD_BYTES, archives.MAX_BYTES),
            "max_files": min(settings.UPLOAD_FILES, archives.MAX_FILES),
        }
        return self._run_reader(archives.__name__, data, max(BATCH_BYTES, max_file), **options, **following)

    def _run_reader(self, module: str, data: bytes, size: int, **options: int) -> list[bytes]:
        left = self._end - time.monotonic()
        if left < 1:
            raise _NoRoom(f"Unpacking took more than {MAX_SECONDS:g} seconds; send this file by itself.")
        limits = Limits(megabytes=512, cpu_seconds=30, seconds=left, output=size + 20_000_000)
        return list(parts_of(isolation.run(f"{module}.read", data, limits, **options)))

    def _check_room(self, files: Sequence[_File], contents: Sequence[bytes]) -> None:
        size = self._bytes + sum(one.content.size or 0 for one in files) + sum(map(len, contents))
        if size > settings.UPLOAD_BYTES or self._files + len(files) + len(contents) > settings.UPLOAD_FILES:
            raise _NoRoom(f"With its files there would be more than {in_mb(settings.UPLOAD_BYTES)}, or too many files.")
        check_space(size)

    def _place(self, upload: Upload, files: Sequence[_File]) -> list[Upload]:
        above, slash, name = upload.path.replace("\\", "/").rpartition("/")
        above, stem = above + slash, _ARCHIVE.sub("", name) or "archive"
        if [one.name for one in files] == [""]:
            return [Upload(above + stem, files[0].content, upload.named, files[0].problem)]
        tops = {one.name.replace("\\", "/").partition("/")[:2] for one in files}
        folder = above if len(tops) == 1 and min(tops)[1] else f"{above}{stem}/"
        placed, refused = _clean(folder, files)
        self._refuse(upload.path, refused, 0)
        return [Upload(path, one.content, False, one.problem, one.caution) for path, one in placed.items()]

    def _refuse(self, path: str, refused: Sequence[tuple[str, str]], more: int) -> None:
        self.refused += [
            RefusedUpload(truncate_path(f"{path}/{name}", MAX_CHARACTERS), why) for name, why in refused[:MAX_NAMED]
        ]
        if more := more + max(0, len(refused) - MAX_NAMED):
            self.refused.append(
                RefusedUpload(truncate_path(path, MAX_CHARACTERS), f"{more:,} more of its files were not taken.")
            )


class _NoRoom(InvalidInput):
    """The archive may be taken another time."""


def _is_packed(content: bytes) -> bool:
    form = FORMATS.get(kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:]).format)
    return form is not None and form.is_archive


def _file_in(store: SharedFile | None, content: bytes) -> File[Any]:
    """Put a content into a temporary file, like an upload."""
    assert store is not None
    start = store.file.seek(0, os.SEEK_END)
    store.file.write(content)
    return UploadedFile(cast("IO[bytes]", SharedPart(store, start, len(content))), "unpacked", size=len(content))


def _clean(folder: str, files: Iterable[_File]) -> tuple[dict[str, _File], list[tuple[str, str]]]:
    """The files by path, and those with unusable or clashing names."""
    placed: dict[str, _File] = {}
    refused: list[tuple[str, str]] = []
    for one in files:
        try:
            clean_path(one.name)
            path = clean_path(folder + one.name)
        except PathRefused as error:
            refused.append((one.name, str(error)))
            continue
        if path in placed:
            refused.append((one.name, "It is in the archive twice; the first one was taken."))
        placed.setdefault(path, one)
    for other, path in clashes(placed):
        if placed.pop(path, None):
            refused.append((path.removeprefix(folder), f"It cannot be next to “{other}”."))
    return placed, refused
