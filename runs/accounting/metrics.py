"""The figures of one run or of many: how well plans were carried out, at what cost, in what time. Reads only.

`figures` says what each figure counts. The database computes everything, in a number of queries that does not grow with
the runs. Only confidence and failed criteria are read from stored attempts and verdicts, and only from the latest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import (
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

from runs.accounting.costs import RoleTotals, Totals, totals_by
from runs.accounting.figures import (
    AttemptFigures,
    Bucket,
    FailedCriterion,
    FiguresOverTime,
    Metrics,
    Phase,
    RunFigures,
    StepFigures,
    Times,
    Trends,
    Waiting,
)
from runs.enums import TERMINAL_STEPS, AttemptStatus, GateStatus, Outcome, Role, StepStatus, WorkKind
from runs.evidence.results import CriterionResult
from runs.models import Attempt, Gate, ModelCall, Plan, Run, ToolCall, Verdict

LATEST_VERDICTS = 500
"""The number of latest verdicts from which failing criteria and the confidence of the verifier are computed."""
LATEST_ATTEMPTS = 2_000
"""The number of latest attempts from which the confidence of the executor is computed."""
MOST_FAILED = 10
"""Failing criteria that are named."""
BOUNDS = (0.0, 0.5, 0.7, 0.8, 0.9)
"""The beginnings of the ranges of confidence. The last range ends at 1."""


def metrics(runs: QuerySet[Run]) -> Metrics:
    """The figures of these runs, in nine queries."""
    return _metrics(_Measured(runs, ()))


def metrics_over_time(runs: QuerySet[Run], begins: Sequence[datetime]) -> tuple[Metrics, Trends]:
    """The figures, also over time in spans that begin at these times, in ten queries. Earlier runs are in the first."""
    measured = _Measured(runs, begins)
    failing, verdicts = _failing_criteria(measured.chosen)
    spans = tuple(
        FiguresOverTime(begin, measured.runs.get(number, RunFigures()), measured.steps.get(number, (StepFigures(),))[0])
        for number, begin in enumerate(begins)
    )
    return _metrics(measured), Trends(spans, failing, verdicts)


class _Measured:
    """Figures by span: runs, steps and attempts. The number of a span is its place in `begins`."""

    def __init__(self, runs: QuerySet[Run], begins: Sequence[datetime]) -> None:
        self.chosen = (
            runs.order_by()
        )  # only used in subqueries, so that each run counts once even if the queryset has joins
        self.runs = _runs(self.chosen, begins)
        self.steps = _steps(self.chosen, begins)


def _metrics(measured: _Measured) -> Metrics:
    chosen, now = measured.chosen, timezone.now()
    calls = totals_by(ModelCall.objects.filter(run__in=chosen), "work__kind", "role", "model")
    waiting = tuple(_waiting(chosen, now))
    verifier, verdicts = _verifier_confidence(chosen)
    roles = tuple(_by_role((role, model, used) for (_kind, role, model), used in calls))
    steps = sum((one for one, _ in measured.steps.values()), StepFigures())
    mine = Exists(chosen.filter(pk=OuterRef("step__plan__run")))
    reused = Attempt.objects.reused().passed().filter(mine, step__status=StepStatus.PASSED)
    return Metrics(
        runs=replace(
            sum(measured.runs.values(), RunFigures()),
            rejected=Plan.objects.rejected().filter(run__in=chosen).count(),
        ),
        steps=replace(steps, reused=reused.aggregate(steps=Count("step", distinct=True))["steps"] or 0),
        attempts=sum((one for _, one in measured.steps.values()), AttemptFigures()),
        phases=_phases([(kind, role, used) for (kind, role, _), used in calls], chosen),
        waiting=waiting,
        waited=sum((one.times for one in waiting), Times()),
        executor=_executor_confidence(chosen),
        verifier=verifier,
        verdicts=verdicts,
        roles=roles,
        totals=sum((one.totals for one in roles), Totals()),
    )


def _span(path: str, begins: Sequence[datetime]) -> Case | Value:
    """The number of the span of a time. Times are compared, not truncated, because SQLite truncates in Python, row by
    row.
    """
    later = [When(**{f"{path}__gte": begin}, then=Value(number)) for number, begin in enumerate(begins)]
    return Case(*reversed(later), default=Value(0), output_field=IntegerField()) if later else Value(0)


def _runs(chosen: QuerySet[Run], begins: Sequence[datetime]) -> dict[int, RunFigures]:
    wall = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())
    rows: Iterable[Mapping[str, Any]] = (
        Run.objects.filter(pk__in=chosen.values("pk"))
        .order_by()
        .annotate(span=_span("created_at", begins))
        .values("span")
        .annotate(
            total=Count("pk"),
            replanned=Coalesce(Sum("replans"), 0),
            **{outcome.value: Count("pk", filter=Q(outcome=outcome)) for outcome in Outcome},
            **_sums(wall, "finished_at"),
        )
    )
    return {
        row["span"]: RunFigures(
            total=row["total"],
            succeeded=row[Outcome.SUCCEEDED],
            partial=row[Outcome.PARTIAL],
            failed=row[Outcome.FAILED],
            cancelled=row[Outcome.CANCELLED],
            open=row["total"] - row["number"],
            replans=row["replanned"],
            wall=_times(row),
        )
        for row in rows
    }


def _steps(chosen: QuerySet[Run], begins: Sequence[datetime]) -> dict[int, tuple[StepFigures, AttemptFigures]]:
    """Two figures from one query of attempts, the largest table here."""
    judged, passed = Q(verdict__isnull=False), Q(step__status=StepStatus.PASSED)
    again = Q(verdict__passed=False, number__lt=F("step__tries"))
    steps = {
        "attempted": judged,
        "ended": judged & Q(step__status__in=TERMINAL_STEPS - {StepStatus.NOT_APPLICABLE}),
        "first_pass": judged & passed & Q(number=1, status=AttemptStatus.PASSED),
        "retried": again,
        "recovered": again & passed,
        **{status.value: judged & Q(step__status=status) for status in TERMINAL_STEPS},
    }
    attempts = {
        "judged": judged,
        "passed": Q(verdict__passed=True),
        "sent_back": Q(status=AttemptStatus.REJECTED),
        "conflicts": Q(status=AttemptStatus.CONFLICT),
        "retries": Q(number__gt=1),
        "unsupported": Q(verdict__unsupported__gt=0),
    }
    rows: Iterable[Mapping[str, Any]] = (
        _own(chosen, "step__plan__run")
        .annotate(span=_span("step__plan__run__created_at", begins))
        .order_by()
        .values("span")
        .annotate(
            **{f"step_{name}": Count("step", distinct=True, filter=which) for name, which in steps.items()},
            **{f"attempt_{name}": Count("pk", filter=which) for name, which in attempts.items()},
        )
    )
    return {
        row["span"]: (
            StepFigures(**{name: row[f"step_{name}"] for name in steps}),
            AttemptFigures(**{name: row[f"attempt_{name}"] for name in attempts}),
        )
        for row in rows
    }


def _own(chosen: QuerySet[Run], path: str) -> QuerySet[Attempt]:
    """The attempts that these runs made themselves. With Exists, because SQLite would first sort a join by run."""
    return Attempt.objects.filter(Exists(chosen.filter(pk=OuterRef(path))), reused_from=None)


_PHASES = ("planning", "executing", "verifying", "finalising")


def _phases(calls: Iterable[tuple[str, str, Totals]], chosen: QuerySet[Run]) -> tuple[Phase, ...]:
    found = dict.fromkeys(_PHASES, Totals())
    for kind, role, used in calls:
        if kind == WorkKind.ATTEMPT:
            phase = "verifying" if role == Role.VERIFIER else "executing"
        else:
            phase = "planning" if kind == WorkKind.PLAN else "finalising"
        found[phase] += used
    tools = ToolCall.objects.filter(run__in=chosen).aggregate(ms=Coalesce(Sum("duration_ms"), 0))["ms"]
    return tuple(
        Phase(name, used.calls, used.duration_ms, tools if name == "executing" else 0) for name, used in found.items()
    )


def _waiting(chosen: QuerySet[Run], now: datetime) -> tuple[Waiting, ...]:
    until = Coalesce(F("decided_at"), F("withdrawn_at"), Value(now))
    waited = ExpressionWrapper(until - F("opened_at"), output_field=DurationField())
    rows = (
        Gate.objects.known()
        .filter(run__in=chosen)
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


def _executor_confidence(chosen: QuerySet[Run]) -> tuple[Bucket, ...]:
    claims = _own(chosen, "step__plan__run").filter(verdict__isnull=False, output__status="done").order_by("-pk")
    said = claims.annotate(claimed=Cast(KT("output__confidence"), FloatField())).filter(claimed__isnull=False)
    return buckets_of(list(said.values_list("claimed", "verdict__passed")[:LATEST_ATTEMPTS]))


def _verifier_confidence(chosen: QuerySet[Run]) -> tuple[tuple[Bucket, ...], int]:
    """The ranges with their claims, and the number of verdicts that were read."""
    read = _latest(chosen, stage="model")
    claims = [one for each in read for one in each if one.decided_by == "model" and one.claimed]
    return buckets_of([(one.confidence, one.supported) for one in claims]), len(read)


def _failing_criteria(chosen: QuerySet[Run]) -> tuple[tuple[FailedCriterion, ...], int]:
    """The criteria that failed most often, and the number of verdicts that were read."""
    read = _latest(chosen, passed=False)
    failed = [one for each in read for one in each if not one.passed and one.decided_by != "nobody"]
    often = Counter(one.text for one in failed)
    unsupported = Counter(one.text for one in failed if one.claimed)
    found = tuple(FailedCriterion(text, count, unsupported[text]) for text, count in often.most_common(MOST_FAILED))
    return found, len(read)


def _latest(chosen: QuerySet[Run], **which: object) -> list[list[CriterionResult]]:
    own = _own(chosen, "step__plan__run").filter(pk=OuterRef("attempt"))
    verdicts = Verdict.objects.filter(Exists(own), **which).order_by("-pk")
    return list(verdicts.values_list("results", flat=True)[:LATEST_VERDICTS])


def buckets_of(claims: Sequence[tuple[float, bool]]) -> tuple[Bucket, ...]:
    """Group claims by confidence, with how many held. Ranges without claims are left out."""
    buckets = []
    for number, low in enumerate(BOUNDS):
        high = BOUNDS[number + 1] if number + 1 < len(BOUNDS) else 1.0
        here = [(said, held) for said, held in claims if low <= said and (said < high or high == 1.0)]
        if here:
            mean = sum(said for said, _ in here) / len(here)
            buckets.append(Bucket(low, high, len(here), sum(held for _, held in here), mean))
    return tuple(buckets)


def _by_role(calls: Iterable[tuple[str, str, Totals]]) -> Iterable[RoleTotals]:
    """Merge the phases of a role, in the order of the first call."""
    found: dict[tuple[str, str], Totals] = {}
    for role, model, used in calls:
        found[role, model] = found.get((role, model), Totals()) + used
    return [RoleTotals(role, model, used) for (role, model), used in found.items()]
