"""Files made are what differs between inputs and workspace, in order, and what was removed is told with what it was."""

import pytest

from runs.contracts.ports import FileInfo
from runs.models import Run
from runs.readmodel.run_files import MadeFile, made_files, written_files
from runs.store import trees
from tests import factories

pytestmark = pytest.mark.django_db

KEPT, OLD, NEW = (FileInfo(digit * 64, 4) for digit in "abc")


def run_from(given: dict[str, FileInfo], now: dict[str, FileInfo]) -> Run:
    run = factories.planning()
    run.inputs, run.head = trees.make_tree(given), trees.make_tree(now)
    return run


def test_new_changed_and_removed_files_are_told_apart_by_path() -> None:
    run = run_from({"a.md": OLD, "b.md": KEPT, "c.md": OLD}, {"a.md": NEW, "b.md": KEPT, "d.md": NEW})
    assert made_files(run) == (
        MadeFile("a.md", "changed", NEW),
        MadeFile("c.md", "removed", OLD),
        MadeFile("d.md", "new", NEW),
    )
    assert written_files(run, run.head) == {"a.md": NEW, "d.md": NEW}


def test_a_run_that_wrote_nothing_made_nothing() -> None:
    run = run_from({"a.md": OLD}, {"a.md": OLD})
    assert made_files(run) == ()
