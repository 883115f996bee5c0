"""Owns the page of one step: its attempts side by side, with what each tool answered and how the files changed."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.db.models.functions import Left
from django.urls import reverse

from runs import trees
from runs.enums import RunStatus
from runs.models import Attempt, Run, Step, ToolCall
from runs.pev.paths import text_of
from runs.pev.ports import FileInfo
from runs.web.presenters.plans import Wanted, wanted
from runs.web.presenters.rows import WITH_ATTEMPT, Rows, doer, lacking_in, problems_of, read, tools_of
from runs.web.presenters.steps import AttemptView, StepView, attempt_views, step_view

RESULT_CHARS = 6_000
DIFF_FILES = 20
DIFF_BYTES = 200_000
DIFF_LINES = 400


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
    """One attempt; `diffs` is against attempt `against`, 0 for the first."""

    attempt: AttemptView
    against: int
    diffs: tuple[FileDiff, ...]


@dataclass(frozen=True)
class StepPage:
    """Everything that the page of a step shows. `current`: whether its plan is the newest. `again`: where the step of
    a finished run can be done anew.
    """

    run: Run
    version: int
    current: bool
    step: StepView
    criteria: tuple[Wanted, ...]
    tools: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    again: str


def step_page(run: Run, step: Step) -> StepPage:
    """The page as of now. Reads the contents of the files that attempts wrote, within bounds."""
    rows, tried = _rows_for(run, step)
    spec = rows.specs[step.pk]
    others = rows.steps.get(step.plan_id, ())
    declared = frozenset(path for other in others for path in rows.specs[other.pk].expected_outputs)
    views = _with_results(attempt_views(rows, step, spec, declared), tried)
    plan = next(plan for plan in rows.plans if plan.pk == step.plan_id)
    return StepPage(
        run=run,
        version=plan.version,
        current=plan == rows.plan,
        step=step_view(rows, step, {other.key: rows.specs[other.pk] for other in others}, declared, few=False),
        criteria=tuple(wanted(item) for item in spec.acceptance_criteria),
        tools=tuple((action.tool, action.purpose) for action in spec.actions),
        columns=tuple(_columns(views, tried)),
        again=_again(run, step) if run.status == RunStatus.FINISHED else "",
    )


def _again(run: Run, step: Step) -> str:
    return f"{reverse('run_again', args=[run.pk])}?{urlencode({'anew': step.key})}"


def _rows_for(run: Run, step: Step) -> tuple[Rows, list[Attempt]]:
    """The run's rows, with this step's attempts whole, whichever version of the plan it belongs to."""
    rows = read(run)
    kept = step.reused_from
    tried = [kept] if kept else list(step.attempts.select_related(*WITH_ATTEMPT).order_by("number"))
    found = replace(
        rows,
        attempts={**rows.attempts, step.pk: tried},
        tools=tools_of(tried),
        problems=problems_of(tried),
        lacking=lacking_in(tried, rows.specs),
    )
    return found, tried


def _with_results(views: tuple[AttemptView, ...], tried: list[Attempt]) -> tuple[AttemptView, ...]:
    calls = ToolCall.objects.filter(attempt__in=[doer(attempt).pk for attempt in tried]).order_by()
    rows = calls.annotate(said=Left("result", RESULT_CHARS + 1)).values_list("pk", "said")
    said = {pk: _cut(text) for pk, text in rows}
    return tuple(
        replace(view, tools=tuple(replace(call, result=said.get(call.id, "")) for call in view.tools)) for view in views
    )


def _cut(text: str) -> str:
    return text if len(text) <= RESULT_CHARS else f"{text[:RESULT_CHARS]}\n… (cut here)"


def _columns(views: tuple[AttemptView, ...], tried: list[Attempt]) -> Iterator[Column]:
    before: Attempt | None = None
    for view, attempt in zip(views, tried, strict=True):
        diffs = tuple(_diffs(before, attempt)) if before else ()
        yield Column(view, before.number if before else 0, diffs)
        before = attempt


def _diffs(before: Attempt, after: Attempt) -> Iterator[FileDiff]:
    old, new = _digests(before), _digests(after)
    changed = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    for path in changed[:DIFF_FILES]:
        yield _diff(path, old.get(path), new.get(path))
    if len(changed) > DIFF_FILES:
        yield FileDiff(f"{len(changed) - DIFF_FILES} more files", (), "They differ too; they are not compared here.")


def _digests(attempt: Attempt) -> Mapping[str, FileInfo]:
    """What an attempt left at each path: digest and size. A removed file is left out."""
    return {path: entry for path, entry in attempt.overlay.items() if entry}


def _diff(path: str, old: FileInfo | None, new: FileInfo | None) -> FileDiff:
    if new is None:
        return FileDiff(path, (), "Not written this time.")
    if max(new.size, old.size if old else 0) > DIFF_BYTES:
        return FileDiff(path, (), "Too large to be compared here.")
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return FileDiff(path, (), "Not a text file.")
    lines = list(_diff_lines(before, after))
    note = "" if old else "Written for the first time."
    if len(lines) > DIFF_LINES:
        note = f"{len(lines) - DIFF_LINES:,} more lines of difference."
    return FileDiff(path, tuple(lines[:DIFF_LINES]), note)


def _text(entry: FileInfo | None) -> str | None:
    if entry is None:
        return ""
    try:
        return text_of(trees.read_blob(entry.sha256))
    except FileNotFoundError:
        return None


_KINDS = {"+": "added", "-": "removed", "@": "hunk"}


def _diff_lines(before: str, after: str) -> Iterator[DiffLine]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    for number, line in enumerate(lines):
        if number < 2:
            continue  # the names of the two files
        kind = _KINDS.get(line[:1], "same")
        yield DiffLine(kind, line if kind == "hunk" else line[1:])
