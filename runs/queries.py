"""What the inbox lists: open gates, runs under way, finished runs."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from runs.models import Event, Gate, ModelCall, Plan, Run, Step
from runs.models.querysets import RunQuerySet

_ZERO = Decimal(0)


def without_ai(models: Iterable[str]) -> bool:
    """Whether all of these models are the offline rules; False when there are none."""
    names = list(models)
    return bool(names) and all(name.startswith("offline-") for name in names)


def open_gates(runs: RunQuerySet) -> QuerySet[Gate]:
    """What waits for a person in these runs, the oldest question first."""
    found = Gate.objects.open().filter(run__in=runs.values("pk"))
    return found.select_related("run", "step", "plan").order_by("opened_at", "pk")


def under_way(runs: RunQuerySet) -> QuerySet[Run]:
    """Runs that work or could, with what the inbox tells of each.

    `steps`, `steps_done`: of the newest plan. `asks`: a gate is open. `event_kind`, `event_data`, `event_at`: the last.
    """
    newest_plan = Plan.objects.filter(run=OuterRef("pk")).newest_first().values("pk")[:1]
    last = Event.objects.filter(run=OuterRef("pk")).order_by("-seq")
    return (
        runs.under_way()
        .annotate(newest_plan=Subquery(newest_plan))
        .annotate(
            steps=_count(Step.objects.filter(plan=OuterRef("newest_plan")), "plan"),
            steps_done=_count(Step.objects.settled().filter(plan=OuterRef("newest_plan")), "plan"),
            asks=Exists(Gate.objects.open().filter(run=OuterRef("pk"))),
            event_kind=Subquery(last.values("kind")[:1]),
            event_data=Subquery(last.values("data")[:1]),
            event_at=Subquery(last.values("at")[:1]),
        )
        .order_by("-pk")
    )


def finished(runs: RunQuerySet) -> QuerySet[Run]:
    """Finished runs, the newest end first; with `cost` in USD and how many calls are `unpriced` in it."""
    calls = ModelCall.objects.filter(run=OuterRef("pk")).order_by().values("run")
    return (
        runs.finished()
        .select_related("owner")
        .annotate(
            cost=Coalesce(Subquery(calls.annotate(cost=Sum("cost_usd")).values("cost")), _ZERO),
            unpriced=_count(ModelCall.objects.unpriced().filter(run=OuterRef("pk")), "run"),
        )
        .order_by("-finished_at", "-pk")
    )


def _count(rows: QuerySet[Any], by: str) -> Any:
    return Coalesce(Subquery(rows.order_by().values(by).annotate(number=Count("pk")).values("number")), 0)
