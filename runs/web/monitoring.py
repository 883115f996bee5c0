"""What Prometheus is told: what the rows say, which is the same from every process, and what this process knows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.utils import timezone

from runs.engine.work import due
from runs.enums import GateStatus, RunStatus, WorkStatus
from runs.models import Attempt, Gate, ModelCall, Run, WorkItem, clock
from runs.web.following.audience import sockets
from runs.web.following.latency import BOUNDS, latency

SHARED_FOR = 5.0
"""Seconds for which an answer is given again: the database is not asked more often, however many ask us."""
_SETTLED_AFTER = timedelta(minutes=2)
"""A row has its time before its transaction ends, which takes a minute at most: later none of that time comes to be."""
_TOKENS = {
    "input": "input_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write_5m": "cache_write_5m_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
    "output": "output_tokens",
}


class Growing:
    """Sums over rows that came to be since this was made, by groups. They never fall, also when runs are deleted."""

    def __init__(self, rows: QuerySet[Any], at: str, by: Iterable[str], **sums: Any) -> None:
        """`at`: the column with the time; `sums`: aggregates that may be added up."""
        self._rows, self._at, self._by, self._sums = rows.order_by(), at, tuple(by), sums
        self._since: datetime = timezone.now()
        self._settled: dict[tuple[Any, ...], list[Any]] = {}

    def look(self) -> Mapping[tuple[Any, ...], list[Any]]:
        """The sums in the order in which they were named, by the values of the columns of the groups."""
        edge = max(self._since, timezone.now() - _SETTLED_AFTER)
        if edge > self._since:
            self._settled = self._added(self._since, edge)
            self._since = edge
        return self._added(self._since, None)

    def _added(self, after: datetime, until: datetime | None) -> dict[tuple[Any, ...], list[Any]]:
        rows = self._rows.filter(**{f"{self._at}__gt": after}, **({f"{self._at}__lte": until} if until else {}))
        total = {key: list(values) for key, values in self._settled.items()}
        for row in rows.values_list(*self._by).annotate(**self._sums):
            key, values = row[: len(self._by)], row[len(self._by) :]
            before = total.get(key, [0] * len(values))
            total[key] = [old + (new or 0) for old, new in zip(before, values, strict=True)]
        return total


class Metrics:
    """The answers of this process, in the text form of Prometheus. Counters begin when it is made."""

    def __init__(self) -> None:
        # An optional extra; nobody asks without it.
        from prometheus_client import CollectorRegistry, ProcessCollector

        self._lock = threading.Lock()
        self._text, self._made_at = b"", -SHARED_FOR
        sums = {name: Sum(column) for name, column in _TOKENS.items()}
        newest = ModelCall.objects.aggregate(newest=Max("pk"))["newest"] or 0
        calls = ModelCall.objects.filter(pk__gt=newest)  # those of before are no longer looked through
        self._calls = Growing(
            calls, "created_at", ("role", "model", "error_kind"), count=Count("pk"), cost=Sum("cost_usd"), **sums
        )
        self._attempts = Growing(Attempt.objects.all(), "finished_at", ("status",), count=Count("pk"))
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Asks the database seven times at most, whatever the number of runs."""
        from prometheus_client import generate_latest  # an optional extra

        with self._lock:
            if time.monotonic() - self._made_at >= SHARED_FOR:
                self._text, self._made_at = generate_latest(self._registry), time.monotonic()
            return self._text

    def describe(self) -> Iterable[Any]:
        """Nothing is read only to be named."""
        return ()

    def collect(self) -> Iterator[Any]:
        yield from _work()
        yield _gauge("pevsite_runs", "Runs that are not finished.", ("status",), _counted(_unfinished(), "status"))
        yield _gauge("pevsite_open_gates", "Questions that wait for a person.", ("kind",), _counted(_open(), "kind"))
        attempts = {key: values[0] for key, values in self._attempts.look().items()}
        yield _counter("pevsite_attempts", "Attempts at steps that have ended.", ("outcome",), attempts)
        yield from self._asked()
        yield _gauge("pevsite_sockets", "Browsers that follow a run through this process.", (), {(): sockets()})
        yield _histogram()

    def _asked(self) -> Iterator[Any]:
        calls, tokens, costs = dict[Any, Any](), dict[Any, Any](), dict[Any, Any]()
        for (role, model, error), (count, cost, *kinds) in self._calls.look().items():
            calls[role, model, error] = count
            costs[role, model] = costs.get((role, model), 0) + cost
            for kind, number in zip(_TOKENS, kinds, strict=True):
                tokens[role, model, kind] = tokens.get((role, model, kind), 0) + number
        told = "Calls of models; without an error there was a reply."
        yield _counter("pevsite_model_calls", told, ("role", "model", "error"), calls)
        yield _counter("pevsite_tokens", "Tokens as the services counted them.", ("role", "model", "kind"), tokens)
        yield _counter("pevsite_cost_usd", "What calls with a known price have cost.", ("role", "model"), costs)


def _unfinished() -> QuerySet[Run]:
    return Run.objects.exclude(status=RunStatus.FINISHED)


def _open() -> QuerySet[Gate]:
    return Gate.objects.filter(status=GateStatus.OPEN)


def _counted(rows: QuerySet[Any], column: str) -> dict[tuple[str, ...], int]:
    return {(value,): count for value, count in rows.order_by().values_list(column).annotate(Count("pk"))}


def _work() -> Iterator[Any]:
    ready, leased = Q(status=WorkStatus.READY), Q(status=WorkStatus.LEASED)
    found = WorkItem.objects.filter(ready | leased).aggregate(
        due=Count("pk", filter=due()),
        waiting=Count("pk", filter=ready & Q(due_at__gt=clock.now())),
        leased=Count("pk", filter=leased & Q(lease_until__gte=clock.now())),
        expired=Count("pk", filter=leased & Q(lease_until__lt=clock.now())),
        oldest=Min("due_at", filter=ready & due()),
    )
    oldest = found.pop("oldest")
    waits = max(0.0, (timezone.now() - oldest).total_seconds()) if oldest else 0.0
    states: dict[tuple[str, ...], int] = {(state,): count for state, count in found.items()}
    yield _gauge(
        "pevsite_work_items", "Pieces of work; expired leases are among those that are due.", ("state",), states
    )
    yield _gauge("pevsite_work_waits_seconds", "For how long the oldest work that is due has waited.", (), {(): waits})


def _gauge(name: str, told: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], Any]) -> Any:
    from prometheus_client.core import GaugeMetricFamily  # an optional extra

    return _filled(GaugeMetricFamily(name, told, labels=labels), values)


def _counter(name: str, told: str, labels: tuple[str, ...], values: Mapping[tuple[str, ...], Any]) -> Any:
    from prometheus_client.core import CounterMetricFamily  # an optional extra

    return _filled(CounterMetricFamily(name, told, labels=labels), values)


def _filled(family: Any, values: Mapping[tuple[str, ...], Any]) -> Any:
    for labels, value in sorted(values.items()):
        family.add_metric(labels, float(value))
    return family


def _histogram() -> Any:
    from prometheus_client.core import HistogramMetricFamily  # an optional extra

    bounds = [*map(str, BOUNDS), "+Inf"]
    buckets = list(zip(bounds, accumulate(latency.counts), strict=True))
    return HistogramMetricFamily(
        "pevsite_event_to_browser_seconds",
        "From an event to the browsers of this process that are told of it.",
        buckets=buckets,
        sum_value=latency.seconds,
    )
