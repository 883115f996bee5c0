"""The files of a run: what it has made of those that it was given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from runs.contracts.ports import FileInfo
from runs.models import Run, Tree
from runs.store import trees


@dataclass(frozen=True)
class MadeFile:
    """A file that the run made, changed or removed; of a removed one `info` is what had been given."""

    path: str
    change: Literal["new", "changed", "removed"]
    info: FileInfo


def written_files(run: Run, tree: Tree) -> Mapping[str, FileInfo]:
    """What a tree of the run has that its inputs have not, or not so; sorted by path."""
    given = trees.files_of(run.inputs)
    return {path: info for path, info in trees.files_of(tree).items() if given.get(path) != info}


def made_files(run: Run) -> tuple[MadeFile, ...]:
    """What differs between the inputs and the workspace, sorted by path."""
    given, now = trees.files_of(run.inputs), trees.files_of(run.head)
    written = written_files(run, run.head)
    made = [MadeFile(path, "changed" if path in given else "new", info) for path, info in written.items()]
    gone = [MadeFile(path, "removed", info) for path, info in given.items() if path not in now]
    return tuple(sorted([*made, *gone], key=lambda file: file.path))
