"""The page of a step: its attempts side by side, with the results of tools and the changes of files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.http import Http404

from runs.contracts.ports import FileInfo
from runs.enums import RunStatus
from runs.lifecycle.coverage import coverage_of
from runs.models import Attempt, Run
from runs.readmodel.plan_view import AttemptReading, StepReading
from runs.readmodel.run_rows import read_rows
from runs.readmodel.run_view import RunReading
from runs.store import trees
from runs.text.diff import DiffBudget, LineDiff, line_diff
from runs.text.plural import pluralize, word_for

RESULT_CHARS = 6_000
DIFF_FILES = 20
DIFF_BYTES = 200_000
DIFF_LINES = 400
"""Bounds of one page with three attempts side by side; whole results and files have their own addresses."""


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


@dataclass(frozen=True)
class Column:
    """One attempt; `diffs` is against attempt `against`, 0 for the first. `same`: the first of those right before it
    that say the same as it; 0 for none.
    """

    attempt: AttemptReading
    against: int
    diffs: tuple[FileDiff, ...]
    same: int


@dataclass(frozen=True)
class StepPage:
    """Everything that the page of a step shows. `again`: whether the step of a finished run can be done again. `shown`:
    what of the given files was shown at it; None where there are none, or that is not known.
    """

    run: Run
    step: StepReading
    columns: tuple[Column, ...]
    again: bool
    shown: list[str] | None


def step_of(run: Run, step_id: int, *, result_chars: int = 0) -> StepReading:
    """A step of any version, read whole. Raises Http404 if the run has no such step."""
    rows = read_rows(run, lambda steps: [step for step in steps if step.pk == step_id], result_chars=result_chars)
    steps = (step for plan in RunReading(rows).plans for step in plan.steps)
    step = next((step for step in steps if step.row.pk == step_id), None)
    if step is None:
        raise Http404("This run has no such step.")
    return step


def step_page(run: Run, step_id: int) -> StepPage:
    """The page as it is now, with the files of attempts within limits. Raises Http404 if the run has no such step."""
    step = step_of(run, step_id, result_chars=RESULT_CHARS)
    covered = coverage_of(run, step_id) if run.inputs.file_count else None
    shown = covered.shown_to(step_id) if covered else None
    return StepPage(run, step, tuple(_columns(step.attempts)), run.status == RunStatus.FINISHED, shown)


def _columns(attempts: tuple[AttemptReading, ...]) -> Iterator[Column]:
    before: Attempt | None = None
    first = 0
    for attempt in attempts:
        diffs = tuple(diffs_between(before, attempt.row)) if before else ()
        said = _findings(attempt.row)
        same = before is not None and said != "" and said == _findings(before)
        first = first if same else attempt.row.number
        yield Column(attempt, before.number if before else 0, diffs, first if same else 0)
        before = attempt.row


def _findings(attempt: Attempt) -> str:
    return attempt.output.findings if attempt.output else ""


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
    lines = list(_diff_lines(found))
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


def _diff_lines(found: LineDiff) -> Iterator[DiffLine]:
    for hunk in found.hunks:
        if hunk.left_out:
            yield DiffLine("hunk", f"{hunk.left_out:,} that are the same left out")
        for row in hunk.rows:
            yield DiffLine(row.kind, "".join(piece.text for piece in row.pieces))
