"""Compares the result of a suite with a baseline: which properties changed, with intervals, cost and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from runs.accounting.intervals import Share, wilson
from runs.evaluation.results import JudgedRun, SuiteResult
from runs.text.plural import pluralize


class Change(StrEnum):
    """How the pass rate of a property changed. `lower` and `higher` may be chance: the intervals overlap."""

    WORSE = "worse"
    LOWER = "lower"
    FAILS = "fails"
    GONE = "gone"
    NEW = "new"
    HIGHER = "higher"
    BETTER = "better"
    SAME = "same"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Change.WORSE: "worse than the baseline",
    Change.LOWER: "lower than the baseline, which may be chance",
    Change.FAILS: "not in every run",
    Change.GONE: "in the baseline only",
    Change.NEW: "not in the baseline",
    Change.HIGHER: "higher than the baseline, which may be chance",
    Change.BETTER: "better than the baseline",
    Change.SAME: "as in the baseline",
}


@dataclass(frozen=True)
class PropertyRow:
    """A property of a task: in how many of the judged runs it held, now and in the baseline, and what was found last.

    `before` and `now` are None where it was not judged.
    """

    name: str
    before: Share | None
    now: Share | None
    change: Change
    found: str


@dataclass(frozen=True)
class Means:
    """Means over the judged runs of a task. `cost_usd` is None if a call had no known price."""

    runs: int
    cost_usd: Decimal | None
    calls: float
    worked_ms: float


@dataclass(frozen=True)
class TaskRow:
    """A task: its properties, means now and in the baseline, and the runs of both.

    `remarks`: sentences on what is not comparable. `is_unmeasured`: there is a baseline, and nothing was judged now.
    """

    name: str
    properties: Sequence[PropertyRow]
    before: Means | None
    now: Means | None
    runs_before: Sequence[JudgedRun]
    runs: Sequence[JudgedRun]
    remarks: Sequence[str]
    is_unmeasured: bool


@dataclass(frozen=True)
class Comparison:
    """A result next to its baseline, if it has one. `remarks`: what else differs between the two."""

    tasks: Sequence[TaskRow]
    remarks: Sequence[str]

    def count(self, *changes: Change) -> int:
        return sum(row.change in changes for task in self.tasks for row in task.properties)

    def is_worse(self, *, ignore_chance: bool = False) -> bool:
        """Whether a property holds less often than before, or was not judged before and does not always hold."""
        return bool(self.count(Change.WORSE, Change.FAILS, *([] if ignore_chance else [Change.LOWER])))

    @property
    def is_incomplete(self) -> bool:
        """Whether something was not measured that should have been."""
        started = [run for task in self.tasks for run in task.runs]
        unfinished = any(run.why_not and not run.left_out for run in started)
        return unfinished or all(run.why_not for run in started) or any(task.is_unmeasured for task in self.tasks)


def compare(result: SuiteResult, baseline: SuiteResult | None) -> Comparison:
    """The result next to the baseline. Without one, a property that does not hold in every run counts as a failure."""
    names = dict.fromkeys([*result.tasks, *(baseline.tasks if baseline else ())])
    return Comparison(
        [_task_row(name, result, baseline) for name in names], list(_remarks(result, baseline)) if baseline else []
    )


def _remarks(result: SuiteResult, baseline: SuiteResult) -> Iterator[str]:
    if result.prompts != baseline.prompts:
        yield f"The prompts have changed since the baseline ({baseline.prompts} before, {result.prompts} now)."
    if result.service != baseline.service:
        yield f"Other models answer. Before: {baseline.service}. Now: {result.service}."
    if result.pevsite != baseline.pevsite:
        yield f"The baseline was made with version {baseline.pevsite}, and this with {result.pevsite}."


def _task_row(name: str, result: SuiteResult, baseline: SuiteResult | None) -> TaskRow:
    runs = [run for run in result.runs if run.task == name]
    runs_before = [run for run in baseline.runs if run.task == name] if baseline else []
    judged, judged_before = _judged(runs), _judged(runs_before)
    remarks = list(dict.fromkeys(run.why_not for run in runs if run.why_not))
    if baseline and name in result.tasks and name in baseline.tasks and result.tasks[name] != baseline.tasks[name]:
        remarks.append("The task, its files or what is expected have changed since the baseline.")
    if baseline and name not in result.tasks:
        remarks.append("The suite does not have this task any more.")
    return TaskRow(
        name=name,
        properties=list(_property_rows(judged, judged_before)),
        before=_means(judged_before),
        now=_means(judged),
        runs_before=runs_before,
        runs=runs,
        remarks=remarks,
        is_unmeasured=bool(judged_before and not judged),
    )


def _judged(runs: Iterable[JudgedRun]) -> list[JudgedRun]:
    return [run for run in runs if not run.why_not]


def _property_rows(runs: Sequence[JudgedRun], before: Sequence[JudgedRun]) -> Iterator[PropertyRow]:
    names = dict.fromkeys(one.name for run in [*runs, *before] for one in run.properties)
    for name in names:
        now, then = _share(name, runs), _share(name, before)
        yield PropertyRow(name, then, now, _change(then, now), _found(name, runs or before))


def _share(name: str, runs: Sequence[JudgedRun]) -> Share | None:
    held = [one.held for run in runs for one in run.properties if one.name == name]
    return wilson(sum(held), len(held)) if held else None


def _change(before: Share | None, now: Share | None) -> Change:
    if now is None:
        return Change.GONE
    if before is None:
        return Change.NEW if now.count == now.total else Change.FAILS
    assert before.value is not None  # there are runs
    assert now.value is not None
    if now.value < before.value:
        # One run says nothing of chance: a property that held and does not hold any more is worse.
        is_certain = now.high < before.low or (now.total == 1 and before.total == 1)
        return Change.WORSE if is_certain else Change.LOWER
    if now.value > before.value:
        is_certain = now.low > before.high or (now.total == 1 and before.total == 1)
        return Change.BETTER if is_certain else Change.HIGHER
    return Change.SAME


def _found(name: str, runs: Sequence[JudgedRun]) -> str:
    """What was found in the last run without the property; in the last run if all have it."""
    found = [one for run in runs for one in run.properties if one.name == name]
    return next((one.found for one in reversed(found) if not one.held), found[-1].found if found else "")


def _means(runs: Sequence[JudgedRun]) -> Means | None:
    if not runs:
        return None
    count = len(runs)
    priced = not any(run.unpriced for run in runs)
    return Means(
        runs=count,
        cost_usd=sum((run.cost_usd for run in runs), Decimal(0)) / count if priced else None,
        calls=sum(run.calls for run in runs) / count,
        worked_ms=sum(run.worked_ms for run in runs) / count,
    )


def rate_in_words(share: Share | None) -> str:
    """Such as “8 of 10 (49–94 %)”; without an interval for a single run."""
    if share is None:
        return "–"
    if share.total == 1:
        return "yes" if share.count else "no"
    return f"{share.count} of {share.total} ({100 * share.low:.0f}–{100 * share.high:.0f} %)"


def summary(comparison: Comparison, *, has_baseline: bool) -> str:
    """One sentence on the properties, worst first."""
    total = sum(len(task.properties) for task in comparison.tasks)
    if not total:
        return "No property was judged."
    counts = [(change, comparison.count(change)) for change in Change if change is not Change.SAME]
    if not has_baseline:
        failing = comparison.count(Change.FAILS)
        held = total - failing
        return f"{held} of {pluralize(total, 'property', 'properties')} held in every run."
    words = [f"{count} {change.sentence}" for change, count in counts if count]
    return f"{pluralize(total, 'property', 'properties')}: {'; '.join(words) or 'all as in the baseline'}."
