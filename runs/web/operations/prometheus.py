"""What Prometheus gets: what the rows say, which is the same from every process, and what this process knows."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from django.db import DatabaseError
from django.db.models import Case, Count, Max, Min, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Now

from runs.engine.claim import due
from runs.enums import EventKind, GateStatus, RunStatus, WorkStatus
from runs.models import Event, Gate, ModelCall, Run, WorkItem, clock
from runs.web.live.latency import BOUNDS, latency
from runs.web.live.subscribers import sockets

SHARED_FOR = 5.0
"""Seconds for which an answer is given again: the database is not asked more often, however many ask us."""
_SETTLED_AFTER = 120.0
"""Seconds: a transaction takes a minute at most, so no row with a key that was given out before comes to be later."""
MAX_SERIES = 200
"""Of one metric; see `Growing`."""
_OUTCOMES = {
    EventKind.STEP_PASSED: "passed",
    EventKind.STEP_ACCEPTED: "accepted",
    EventKind.STEP_NOT_APPLICABLE: "not_applicable",
    EventKind.VERDICT: "failed",
}
_TOKENS = {
    "input": "input_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write_5m": "cache_write_5m_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
    "output": "output_tokens",
}


type Sums = dict[tuple[str, ...], list[Any]]
type Values = Mapping[tuple[str, ...], Any]


class Growing:
    """Sums over rows that came to be since this was made, by groups; rows that are never changed, found by their keys.

    They never fall, also when runs are deleted. A key is given out before its transaction ends, so the newest rows are
    summed up again until `_SETTLED_AFTER` has passed since their keys were seen.
    """

    def __init__(self, rows: QuerySet[Any], by: Iterable[str], **sums: Any) -> None:
        """`sums`: aggregates that may be added up."""
        self._rows, self._by, self._sums = rows.order_by(), tuple(by), sums
        self._settled: Sums = {}
        self._shown: Sums = {}
        self._floor = self._newest()
        self._seen = deque([(time.monotonic(), self._floor)])

    def look(self) -> Sums:
        """The sums in the order in which they were named, by the values of the columns of the groups."""
        now, newest = time.monotonic(), self._newest()
        self._seen.append((now, newest))
        ceiling = self._floor
        while self._seen and self._seen[0][0] <= now - _SETTLED_AFTER:
            ceiling = self._seen.popleft()[1]
        if ceiling > self._floor:
            self._settled = self._added(Q(pk__gt=self._floor, pk__lte=ceiling))
            self._floor = ceiling
        for key, values in self._added(Q(pk__gt=self._floor)).items():
            before = self._shown.get(key, [0] * len(values))
            self._shown[key] = [max(old, new) for old, new in zip(before, values, strict=True)]
        return self._shown

    def _newest(self) -> int:
        return self._rows.model._default_manager.aggregate(newest=Max("pk"))["newest"] or 0

    def _added(self, which: Q) -> Sums:
        total = {key: list(values) for key, values in self._settled.items()}
        for row in self._rows.filter(which).values_list(*self._by).annotate(**self._sums):
            key, values = self._known(total, row[: len(self._by)]), row[len(self._by) :]
            before = total.get(key, [0] * len(values))
            total[key] = [old + (new or 0) for old, new in zip(before, values, strict=True)]
        return total

    def _known(self, total: Sums, key: tuple[str, ...]) -> tuple[str, ...]:
        """Names of models and of errors come from outside: beyond so many they are counted together."""
        return key if key in total or len(total) < MAX_SERIES else tuple("other" for _ in key)


class Metrics:
    """The answers of this process, in the text form of Prometheus. Counters begin when it is made."""

    def __init__(self) -> None:
        # An optional extra; nobody asks without it.
        from prometheus_client import CollectorRegistry, ProcessCollector

        self._lock = threading.Lock()
        self._text, self._made_at = b"", -SHARED_FOR
        calls = ModelCall.objects.annotate(
            label=Case(When(error="", then=Value("")), When(error_kind="", then=Value("other")), default="error_kind")
        )
        sums = {name: Sum(column) for name, column in _TOKENS.items()}
        priced = {"unpriced": Count("pk", filter=Q(cost_usd=None)), "cost": Sum("cost_usd")}
        self._calls = Growing(calls, ("role", "model", "label"), count=Count("pk"), **priced, **sums)
        passed = Q(kind=EventKind.VERDICT, data__passed=True)  # another event says that its step passed
        ends = Event.objects.filter(kind__in=[*_OUTCOMES, EventKind.RECOVERED]).exclude(passed)
        self._ends = Growing(ends, ("kind",), count=Count("pk"))
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Asks the database nine times at most, and looks only at what is under way and at what is new."""
        from prometheus_client import generate_latest  # an optional extra

        with self._lock:
            if time.monotonic() - self._made_at >= SHARED_FOR:
                self._text, self._made_at = generate_latest(self._registry), time.monotonic()
            return self._text

    def describe(self) -> Iterable[Any]:
        """Nothing is read only to be named."""
        return ()

    def collect(self) -> Iterator[Any]:
        try:
            rows = [*_work(), *self._ended(), *self._asked()]
        except DatabaseError:
            rows = []
        yield _gauge("pevsite_database_answers", "1, or 0 while what rows say is missing.", (), {(): bool(rows)})
        yield from rows
        yield _gauge("pevsite_sockets", "Browsers that follow a run through this process.", (), {(): sockets()})
        yield _histogram()

    def _ended(self) -> Iterator[Any]:
        counts = {key: count for (key,), (count,) in self._ends.look().items()}
        ended: Values = {(word,): counts.get(kind, 0) for kind, word in _OUTCOMES.items()}
        yield _counter("pevsite_attempts", "Attempts at steps that have ended.", ("outcome",), ended)
        taken_over: Values = {(): counts.get(EventKind.RECOVERED, 0)}
        yield _counter("pevsite_takeovers", "Work taken over from a process that fell silent.", (), taken_over)

    def _asked(self) -> Iterator[Any]:
        calls, tokens, costs, unpriced = Counter[Any](), Counter[Any](), Counter[Any](), Counter[Any]()
        for (role, model, error), (count, without_price, cost, *kinds) in self._calls.look().items():
            calls[role, model, error] = count
            unpriced[role, model] += without_price
            if count > without_price:
                costs[role, model] += cost
            for kind, number in zip(_TOKENS, kinds, strict=True):
                tokens[role, model, kind] += number
        by_model, description = ("role", "model"), "Calls of models; without an error there was a reply."
        yield _counter("pevsite_model_calls", description, (*by_model, "error"), calls)
        yield _counter("pevsite_tokens", "Tokens as the services counted them.", (*by_model, "kind"), tokens)
        yield _counter("pevsite_cost_usd", "What calls with a known price have cost.", by_model, costs)
        yield _counter("pevsite_unpriced_calls", "Calls of models without a known price.", by_model, unpriced)


def _unfinished() -> QuerySet[Run]:
    return Run.objects.exclude(status=RunStatus.FINISHED)


def _open() -> QuerySet[Gate]:
    return Gate.objects.filter(status=GateStatus.OPEN)


def _counted(rows: QuerySet[Any], column: str) -> dict[tuple[str, ...], int]:
    return {(value,): count for value, count in rows.order_by().values_list(column).annotate(Count("pk"))}


def _work() -> Iterator[Any]:
    ready, leased = Q(status=WorkStatus.READY), Q(status=WorkStatus.LEASED)
    found = WorkItem.objects.filter(ready | leased).aggregate(
        due=Count("pk", filter=ready & due()),
        waiting=Count("pk", filter=ready & Q(due_at__gt=clock.now())),
        leased=Count("pk", filter=leased & Q(lease_until__gte=clock.now())),
        expired=Count("pk", filter=leased & Q(lease_until__lt=clock.now())),
        oldest=Min("due_at", filter=ready & due()),
        now=Max(Now()),  # the clock that wrote `due_at`
    )
    oldest, now = found.pop("oldest"), found.pop("now")
    waits = max(0.0, (now - oldest).total_seconds()) if oldest else 0.0
    states: dict[tuple[str, ...], int] = {(state,): count for state, count in found.items()}
    yield _gauge(
        "pevsite_work_items", "Pieces of work; those with an expired lease are due as well.", ("state",), states
    )
    yield _gauge("pevsite_work_waits_seconds", "For how long the oldest work that is due has waited.", (), {(): waits})
    yield _gauge("pevsite_runs", "Runs that are not finished.", ("status",), _counted(_unfinished(), "status"))
    yield _gauge("pevsite_open_gates", "Questions that wait for a person.", ("kind",), _counted(_open(), "kind"))


def _gauge(name: str, description: str, labels: tuple[str, ...], values: Values) -> Any:
    from prometheus_client.core import GaugeMetricFamily  # an optional extra

    return _filled(GaugeMetricFamily(name, description, labels=labels), values)


def _counter(name: str, description: str, labels: tuple[str, ...], values: Values) -> Any:
    from prometheus_client.core import CounterMetricFamily  # an optional extra

    return _filled(CounterMetricFamily(name, description, labels=labels), values)


def _filled(family: Any, values: Values) -> Any:
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
