"""Steps as rows: state, met criteria, attempts, time and cost, for all steps of a plan or for one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from runs.accounting.costs import Totals, totals_by
from runs.enums import OPEN_ATTEMPTS, StepStatus
from runs.lifecycle.overruling import IS_OVERRULED, is_overruled
from runs.models import Attempt, Gate, ModelCall, Overruling, Step, Verdict
from runs.readmodel.status_words import judged_by_people, step_mark

_OPEN = frozenset({StepStatus.RUNNING, StepStatus.JUDGED, StepStatus.WAITING, StepStatus.FAILED})


@dataclass(frozen=True)
class StepRow:
    """One step in a line. `met` of `criteria`, by its latest verdict on any; None before there is one. `ms` adds up its
    attempts, None before the first; `share` of the longest step of the plan, in percent. `reused` says from where.
    `mark` is the status by which pages mark it. `by_people`: who judges it otherwise than its latest verdict.
    """

    step: Step
    mark: str
    met: int | None
    criteria: int
    attempts: int
    ms: int | None
    share: int
    spent: Totals
    reused: str
    by_people: str

    @property
    def number(self) -> int:
        """Its place in the plan, from 1."""
        return self.step.position + 1

    @property
    def open(self) -> bool:
        """Whether there is something to follow, decide or know. Such rows are unfolded from the beginning."""
        return self.step.status in _OPEN

    @property
    def unmet(self) -> bool:
        return self.met is not None and self.met < self.criteria


def rows_of(steps: Sequence[Step], marks: Sequence[str]) -> list[StepRow]:
    """All steps of a version of a plan, each with its mark."""
    plans = {step.plan_id for step in steps}
    return _rows(
        steps, marks, _attempts_without_files(Q(step__plan__in=plans) | Q(pk__in=[one.reused_from_id for one in steps]))
    )


def row_of(step: Step) -> StepRow:
    """One step, whatever the size of its plan."""
    spans = Attempt.objects.filter(step__plan=step.plan_id).values("step")
    spent = Sum(Coalesce(F("finished_at"), Now()) - F("created_at"))
    longest = spans.annotate(time=spent).aggregate(longest=Max("time"))["longest"] or timedelta(0)
    marks = [step_mark(step.status, Gate.objects.open().holding(step, step.plan_id).exists())]
    return _rows([step], marks, _attempts_without_files(Q(step=step) | Q(pk=step.reused_from_id)), longest)[0]


def _attempts_without_files(which: Q) -> Sequence[Attempt]:
    """The attempts without their files and reports."""
    found: QuerySet[Attempt] = Attempt.objects.filter(which).annotate(is_overruled=IS_OVERRULED)
    found = found.select_related("step__plan", "reused_from__step__plan")
    fields = ("step__plan__version", "reused_from__step__plan__run", "number", "status", "created_at", "finished_at")
    return list(found.only(*fields).order_by("number"))


def _rows(
    steps: Sequence[Step], marks: Sequence[str], attempts: Sequence[Attempt], longest: timedelta | None = None
) -> list[StepRow]:
    """`longest`: the time of the longest step of the plan, if that may be another than these."""
    every = {attempt.pk: attempt for attempt in attempts}
    own: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        own[attempt.step_id].append(attempt)
    tried = {step.pk: [every[step.reused_from_id]] if step.reused_from_id else own[step.pk] for step in steps}
    met = _met(every)
    by_people = _by_people(steps, {pk: listed[-1] for pk, listed in tried.items() if listed})
    calls = ModelCall.objects.filter(attempt__in=every)
    spent = {attempt: used for (attempt,), used in totals_by(calls, "attempt_id")}
    now = timezone.now()
    times = {pk: _time_spent(listed, now) for pk, listed in tried.items()}
    if longest is None:
        longest = max((times[step.pk] for step in steps if not step.reused_from_id), default=timedelta(0))
    return [
        _row(step, mark, tried[step.pk], met, spent, times[step.pk], longest, by_people.get(step.pk, ""))
        for step, mark in zip(steps, marks, strict=True)
    ]


def _row(
    step: Step,
    mark: str,
    tried: Sequence[Attempt],
    met: Mapping[int, tuple[int, int]],
    spent: Mapping[int, Totals],
    time: timedelta,
    longest: timedelta,
    by_people: str,
) -> StepRow:
    judged = [met[attempt.pk] for attempt in tried if met.get(attempt.pk, (0, 0))[1]]
    if step.status == StepStatus.NOT_APPLICABLE:
        judged = []  # that was judged instead of its criteria
    reused = ""
    if step.reused_from_id:
        reused = f"reused from version {tried[0].step.plan.version}"
    elif tried and (source := tried[-1].reused_from):
        reused = f"reused from run {source.step.plan.run_id}"
    return StepRow(
        step=step,
        mark=mark,
        met=judged[-1][0] if judged else None,
        criteria=judged[-1][1] if judged else len(step.spec.acceptance_criteria),
        attempts=len(tried),
        ms=round(time / timedelta(milliseconds=1)) if tried else None,
        share=min(100, round(100 * (time / longest))) if longest else 0,
        spent=sum((spent[one.pk] for one in tried if one.pk in spent), Totals()),
        reused=reused,
        by_people=by_people,
    )


def _met(attempts: Iterable[int]) -> dict[int, tuple[int, int]]:
    """For each attempt, how many of its criteria the verdict found met. Only failed verdicts are read whole."""
    verdicts = Verdict.objects.filter(attempt__in=attempts)
    found = {pk: (count, count) for pk, count in verdicts.filter(passed=True).values_list("attempt", "criteria")}
    for verdict in verdicts.filter(passed=False).only("attempt", "results"):
        found[verdict.attempt_id] = (sum(one.met for one in verdict.results), len(verdict.results))
    return found


def _by_people(steps: Sequence[Step], latest: Mapping[int, Attempt]) -> dict[int, str]:
    """Who judges the latest attempt of a step otherwise than its verdict, by step; no query for most plans."""
    overruled: dict[int, list[Overruling]] = defaultdict(list)
    if asked := [attempt.pk for attempt in latest.values() if is_overruled(attempt)]:
        for row in Overruling.objects.in_force().with_verdicts().filter(attempt__in=asked):
            overruled[row.attempt_id].append(row)
    decisions: dict[int, list[Gate]] = defaultdict(list)
    if accepted := [latest[step.pk].pk for step in steps if step.status == StepStatus.ACCEPTED and step.pk in latest]:
        for gate in Gate.objects.filter(attempt__in=accepted).select_related("decided_by"):
            decisions[gate.attempt_id or 0].append(gate)
    return {
        step: judged_by_people(overruled.get(attempt.pk, ()), decisions.get(attempt.pk, ()))
        for step, attempt in latest.items()
    }


def _time_spent(attempts: Iterable[Attempt], now: datetime) -> timedelta:
    ends = ((one, one.finished_at or (now if one.status in OPEN_ATTEMPTS else one.created_at)) for one in attempts)
    return sum((max(end - one.created_at, timedelta(0)) for one, end in ends), timedelta(0))
