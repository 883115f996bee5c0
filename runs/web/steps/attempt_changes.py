"""The differences between the files of two attempts.

A result is compared with the one that people saw last, in this run or in the run that it repeats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from runs.contracts.ports import FileInfo
from runs.enums import SETTLED_STEPS
from runs.evidence.citations.citing import is_markdown
from runs.models import Attempt, Run, Step
from runs.people.permissions import shows_before
from runs.readmodel.plan_view import AttemptReading
from runs.store import trees
from runs.text.diff import DiffBudget, line_diff
from runs.text.plain_markdown import plain_line, readable
from runs.text.plural import pluralize, word_for

DIFF_FILES = 20
DIFF_BYTES = 200_000
DIFF_LINES = 400
"""Files, bytes of a file, and lines of a difference, which are on a page with three attempts side by side. Whole files
have their own addresses.
"""


@dataclass(frozen=True)
class DiffLine:
    """`kind` is added, removed, same or hunk."""

    kind: str
    text: str


@dataclass(frozen=True)
class FileDiff:
    """How one file differs from the attempt before. `note` says why there are no lines, or that some are missing."""

    path: str
    lines: tuple[DiffLine, ...]
    note: str


def diffs_between(before: Attempt, after: Attempt) -> Iterator[FileDiff]:
    """How each file that one of them wrote differs, within limits."""
    old, new = _digests(before), _digests(after)
    changed = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    for path in changed[:DIFF_FILES]:
        yield _diff(path, old.get(path), new.get(path))
    if (more := len(changed) - DIFF_FILES) > 0:
        they = word_for(more, "It differs too; it is", "They differ too; they are")
        yield FileDiff(pluralize(more, "more file"), (), f"{they} not compared here.")


def _digests(attempt: Attempt) -> Mapping[str, FileInfo]:
    """Digest and size of each path after an attempt, without removed files."""
    return {path: entry for path, entry in attempt.overlay.items() if entry}


def _diff(path: str, old: FileInfo | None, new: FileInfo | None) -> FileDiff:
    if new is None:
        return FileDiff(path, (), "Not written this time.")
    if max(new.size, old.size if old else 0) > DIFF_BYTES:
        return FileDiff(path, (), "Too large to be compared here.")
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return FileDiff(path, (), "Not a text file.")
    found = line_diff(before, after, DiffBudget())
    if found is None:
        return FileDiff(path, (), "Too large to be compared here.")
    lines = list[DiffLine]()
    for hunk in found.hunks:
        if hunk.left_out:
            lines.append(DiffLine("hunk", f"{hunk.left_out:,} that are the same left out"))
        shown = ("".join(piece.text for piece in row.pieces) for row in hunk.rows)
        lines += [
            DiffLine(row.kind, readable(text) if is_markdown(path) else text)
            for row, text in zip(hunk.rows, shown, strict=True)
        ]
    note = "" if old else "Written for the first time."
    if len(lines) > DIFF_LINES:
        note = f"{pluralize(len(lines) + found.more - DIFF_LINES, 'more line')} of difference."
    return FileDiff(path, tuple(lines[:DIFF_LINES]), note)


def _text(entry: FileInfo | None) -> str | None:
    if entry is None:
        return ""
    try:
        return trees.read_text(entry.sha256)
    except FileNotFoundError:
        return None


@dataclass(frozen=True, eq=False)
class Changes:
    """The files of an attempt against those of an earlier one, which `since` names. Reads files when asked for."""

    since: str
    before: Attempt
    after: Attempt

    @cached_property
    def files(self) -> tuple[FileDiff, ...]:
        return tuple(diffs_between(self.before, self.after))

    @property
    def words(self) -> str:
        """The changes in a few words."""
        if not self.files:
            return "the files are the same"
        lines = [line for one in self.files for line in one.lines]
        added, removed = (sum(1 for line in lines if line.kind == kind) for kind in ("added", "removed"))
        parts = [f"+{pluralize(added, 'line')}"] if added else []
        parts += [f"−{pluralize(removed, 'line')}"] if removed else []
        return ", ".join(parts) or pluralize(len(self.files), "file differs", "files differ")

    @property
    def first(self) -> str:
        """The words of the first new line that has any, without markup."""
        lines = (line.text for one in self.files for line in one.lines if line.kind == "added")
        return next((words for line in lines if any(map(str.isalnum, words := plain_line(line)))), "")


def changes_of(attempt: AttemptReading) -> Changes | None:
    """Against the latest that a person sent back; else what the run before came to at this step, where all who see this
    run see that one; else the attempt before, which nobody has seen. None where there is no other.
    """
    earlier = [one for one in attempt.step.attempts if one.row.number < attempt.row.number]
    seen = next((one for one in reversed(earlier) if one.rejections), None)
    run = attempt.rows.run
    accepted = _accepted_before(run, attempt.step.row) if seen is None else None
    if accepted:
        return Changes(f"run {run.before_id}", accepted, attempt.row)
    last = seen or (earlier[-1] if earlier else None)
    return Changes(f"attempt {last.row.number}", last.row, attempt.row) if last else None


def _accepted_before(run: Run, step: Step) -> Attempt | None:
    """The settled attempt at the step with this key, or this name, in the run that is repeated."""
    if run.before is None or not shows_before(run):
        return None
    settled = Step.objects.of_run(run.before).filter(status__in=SETTLED_STEPS).order_by("-plan__version", "position")
    steps = list(settled.select_related("reused_from"))
    same = [one for one in steps if one.key == step.key] or [one for one in steps if one.spec.name == step.spec.name]
    if not same:
        return None
    return same[0].reused_from or same[0].attempts.order_by("number").last()
