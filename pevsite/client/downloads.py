"""`report` and `files`: what a run has made, written where the person says and nowhere else."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from argparse import Namespace
from http.client import NOT_FOUND
from pathlib import Path
from typing import IO
from urllib.parse import quote

from pevsite.client.server import FileLine, Files, Server, read
from pevsite.client.terminal import WRONG_USE, Failed, Screen, one_line
from runs.errors import InvalidInput
from runs.local_files.writing import check_folder, check_path, reason_of, write_file, write_into
from runs.text.plural import pluralize

_MAX_IN_MEMORY = 10_000_000
_MADE = {"new", "changed"}


def report(server: Server, screen: Screen, options: Namespace) -> int:
    """Write the report in a format to a file, or to standard output. Which formats there are, the server knows."""
    if options.out is None and options.json:
        raise Failed("Name a file for the report with -o, or leave out --json.", exit_code=WRONG_USE)
    with tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY) as content:
        try:
            media_type = server.download(f"/runs/{options.run}/report.{quote(options.format, safe='')}", content)
            size = content.tell()
            content.seek(0)
            if options.out is not None:
                _write(options.out, content, overwrite=options.overwrite)
        except (InvalidInput, OSError) as error:
            where = f"“{options.out}”" if options.out else "The report"
            raise Failed(f"{where} was not written: {reason_of(error)}.") from error
        if options.out is None:
            if sys.stdout.isatty() and not (media_type.startswith("text/") or media_type == "application/json"):
                raise Failed(f"Name a file for the report with -o: {options.format} is no text.", exit_code=WRONG_USE)
            screen.copy(content)
            return 0
    screen.say(f"“{options.out}” is written.")
    screen.answer({"file": str(options.out), "bytes": size})
    return 0


def _write(out: Path, content: IO[bytes], *, overwrite: bool) -> None:
    top = os.open(out.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        write_into(top, out.name, content, overwrite=overwrite)
    finally:
        os.close(top)


def files(server: Server, screen: Screen, options: Namespace) -> int:
    """List the files of a run, or write those that it has made or changed into a folder."""
    found = _files_of(server, options.run)
    if options.out is None:
        for one in found:
            screen.say(f"{one.change:<8} {one.bytes:>13,}  {one_line(one.path)}")
        screen.say(pluralize(len(found), "file"))
        screen.answer({"run": options.run, "files": [one.model_dump() for one in found]})
        return 0
    wanted = [one for one in found if one.change in _MADE or (options.given and one.change == "given")]
    try:
        check_folder(options.out)
        top = os.open(options.out, os.O_RDONLY | os.O_DIRECTORY)
    except (InvalidInput, OSError) as error:
        raise Failed(f"The files cannot be written: {reason_of(error)}.", exit_code=WRONG_USE) from error
    written, problems = list[str](), list[str]()
    try:
        with screen.progress() as progress:
            for number, one in enumerate(wanted):
                progress.show(one.path, number, len(wanted))
                try:
                    _download(server, options.run, one, top, overwrite=options.overwrite)
                    written.append(one.path)
                except Failed as failure:
                    if failure.status != NOT_FOUND:
                        raise
                    problems.append(f"“{one.path}” was not written: the server does not have it any more.")
                except (InvalidInput, OSError) as error:
                    problems.append(f"“{one.path}” was not written: {reason_of(error)}.")
    finally:
        os.close(top)
    for sentence in problems:
        screen.problem(one_line(sentence))
    screen.say(f"{pluralize(len(written), 'file')} written to “{options.out}”.")
    screen.answer({"run": options.run, "written": written, "problems": problems})
    return 1 if problems else 0


def _files_of(server: Server, run: int) -> list[FileLine]:
    found, offset = list[FileLine](), 0
    while True:
        page = read(Files, server.get(f"/runs/{run}/files", offset=offset))
        found += page.files
        if page.next_offset is None or page.next_offset <= offset:
            return found
        offset = page.next_offset


def _download(server: Server, run: int, one: FileLine, top: int, *, overwrite: bool) -> None:
    check_path(one.path)  # before it is asked for, and before a part of it could change the address
    with tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY) as content:
        server.download(f"/runs/{run}/files/{quote(one.path)}", content, sha256=one.sha256)
        content.seek(0)
        if hashlib.file_digest(content, "sha256").hexdigest() != one.sha256:
            raise InvalidInput("it did not arrive whole; start the command again")
        content.seek(0)
        write_file(top, one.path, content, overwrite=overwrite)
