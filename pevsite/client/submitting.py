"""`submit`: a task with the files of folders, without what they hold by accident and what usually holds secrets.

The server checks the task first, so that no files are sent for a task that it refuses. Then the files are uploaded, a
few at a time, and the task names the upload. Each request has a key that follows from that of the task. So what breaks
off is sent again, and nothing is submitted twice.
"""

from __future__ import annotations

import hashlib
import io
import os
import uuid
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

from pevsite.client.runs import follow
from pevsite.client.server import NotTaken, Server, SubmittedRun, Upload, read
from pevsite.client.terminal import WRONG_USE, Failed, Screen, one_line
from runs.errors import InvalidInput
from runs.local_files.reading import files_below, part_with_secrets
from runs.text.plural import pluralize
from runs.text.sensitive_names import junk_part

MAX_LISTED = 20
MAX_FILES_AT_ONCE = 100
MAX_BYTES_AT_ONCE = 20_000_000
"""Bytes of the files in one request, unless one file has more. When a connection breaks off, they are sent again."""


def submit(server: Server, screen: Screen, options: Namespace) -> int:
    key: str = options.key or uuid.uuid4().hex
    form: dict[str, str] = {"request": options.message}
    for name in ("preset", "template", "budget_usd"):
        if (value := getattr(options, name)) is not None:
            form[name] = str(value)
    if options.no_files:
        form["no_files"] = "true"
    try:
        if files := _collected(options.files, screen):
            server.post("/runs/check", key=_key_from(key, "check"), json=form | {"has_files": True})
            for upload in _upload(server, screen, files, key):
                form["upload"] = str(upload)
        answer = server.post("/runs", key=key, data=form)
    except Failed as failure:
        # With a key of the person, the same command may come again, and its upload is the same one then. After a
        # conflict, the server may still be working on the submission.
        is_refusal = HTTPStatus.BAD_REQUEST <= failure.status < HTTPStatus.INTERNAL_SERVER_ERROR
        is_refusal = is_refusal and failure.status != HTTPStatus.CONFLICT
        if "upload" in form and not options.key and is_refusal:
            _discard(server, form["upload"])
        raise
    except BrokenPipeError:  # of the output
        raise
    except (InvalidInput, OSError) as error:
        sentence = f"“{error.filename}” cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
        raise Failed(sentence, exit_code=WRONG_USE) from error
    run = read(SubmittedRun, answer)
    screen.say(f"Run {run.run} is submitted: {run.address}\n{run.approval}")
    if run.left_out:
        screen.say(f"Left out by the server, because they may contain secrets: {_listed(run.left_out)}")
    for remark in run.remarks:
        screen.say(f"! {remark}")
    if options.wait:
        screen.answer_line(answer)
        return follow(server, screen, run.run)
    screen.answer(answer)
    return 0


def _collected(places: list[Path], screen: Screen) -> list[tuple[str, Path]]:
    """The files with their paths in the run: those of one folder relative to it, of several below their names."""
    found: list[tuple[str, Path]] = []
    for place in places:
        below = files_below(place)
        top = f"{place.resolve().name}/" if place.is_dir() and len(places) > 1 else ""
        found += [(f"{top}{path}", file) for path, file in below]
    junk = Counter(part for path, _ in found if (part := junk_part(path)))
    kept, secrets = list[tuple[str, Path]](), dict[str, None]()
    for path, file in found:
        if junk_part(path):
            continue
        if path != path.encode(errors="replace").decode():
            raise InvalidInput(f"Rename “{path.encode(errors='replace').decode()}”: its name is not valid Unicode.")
        if part := part_with_secrets(path, file):
            secrets[part] = None
        else:
            kept.append((path, file))
    if junk:
        screen.say(f"Left out, because folders contain them by accident: {_listed(list(junk))}")
    if secrets:
        screen.say(f"Left out, because they may contain secrets: {_listed(list(secrets))}")
    if places and not kept:
        raise InvalidInput("No file is left to send. Nothing was submitted.")
    return kept


def _upload(server: Server, screen: Screen, files: list[tuple[str, Path]], key: str) -> Iterator[uuid.UUID]:
    """Send the files before the task, and yield the id of the upload after each request. Raises Failed, also if the
    server does not take a file, and OSError.
    """
    sized = [(path, file, file.stat().st_size) for path, file in files]
    total = sum(size for *_, size in sized)
    screen.say(f"Sending {pluralize(len(files), 'file')}, {total / 1e6:,.1f} MB.")
    upload: uuid.UUID | None = None
    refused, done = list[NotTaken](), 0
    with screen.progress() as progress:
        for number, batch in enumerate(_batches(sized)):
            parts = []
            for path, file, size in batch:

                def show(at: int, path: str = path, before: int = done) -> None:
                    progress.show(f"Sending {path}", before + at, total)

                parts.append(("files", (Path(path).name, _LazyFile(file, size, show))))
                done += size
            form: dict[str, str | list[str]] = {"paths": [path for path, *_ in batch]}
            if upload:
                form["upload"] = str(upload)
            answer = read(Upload, server.post("/uploads", key=_key_from(key, str(number)), data=form, files=parts))
            upload = answer.upload
            refused += [one for one in answer.not_taken if not one.secret]
            yield upload
    if refused:
        for one in refused[:MAX_LISTED]:
            screen.problem(f"“{one.path}”: {one.sentence}")
        count = pluralize(len(refused), "file was", "files were")
        sentence = f"{count} not taken by the server. Nothing was submitted."
        raise Failed(sentence, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _key_from(key: str, name: str) -> str:
    """The key of another request that belongs to the task with this key."""
    return f"{hashlib.sha256(key.encode()).hexdigest()}-{name}"


def _batches(files: list[tuple[str, Path, int]]) -> Iterator[list[tuple[str, Path, int]]]:
    """The files in the requests that send them."""
    batch, size = list[tuple[str, Path, int]](), 0
    for one in files:
        if batch and (len(batch) == MAX_FILES_AT_ONCE or size + one[2] > MAX_BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one[2]
    yield batch


def _discard(server: Server, upload: str) -> None:
    """Delete files with which nothing is submitted. If that fails, the server deletes them after a day."""
    try:
        server.delete(f"/uploads/{upload}")
    except Failed:
        return


def _listed(names: list[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join([*map(one_line, names[:MAX_LISTED]), *([f"and {more:,} more"] if more > 0 else [])])


class _LazyFile(io.RawIOBase):
    """A file that is open only while it is read, so that ten thousand of them need few handles.

    `show` is called with the bytes that were read so far.
    """

    def __init__(self, path: Path, size: int, show: Callable[[int], None]) -> None:
        super().__init__()
        self._path = path
        self._size = size
        self._show = show
        self._at = 0
        self._file: io.BufferedReader | None = None

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._end()
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        if self._file is None:
            self._file = self._path.open("rb")
            self._file.seek(self._at)
        content = self._file.read(size)
        self._at += len(content)
        self._show(self._at)
        if not content:
            self._end()
        return content

    def _end(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
