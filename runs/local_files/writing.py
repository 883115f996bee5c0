"""Writes files of runs into a folder. Follows no links, replaces no file unasked, and writes none that tools obey."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from runs.errors import InvalidInput, PevError
from runs.text.paths import clean_path
from runs.text.sensitive_names import is_obeyed


def check_folder(folder: Path) -> None:
    """Make the folder if it is missing. Raises InvalidInput, before the run starts."""
    if os.open not in os.supports_dir_fd:
        raise InvalidInput("--out needs a system that can write without following links; take the zip from the site.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"--out cannot be used: “{folder}” cannot be made ({error.strerror}).") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInput(f"--out cannot be used: “{folder}” cannot be written to.")


def write_file(top: int, path: str, content: IO[bytes], *, overwrite: bool) -> None:
    """Write a file of a run at its path below an open folder.

    Raises InvalidInput, whose text is the end of a sentence, or OSError.
    """
    *folders, name = check_path(path).split("/")
    with _open_folder(top, folders) as folder:
        write_into(folder, name, content, overwrite=overwrite)


def check_path(path: str) -> str:
    """The path in its normal form. Raises InvalidInput for one that leads elsewhere, or that tools obey."""
    clean = clean_path(path)
    if is_obeyed(path):
        raise InvalidInput("tools run or obey files of this name unasked; it is on the page of the run")
    return clean


def write_into(folder: int, name: str, content: IO[bytes], *, overwrite: bool) -> None:
    """Write a file into an open folder, whole or not at all. Raises as `write_file` does."""
    _check_place(folder, name, overwrite=overwrite)
    draft = f".pevsite-{secrets.token_hex(8)}"
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder), "wb") as file:
            shutil.copyfileobj(content, file)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)  # replaces a link itself, never its target
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


@contextmanager
def _open_folder(top: int, folders: list[str]) -> Iterator[int]:
    """Open the folder part by part, each relative to the one before, so that no new link is followed."""
    handle = os.dup(top)
    try:
        for number, name in enumerate(folders, 1):
            with suppress(FileExistsError):  # the next line says whether it is a folder
                os.mkdir(name, dir_fd=handle)
            try:
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            except OSError as error:
                raise InvalidInput(f"“{'/'.join(folders[:number])}” is a link or a file there") from error
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _check_place(folder: int, name: str, *, overwrite: bool) -> None:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise InvalidInput("something is there already that is no ordinary file")
    if not overwrite:
        raise InvalidInput("there is a file of this name already; --overwrite replaces it")


def reason_of(error: PevError | OSError) -> str:
    """The error as the end of a sentence."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error).rstrip(".")
