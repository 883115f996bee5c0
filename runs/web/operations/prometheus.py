"""Metrics for Prometheus: figures from rows, which are the same from every process, and figures of this process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from runs.engine.claim import due
from runs.enums import GateStatus, RunStatus, WorkStatus
from runs.models import Attempt, Gate, ModelCall, Run, WorkItem, clock
from runs.models.calls import TOKEN_COLUMNS
from runs.web.live.subscribers import BOUNDS, latency, sockets

SHARED_FOR = 5.0
"""Seconds for which an answer is reused, so that the database is not asked more often."""
MAX_SERIES = 200
"""Series of model calls. Those with the fewest calls are counted together."""
type Values = Mapping[tuple[str, ...], Any]


class Metrics:
    """The answers of this process, in the text form of Prometheus."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, ProcessCollector  # an optional extra

        self._lock = threading.Lock()
        self._text, self._made_at = b"", -SHARED_FOR
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        from prometheus_client import generate_latest  # an optional extra

        with self._lock:
            if time.monotonic() - self._made_at >= SHARED_FOR:
                self._text, self._made_at = generate_latest(self._registry), time.monotonic()
            return self._text

    def describe(self) -> Iterable[Any]:
        """Reads nothing: the registry only asks for the names."""
        return ()

    def collect(self) -> Iterator[Any]:
        try:
            rows = [*_work(), *_calls()]
        except DatabaseError:
            rows = []
        yield _gauge("pevsite_database_answers", "1, or 0 while what rows say is missing.", (), {(): bool(rows)})
        yield from rows
        yield _gauge("pevsite_sockets", "Browsers that follow a run through this process.", (), {(): sockets()})
        yield _histogram()


def _counted(rows: QuerySet[Any], column: str) -> dict[tuple[str, ...], int]:
    return {(value,): count for value, count in rows.order_by().values_list(column).annotate(Count("pk"))}


def _work() -> Iterator[Any]:
    ready, leased = Q(status=WorkStatus.READY), Q(status=WorkStatus.LEASED)
    found = WorkItem.objects.filter(ready | leased).aggregate(
        due=Count("pk", filter=ready & due()),
        waiting=Count("pk", filter=ready & Q(due_at__gt=clock.now())),
        leased=Count("pk", filter=leased & Q(lease_until__gte=clock.now())),
        expired=Count("pk", filter=leased & Q(lease_until__lt=clock.now())),
        losses=Sum("losses"),
        oldest=Min("due_at", filter=ready & due()),
        now=Max(Now()),  # the clock that wrote `due_at`
    )
    oldest, now, losses = found.pop("oldest"), found.pop("now"), found.pop("losses") or 0
    waits = max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
    states: dict[tuple[str, ...], int] = {(state,): count for state, count in found.items()}
    yield _gauge(
        "pevsite_work_items", "Pieces of work; those with an expired lease are due as well.", ("state",), states
    )
    yield _gauge("pevsite_work_waits_seconds", "For how long the oldest work that is due has waited.", (), {(): waits})
    yield _gauge("pevsite_work_losses", "Workers that this work has lost in a row.", (), {(): losses})
    runs = _counted(Run.objects.exclude(status=RunStatus.FINISHED), "status")
    yield _gauge("pevsite_runs", "Runs that are not finished.", ("status",), runs)
    gates = _counted(Gate.objects.filter(status=GateStatus.OPEN), "kind")
    yield _gauge("pevsite_open_gates", "Questions that wait for a person.", ("kind",), gates)
    attempts = _counted(Attempt.objects.all(), "status")
    yield _gauge("pevsite_attempts", "Attempts at steps, of all runs that are kept.", ("status",), attempts)


def _calls() -> Iterator[Any]:
    """An index has all columns that are read here. Replies, which are most of a row, are not read."""
    by_model = ("role", "model")
    rows = ModelCall.objects.values_list(*by_model, "error_kind")
    sums = {f"sum_of_{column}": Sum(column) for column in TOKEN_COLUMNS}
    calls, tokens, costs, unpriced = Counter[Any](), Counter[Any](), Counter[Any](), Counter[Any]()
    priced = {"without_price": Count("pk", filter=Q(cost_usd=None)), "cost": Sum("cost_usd")}
    counted = rows.annotate(count=Count("pk"), **priced, **sums).order_by("-count")
    for number, (role, model, error, count, without_price, cost, *kinds) in enumerate(counted):
        # Names of models and of errors come from outside, so there may be any number of them.
        if number >= MAX_SERIES:
            role = model = error = "other"
        calls[role, model, error] += count
        unpriced[role, model] += without_price
        if cost is not None:
            costs[role, model] += cost
        for kind, sum_of_kind in zip(TOKEN_COLUMNS, kinds, strict=True):
            tokens[role, model, kind.removesuffix("_tokens")] += sum_of_kind
    description = "Calls of models, of all runs that are kept; without an error there was a reply."
    yield _gauge("pevsite_model_calls", description, (*by_model, "error"), calls)
    yield _gauge("pevsite_tokens", "Tokens of these calls as the services counted them.", (*by_model, "kind"), tokens)
    yield _gauge("pevsite_cost_usd", "What those with a known price have cost.", by_model, costs)
    yield _gauge("pevsite_unpriced_calls", "Those without a known price.", by_model, unpriced)


def _gauge(name: str, description: str, labels: tuple[str, ...], values: Values) -> Any:
    from prometheus_client.core import GaugeMetricFamily  # an optional extra

    family = GaugeMetricFamily(name, description, labels=labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, float(value))
    return family


def _histogram() -> Any:
    from prometheus_client.core import HistogramMetricFamily  # an optional extra

    bounds = [*map(str, BOUNDS), "+Inf"]
    buckets = list(zip(bounds, accumulate(latency.counts), strict=True))
    return HistogramMetricFamily(
        "pevsite_event_to_browser_seconds",
        "From an event to the browsers of this process that hear of it.",
        buckets=buckets,
        sum_value=latency.seconds,
    )


_metrics = cache(Metrics)
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Raises Http404 where `PEV_METRICS_TOKEN` is not set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        refused = "This needs the token of PEV_METRICS_TOKEN, as “Authorization: Bearer …”.\n"
        return HttpResponse(refused, status=401, content_type=_TEXT, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(_metrics().text(), content_type=_TEXT)
