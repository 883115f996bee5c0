"""What a command sees of the machine: its program, and nothing that only the server's user may read."""

from pathlib import Path

import pytest

from runs.isolation.sandbox_mounts import MountView, private_in


def test_what_only_this_user_may_read_is_hidden(tmp_path: Path) -> None:
    for name, mode in (("open", 0o755), ("closed", 0o700)):
        folder = tmp_path / name
        folder.mkdir()
        for file, rights in (("all.txt", 0o644), ("group.txt", 0o640), ("own.txt", 0o600)):
            (folder / file).write_text("key")
            (folder / file).chmod(rights)
        (folder / "link").symlink_to(folder / "own.txt")
        folder.chmod(mode)
    hidden = {str(path.relative_to(tmp_path)) for path in private_in(tmp_path)}
    assert hidden == {"closed", "open/group.txt", "open/own.txt"}


@pytest.mark.parametrize(
    ("first_line", "needed"),
    [
        ("#!/bin/sh", ""),
        ("#!/usr/bin/env sh", ""),
        ("#!{0}/beside/python", "{0}/beside/python"),
        ("#!/usr/bin/env -S {0}/beside/python", "{0}/beside/python"),
        ("#!{0}/named/to-beside", "{0}/beside/python"),
    ],
)
def test_a_program_needs_its_interpreter_and_what_it_is_a_link_to(tmp_path: Path, first_line: str, needed: str) -> None:
    named, beside = tmp_path / "named", tmp_path / "beside"
    named.mkdir()
    beside.mkdir()
    for path in (named / "tests", beside / "python"):
        path.write_text(first_line.format(tmp_path) if path.parent == named else "")
        path.chmod(0o755)
    (named / "to-beside").symlink_to(beside / "python")
    problem = MountView((named,)).problem([str(named / "tests")])
    assert problem.startswith(f"The program “{named / 'tests'}” needs {needed.format(tmp_path)}," if needed else "")
    assert bool(problem) == bool(needed)


@pytest.mark.parametrize(("argv", "is_there"), [(["./run"], True), (["no-such-program"], False), (["sh"], True)])
def test_programs_among_the_files_are_not_looked_for(argv: list[str], is_there: bool) -> None:
    assert (MountView().problem(argv) == "") == is_there
