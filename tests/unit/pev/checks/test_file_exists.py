"""A file that must exist."""

import pytest

from runs.pev.checks.deciding import problem_with
from runs.pev.checks.file_exists import FileExists
from tests.unit.pev.checks.outcomes import outcome

EXISTS = FileExists(kind="file_exists", path="a.md")


def test_file_exists() -> None:
    assert outcome(EXISTS, b"\0") == (True, "a.md exists (1 byte)")


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (EXISTS, None),
        (
            FileExists(kind="file_exists", path="/a"),
            "“/a” cannot be used as a path: it is absolute; leave out the leading slash.",
        ),
    ],
)
def test_problem_with(check: FileExists, problem: str | None) -> None:
    assert problem_with(check) == problem
