"""The figures of one run or of many: how well plans were carried out, for how much, in what time. Reads only.

What is counted is said at each figure. Everything is computed by the database, in a number of queries that does
not grow with the runs; only the verifier's confidence is read from stored verdicts, the latest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
    Avg,
    Case,
    Count,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    FloatField,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from runs.accounting.totals import RoleTotals, Totals, totals_by
from runs.enums import TERMINAL_STEPS, AttemptStatus, GateStatus, Outcome, Role, StepStatus, WorkKind
from runs.models import Attempt, Gate, ModelCall, Plan, Run, Step, ToolCall, Verdict
from runs.pev.evidence.results import CriterionResult

LATEST_VERDICTS = 500
"""From how many verdicts, the latest, the verifier's confidence is read."""
DOUBTED_VERDICTS = 20
"""From so many on: of verifiers that would let nine in ten results pass, one in eight never says no in twenty."""
BOUNDS = (0.0, 0.5, 0.7, 0.8, 0.9)
"""Where the ranges of confidence begin; the last one ends at 1."""


@dataclass(frozen=True)
class Times:
    """Of `count` things: together, on average and the longest, in milliseconds; all 0 when there are none."""

    count: int = 0
    total_ms: int = 0
    mean_ms: int = 0
    max_ms: int = 0


@dataclass(frozen=True)
class RunFigures:
    """Runs by outcome; `open` ones are not finished. `wall`: from submission to the end, of finished runs.

    `replans`: new versions that the run itself asked for. `rejected`: versions of plans that a person sent back.
    """

    total: int
    succeeded: int
    partial: int
    failed: int
    cancelled: int
    open: int
    replans: int
    rejected: int
    wall: Times


@dataclass(frozen=True)
class StepFigures:
    """Steps that were attempted: at least one attempt at them was judged. Of all versions of the plans.

    A step that a later version keeps is counted once, where it was carried out. `ended`: those of the attempted that
    passed, were accepted with issues, failed, or were dropped by a replan or a stop. `first_pass`: those that passed
    with their first attempt, and were not sent back by a person. `retried`: those with an attempt after one that a
    verdict had failed; `recovered`: of these, those that passed. `reused`, not among the attempted: steps that
    passed with the result of an earlier run.
    """

    attempted: int
    ended: int
    passed: int
    accepted: int
    failed: int
    dropped: int
    first_pass: int
    retried: int
    recovered: int
    reused: int

    @property
    def first_pass_yield(self) -> float | None:
        """`first_pass` of `ended`, 0 to 1; None when none has ended."""
        return self.first_pass / self.ended if self.ended else None

    @property
    def pass_rate(self) -> float | None:
        """`passed`, at whatever attempt, of `ended`, 0 to 1. Accepted with issues is not passed."""
        return self.passed / self.ended if self.ended else None


@dataclass(frozen=True)
class AttemptFigures:
    """Judged attempts, and what came of them. Those under way, and those cut off by a stop, are not judged; results
    taken over from earlier runs are no attempts.

    `passed`: the verdict was a pass. `sent_back`: passed and rejected by a person afterwards. `conflicts`: passed
    and tried again since another step had changed the same file. `retries`: attempts after the first at their step,
    judged or not. `unsupported`: verdicts in which the verifier claimed what no evidence supported; the final judgement
    of the success criteria is not among them.
    """

    judged: int
    passed: int
    sent_back: int
    conflicts: int
    retries: int
    unsupported: int


@dataclass(frozen=True)
class Phase:
    """Sums of the journal for planning, executing, verifying or finalising: `model_ms` in model calls, `tool_ms` in
    tool calls. Calls that ran side by side are added up, so that the sum may be longer than the time that went by."""

    name: str
    calls: int
    model_ms: int
    tool_ms: int

    @property
    def ms(self) -> int:
        return self.model_ms + self.tool_ms


@dataclass(frozen=True)
class Waiting:
    """Gates of one kind. Each waited from its opening to its decision or withdrawal; `open` ones wait until now."""

    kind: str
    open: int
    times: Times


@dataclass(frozen=True)
class Bucket:
    """Claims made with a confidence from `low` to `high`: on average `claimed`, and `held` of `count` held."""

    low: float
    high: float
    count: int
    held: int
    claimed: float

    @property
    def share(self) -> float:
        return self.held / self.count

    @property
    def label(self) -> str:
        """The range in percent."""
        high = f"{self.high * 100:.0f} %"
        return f"{self.low * 100:.0f} to {high}" if self.low else f"below {high}"

    @property
    def reading(self) -> str:
        """What a person may conclude; nothing from fewer than five claims."""
        if self.count < 5:
            return "too few"
        off = self.claimed - self.share
        return "about right" if abs(off) < 0.1 else "too sure" if off > 0 else "too modest"


@dataclass(frozen=True)
class Metrics:
    """All figures. `executor`: its confidence in attempts reported as done, against their verdicts. `verifier`: its
    confidence in criteria that it claimed to be met, against the evidence; from the latest `verdicts` verdicts.
    """

    runs: RunFigures
    steps: StepFigures
    attempts: AttemptFigures
    phases: tuple[Phase, ...]
    waiting: tuple[Waiting, ...]
    waited: Times
    executor: tuple[Bucket, ...]
    verifier: tuple[Bucket, ...]
    verdicts: int
    roles: tuple[RoleTotals, ...]
    totals: Totals

    @property
    def doubt(self) -> str:
        """A question, where everything passed at once so often that nobody may have looked; else empty."""
        at_once = self.steps.ended == self.steps.first_pass and not self.attempts.retries
        if not at_once or self.attempts.judged < DOUBTED_VERDICTS:
            return ""
        return f"100 % and never a retry in {self.attempts.judged} verdicts: is the verifier awake?"


def metrics(runs: QuerySet[Run]) -> Metrics:
    """The figures of these runs as of now, in ten queries."""
    chosen = Run.objects.filter(pk__in=runs.order_by().values("pk"))  # each once, whatever was joined to find them
    now = timezone.now()
    calls = totals_by(ModelCall.objects.filter(run__in=chosen), "work__kind", "role", "model")
    waiting = tuple(_waiting(chosen, now))
    verifier, verdicts = _verifier(chosen)
    roles = tuple(_by_role((role, model, used) for (_kind, role, model), used in calls))
    return Metrics(
        runs=_runs(chosen),
        steps=_steps(chosen),
        attempts=_attempts(chosen),
        phases=_phases([(kind, role, used) for (kind, role, _), used in calls], chosen),
        waiting=waiting,
        waited=_together(one.times for one in waiting),
        executor=_executor(chosen),
        verifier=verifier,
        verdicts=verdicts,
        roles=roles,
        totals=sum((one.totals for one in roles), Totals()),
    )


def _runs(chosen: QuerySet[Run]) -> RunFigures:
    wall = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())
    found = chosen.aggregate(
        runs=Count("pk"),
        replanned=Coalesce(Sum("replans"), 0),
        **{outcome.value: Count("pk", filter=Q(outcome=outcome)) for outcome in Outcome},
        **_sums(wall, "finished_at"),
    )
    return RunFigures(
        total=found["runs"],
        succeeded=found[Outcome.SUCCEEDED],
        partial=found[Outcome.PARTIAL],
        failed=found[Outcome.FAILED],
        cancelled=found[Outcome.CANCELLED],
        open=found["runs"] - found["number"],
        replans=found["replanned"],
        rejected=Plan.objects.rejected().filter(run__in=chosen).count(),
        wall=_times(found),
    )


def _steps(chosen: QuerySet[Run]) -> StepFigures:
    own = Attempt.objects.filter(step=OuterRef("pk"), reused_from=None)
    at_once = own.filter(number=1, status=AttemptStatus.PASSED)
    again = Exists(own.filter(verdict__passed=False, number__lt=OuterRef("tries")))
    taken = Attempt.objects.reused().passed().filter(step=OuterRef("pk"))
    steps = Step.objects.filter(plan__run__in=chosen)
    found = steps.filter(Exists(own.filter(verdict__isnull=False))).aggregate(
        attempted=Count("pk"),
        ended=Count("pk", filter=Q(status__in=TERMINAL_STEPS)),
        first_pass=Count("pk", filter=Q(Exists(at_once), status=StepStatus.PASSED)),
        retried=Count("pk", filter=Q(again)),
        recovered=Count("pk", filter=Q(again, status=StepStatus.PASSED)),
        **{
            status.value: Count("pk", filter=Q(status=status))
            for status in (StepStatus.PASSED, StepStatus.ACCEPTED, StepStatus.FAILED, StepStatus.DROPPED)
        },
    )
    return StepFigures(**found, reused=steps.filter(Exists(taken), status=StepStatus.PASSED).count())


def _attempts(chosen: QuerySet[Run]) -> AttemptFigures:
    found = Attempt.objects.filter(step__plan__run__in=chosen, reused_from=None).aggregate(
        judged=Count("verdict"),
        passed=Count("pk", filter=Q(verdict__passed=True)),
        sent_back=Count("pk", filter=Q(status=AttemptStatus.REJECTED)),
        conflicts=Count("pk", filter=Q(status=AttemptStatus.CONFLICT)),
        retries=Count("pk", filter=Q(number__gt=1)),
        unsupported=Count("pk", filter=Q(verdict__unsupported__gt=0)),
    )
    return AttemptFigures(**found)


_PHASES = ("planning", "executing", "verifying", "finalising")


def _phases(calls: Iterable[tuple[str, str, Totals]], chosen: QuerySet[Run]) -> tuple[Phase, ...]:
    found = dict.fromkeys(_PHASES, Totals())
    for kind, role, used in calls:
        found[_phase(kind, role)] += used
    tools = ToolCall.objects.filter(run__in=chosen).aggregate(ms=Coalesce(Sum("duration_ms"), 0))["ms"]
    return tuple(
        Phase(name, used.calls, used.duration_ms, tools if name == "executing" else 0) for name, used in found.items()
    )


def _phase(kind: str, role: str) -> str:
    if kind == WorkKind.ATTEMPT:
        return "verifying" if role == Role.VERIFIER else "executing"
    return "planning" if kind == WorkKind.PLAN else "finalising"


def _waiting(chosen: QuerySet[Run], now: datetime) -> tuple[Waiting, ...]:
    ended = Case(When(status=GateStatus.WITHDRAWN, then=F("run__finished_at")))  # rows of version 0.1 have no time
    until = Coalesce(F("decided_at"), F("withdrawn_at"), ended, Value(now))
    waited = ExpressionWrapper(until - F("opened_at"), output_field=DurationField())
    rows = (
        Gate.objects.filter(run__in=chosen)
        .order_by("kind")
        .values("kind")
        .annotate(open=Count("pk", filter=Q(status=GateStatus.OPEN)), **_sums(waited, "pk"))
    )
    return tuple(Waiting(row["kind"], row["open"], _times(row)) for row in rows)


def _sums(took: ExpressionWrapper[Any], counted: str) -> dict[str, Any]:
    return {"number": Count(counted), "together": Sum(took), "longest": Max(took)}


def _times(row: Mapping[str, Any]) -> Times:
    number, together, longest = row["number"], _ms(row["together"]), _ms(row["longest"])
    return Times(number, together, round(together / number), longest) if number else Times()


def _ms(took: timedelta | None) -> int:
    return round(took / timedelta(milliseconds=1)) if took else 0


def _together(parts: Iterable[Times]) -> Times:
    listed = list(parts)
    number, together = sum(one.count for one in listed), sum(one.total_ms for one in listed)
    longest = max((one.max_ms for one in listed), default=0)
    return Times(number, together, round(together / number), longest) if number else Times()


def _executor(chosen: QuerySet[Run]) -> tuple[Bucket, ...]:
    claims = Attempt.objects.filter(
        step__plan__run__in=chosen, reused_from=None, verdict__isnull=False, output__status="done"
    )
    stated = claims.annotate(claimed=Cast(KT("output__confidence"), FloatField()))
    ranges = (When(claimed__gte=low, then=Value(number)) for number, low in reversed([*enumerate(BOUNDS)]))
    rows = (
        stated.filter(claimed__isnull=False)
        .annotate(bucket=Case(*ranges, output_field=IntegerField()))
        .order_by("bucket")
        .values("bucket")
        .annotate(number=Count("pk"), held=Count("pk", filter=Q(verdict__passed=True)), mean=Avg("claimed"))
    )
    return tuple(_bucket(row["bucket"], row["number"], row["held"], row["mean"]) for row in rows)


def _verifier(chosen: QuerySet[Run]) -> tuple[tuple[Bucket, ...], int]:
    """The buckets, and how many verdicts were read for them."""
    own = Attempt.objects.filter(step__plan__run__in=chosen, reused_from=None)
    verdicts = Verdict.objects.filter(attempt__in=own, stage="model").order_by("-pk")
    read = list(_results(verdicts))
    claims = [one for each in read for one in each if one.decided_by == "model" and one.claimed]
    buckets = []
    for number, low in enumerate(BOUNDS):
        below = BOUNDS[number + 1] if number + 1 < len(BOUNDS) else 2.0
        here = [one for one in claims if low <= one.confidence < below]
        if here:
            mean = sum(one.confidence for one in here) / len(here)
            buckets.append(_bucket(number, len(here), sum(1 for one in here if one.supported), mean))
    return tuple(buckets), len(read)


def _results(verdicts: QuerySet[Verdict]) -> Iterable[list[CriterionResult]]:
    return verdicts.values_list("results", flat=True)[:LATEST_VERDICTS]


def _bucket(number: int, count: int, held: int, claimed: float) -> Bucket:
    high = BOUNDS[number + 1] if number + 1 < len(BOUNDS) else 1.0
    return Bucket(BOUNDS[number], high, count, held, claimed)


def _by_role(calls: Iterable[tuple[str, str, Totals]]) -> Iterable[RoleTotals]:
    """Merges the phases of a role; the order is that of the first call."""
    found: dict[tuple[str, str], Totals] = {}
    for role, model, used in calls:
        found[role, model] = found.get((role, model), Totals()) + used
    return [RoleTotals(role, model, used) for (role, model), used in found.items()]
