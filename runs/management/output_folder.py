"""Writes the files of `run --out`. It follows no links, replaces no file unasked, and writes none that tools obey."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO

from runs.errors import InvalidInput, PevError
from runs.models import Run
from runs.readmodel.run_files import written_files
from runs.reports.archive import report_name
from runs.reports.outline import Part
from runs.reports.report_format import ReportFormat, ReportInput
from runs.store import blobs
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


def write_out(
    run: Run, folder: Path, report_format: ReportFormat, part: Part = Part.ALL, *, overwrite: bool = False
) -> list[str]:
    """Write the files that the run made or changed, and its report, each whole or not at all.

    The folder itself may be a link, since a person named it; below it no link is followed. Existing files stay, unless
    `overwrite`. Returns a sentence for each file that was not written or has another name.
    """
    problems = []
    files = written_files(run, run.head)
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for path, info in files.items():
            try:
                with blobs.opened(info.sha256) as blob:
                    _write(top, path, blob, overwrite=overwrite)
            except (InvalidInput, OSError) as error:
                problems.append(f"“{path}” was not written: {_reason(error)}.")
        problems += _write_report(ReportInput.of(run, part), top, list(files), report_format, overwrite=overwrite)
    finally:
        os.close(top)
    return problems


def _write_report(
    source: ReportInput, top: int, paths: list[str], report_format: ReportFormat, *, overwrite: bool
) -> list[str]:
    """Write the report under a name that no file of the run and no earlier file has."""
    wanted = f"report.{report_format.suffix}"
    there = os.listdir(top)
    if overwrite and wanted in there and stat.S_ISREG(os.stat(wanted, dir_fd=top, follow_symlinks=False).st_mode):
        there.remove(wanted)  # an earlier report, which is replaced
    name = report_name([*paths, *there], wanted)
    try:
        _write(top, name, BytesIO(report_format.write(source)), overwrite=overwrite)
    except (PevError, OSError) as error:
        return [f"The report was not written: {_reason(error)}."]
    return [] if name == wanted else [f"The report is “{name}”: there is another file “{wanted}”."]


def _write(top: int, path: str, content: IO[bytes], *, overwrite: bool) -> None:
    *folders, name = clean_path(path).split("/")
    if is_obeyed(path):
        raise InvalidInput("tools run or obey files of this name unasked; it is on the page of the run")
    with _open_folder(top, folders) as folder:
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


def _reason(error: PevError | OSError) -> str:
    """The error as the end of a sentence."""
    return error.strerror or type(error).__name__ if isinstance(error, OSError) else str(error).rstrip(".")
