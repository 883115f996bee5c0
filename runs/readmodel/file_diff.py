"""What differs between two contents of a file, or between the files of two moments; within bounds of one page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runs.contracts.ports import FileInfo
from runs.store import trees
from runs.text.diff import MAX_CHARACTERS, DiffBudget, LineDiff, line_diff

MAX_FILES = 20
MAX_TOTAL_BYTES = 4_000_000
"""Files of one page that are compared, and their bytes, before and after."""

type Change = Literal["new", "changed", "removed"]


@dataclass(frozen=True)
class FileDiff:
    """One path whose content differs. `lines` is None where the two are not compared, and `note` the sentence why."""

    path: str
    old: FileInfo | None
    new: FileInfo | None
    lines: LineDiff | None
    note: str = ""

    @property
    def change(self) -> Change:
        if self.old is None:
            return "new"
        return "changed" if self.new else "removed"


def changes_between(old: Mapping[str, FileInfo], new: Mapping[str, FileInfo]) -> Sequence[str]:
    """The paths whose content differs, sorted."""
    return sorted(path for path in {*old, *new} if old.get(path) != new.get(path))


def diffs_of(paths: Sequence[str], old: Mapping[str, FileInfo], new: Mapping[str, FileInfo]) -> Iterator[FileDiff]:
    """One for each path; the first are compared."""
    budget, left = DiffBudget(), MAX_TOTAL_BYTES
    for number, path in enumerate(paths):
        before, after = old.get(path), new.get(path)
        left -= sum(info.size for info in (before, after) if info)
        if number < MAX_FILES and left >= 0:
            yield file_diff(path, before, after, budget)
        else:
            yield FileDiff(path, before, after, None, "Not compared on this page.")


def file_diff(path: str, old: FileInfo | None, new: FileInfo | None, budget: DiffBudget) -> FileDiff:
    """Two contents of one path; None is a file that is not there."""
    if max(info.size if info else 0 for info in (old, new)) > 4 * MAX_CHARACTERS:
        return FileDiff(path, old, new, None, "Too large to be compared.")
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return FileDiff(path, old, new, None, "Not a text file.")
    lines = line_diff(before, after, budget)
    return FileDiff(path, old, new, lines, "" if lines else "Too large to be compared.")


def _text(info: FileInfo | None) -> str | None:
    """The text; empty for a file that is not there, None for what is no text or was lost."""
    if info is None:
        return ""
    try:
        return trees.read_text(info.sha256)
    except FileNotFoundError:
        return None
