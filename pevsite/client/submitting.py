"""`submit`: a task with the files of folders, without what they hold by accident and what usually holds secrets."""

from __future__ import annotations

import io
import os
from argparse import Namespace
from collections import Counter
from pathlib import Path

from pevsite.client import answers, watching
from pevsite.client.failure import WRONG_USE, Failed
from pevsite.client.screen import Screen
from pevsite.client.server import Server
from runs.errors import InvalidInput
from runs.local_files.reading import files_below, part_with_secrets
from runs.text.plural import pluralize
from runs.text.sensitive_names import junk_part

MAX_LISTED = 20


def submit(server: Server, screen: Screen, options: Namespace) -> int:
    try:
        files = _collected(options.files, screen)
    except (InvalidInput, OSError) as error:
        sentence = f"“{error.filename}” cannot be read: {error.strerror}." if isinstance(error, OSError) else str(error)
        raise Failed(sentence, exit_code=WRONG_USE) from error
    form: dict[str, str | list[str]] = {"request": options.message, "preset": options.preset}
    if files:
        form["paths"] = [path for path, _ in files]
    for name in ("template", "budget_usd"):
        if (value := getattr(options, name)) is not None:
            form[name] = str(value)
    if options.no_files:
        form["no_files"] = "true"
    size = sum(file.stat().st_size for _, file in files)
    screen.say(f"Sending {pluralize(len(files), 'file')}, {size / 1e6:,.1f} MB.")
    parts = [("files", (Path(path).name, _LazyFile(file))) for path, file in files] or None
    answer = server.post("/runs", key=options.key, data=form, files=parts)
    run = answers.read(answers.SubmittedRun, answer)
    screen.say(f"Run {run.run} is submitted: {run.address}\n{run.approval}")
    if run.left_out:
        screen.say(f"Left out by the server, because they may contain secrets: {_listed(run.left_out)}")
    for remark in run.remarks:
        screen.say(f"! {remark}")
    if options.wait:
        return watching.follow(server, screen, run.run)
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


def _listed(names: list[str]) -> str:
    more = len(names) - MAX_LISTED
    return ", ".join([*names[:MAX_LISTED], *([f"and {more:,} more"] if more > 0 else [])])


class _LazyFile(io.RawIOBase):
    """A file that is open only while it is read, so that ten thousand of them need few handles."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._size = path.stat().st_size
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
        if not content:
            self._end()
        return content

    def _end(self) -> None:
        if self._file:
            self._file.close()
            self._file = None
