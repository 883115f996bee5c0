"""The evaluations of this installation: the properties of each task next to the baseline, with links to both runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pevsite.installation import PROGRAM
from runs.evaluation.comparison import Change, Comparison, PropertyRow, TaskRow, compare, rate_in_words, summary
from runs.evaluation.results import JudgedRun, StoredEvaluation, stored, stored_numbers
from runs.models import Run
from runs.web.site.requests import administrators_only

MAX_LISTED = 50
"""Evaluations that the list shows, newest first."""
_TONES = {
    Change.WORSE: "bad",
    Change.FAILS: "bad",
    Change.LOWER: "warn",
    Change.GONE: "warn",
    Change.HIGHER: "good",
    Change.BETTER: "good",
}


@dataclass(frozen=True)
class EvaluationHead:
    """An evaluation in one line."""

    number: int
    evaluation: StoredEvaluation
    comparison: Comparison

    @property
    def summary(self) -> str:
        return summary(self.comparison, has_baseline=self.evaluation.baseline is not None)

    @property
    def tone(self) -> str:
        if self.comparison.is_worse(ignore_chance=True):
            return "bad"
        return "warn" if self.comparison.is_worse() or self.comparison.is_incomplete else "good"

    @property
    def verdict(self) -> str:
        """The result in a word or two."""
        if self.comparison.is_worse(ignore_chance=True):
            return "worse" if self.evaluation.baseline else "not all hold"
        if self.comparison.is_worse():
            return "lower"
        return "incomplete" if self.comparison.is_incomplete else "as it should be"


@dataclass(frozen=True)
class PropertyLine:
    """A property of a task as the table shows it."""

    row: PropertyRow

    @property
    def before(self) -> str:
        return rate_in_words(self.row.before)

    @property
    def now(self) -> str:
        return rate_in_words(self.row.now)

    @property
    def tone(self) -> str:
        return _TONES.get(self.row.change, "")

    @property
    def word(self) -> str:
        """What changed; empty if nothing did."""
        return "" if self.row.change in {Change.SAME, Change.NEW} else self.row.change.sentence


@dataclass(frozen=True)
class RunPair:
    """A run next to that of the baseline, and their numbers here: None for a run of another installation."""

    now: JudgedRun | None
    before: JudgedRun | None
    number: int | None
    number_before: int | None


@dataclass(frozen=True)
class TaskSection:
    task: TaskRow
    numbers: Mapping[UUID, int]

    @property
    def properties(self) -> list[PropertyLine]:
        """What is worse comes first."""
        order = list(Change)
        return [PropertyLine(row) for row in sorted(self.task.properties, key=lambda row: order.index(row.change))]

    @property
    def pairs(self) -> Iterator[RunPair]:
        for now, before in zip_longest(self.task.runs, self.task.runs_before):
            yield RunPair(now, before, self._number(now), self._number(before))

    def _number(self, run: JudgedRun | None) -> int | None:
        return self.numbers.get(run.submission) if run and run.submission else None


@require_safe
@administrators_only
def evaluations(request: HttpRequest) -> HttpResponse:
    """The evaluations that were carried out in this installation."""
    numbers = stored_numbers()
    heads = [head for number in numbers[:MAX_LISTED] if (head := _head(number))]
    context = {"heads": heads, "more": max(0, len(numbers) - MAX_LISTED), "program": PROGRAM}
    return render(request, "evaluation/evaluations.html", context)


@require_safe
@administrators_only
def evaluation(request: HttpRequest, number: int) -> HttpResponse:
    """One evaluation next to its baseline."""
    head = _head(number)
    if head is None:
        raise Http404("There is no such evaluation.")
    runs = [run for task in head.comparison.tasks for run in (*task.runs, *task.runs_before)]
    tokens = [run.submission for run in runs if run.submission]
    numbers = dict(Run.objects.filter(submission__in=tokens).values_list("submission", "pk"))
    sections = [TaskSection(task, numbers) for task in head.comparison.tasks]
    return render(request, "evaluation/evaluation.html", {"head": head, "sections": sections})


def _head(number: int) -> EvaluationHead | None:
    found = stored(number)
    return EvaluationHead(number, found, compare(found.result, found.baseline)) if found else None
