"""What a run has used so far: money and uses of tools, spent and reserved for calls in flight, and time."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Sum

from runs.enums import HOLDING_GATES, EventKind, WorkStatus
from runs.models import Attempt, ModelCall, Run, WorkItem
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH

type Span = tuple[datetime, datetime]
_ZERO = Decimal(0)


def spent_usd(run: Run) -> Decimal:
    """USD spent, as a sum over the journal. Interrupted calls count with what is known of them.

    Replayed replies count with their recorded cost, so that a replayed run reaches its limits at the same point.
    """
    return ModelCall.objects.filter(run=run).aggregate(sum=Sum("cost_usd"))["sum"] or _ZERO


def reserved_usd(run: Run, *, besides: WorkItem) -> Decimal:
    """The most that calls in flight of other work items may cost, in USD."""
    others = run.work.filter(status=WorkStatus.LEASED).exclude(pk=besides.pk)
    return others.aggregate(sum=Sum("reserved_usd"))["sum"] or _ZERO


def served_uses(run: Run) -> Counter[str]:
    """How often the model's service has searched, read a page and run code, as sums over the journal.

    Uses in replies that were discarded count as well; failed uses do not.
    """
    columns = {WEB_SEARCH: "web_searches", WEB_FETCH: "web_fetches", CODE_EXECUTION: "code_runs"}
    sums = ModelCall.objects.filter(run=run).aggregate(**{name: Sum(column) for name, column in columns.items()})
    return Counter({name: count or 0 for name, count in sums.items()})


def reserved_uses(run: Run, *, besides: WorkItem) -> Counter[str]:
    """The most uses of each service tool by calls in flight of other work items."""
    others = run.work.filter(status=WorkStatus.LEASED).exclude(pk=besides.pk)
    return sum((Counter(uses) for uses in others.values_list("reserved_uses", flat=True)), Counter[str]())


def worked_seconds(run: Run, now: datetime) -> float:
    """Seconds since the run was submitted in which it neither waited at a gate nor was paused."""
    waits = [
        (gate.opened_at, gate.decided_at or gate.withdrawn_at or now)
        for gate in run.gates.only("opened_at", "decided_at", "withdrawn_at")
    ]
    clicks = run.events.filter(kind__in=[EventKind.PAUSED, EventKind.RESUMED]).order_by("seq")
    times = [*clicks.values_list("at", flat=True), now]
    pauses = zip(times[::2], times[1::2], strict=False)
    waiting = _length(_union([*waits, *pauses]))
    return (now - run.created_at - waiting).total_seconds()


@dataclass(frozen=True)
class Clocks:
    """How long a run has worked and waited since its submission, in milliseconds.

    `working` says which of the two is going on; None if the run is finished.
    """

    worked: int
    waited: int
    working: bool | None


def clocks_of(run: Run, now: datetime) -> Clocks:
    """A run waits while a question is open and no attempt is under way, and works otherwise. Two queries."""
    end = run.finished_at or now
    gates = list(run.gates.order_by().values_list("kind", "opened_at", "decided_at", "withdrawn_at"))
    attempts = Attempt.objects.of_run(run).order_by().values_list("created_at", "finished_at")
    waits = waits_of([(kind, opened, decided or gone) for kind, opened, decided, gone in gates], attempts, end)
    waited = _length(waits)
    whole = max(end - run.created_at, timedelta(0))
    working = None if run.finished_at else not (waits and waits[-1][1] >= end)
    return Clocks(_ms(whole - waited), _ms(waited), working)


def waits_of(
    gates: Iterable[tuple[str, datetime, datetime | None]],
    attempts: Iterable[tuple[datetime, datetime | None]],
    end: datetime,
) -> list[Span]:
    """The spans in which a run waited, in order, up to `end`.

    `gates` are kinds with beginning and end, `attempts` beginning and end; None if one has not ended.
    """
    listed = list(gates)
    held = [_span(opened, closed, end) for kind, opened, closed in listed if kind in HOLDING_GATES]
    asked = [_span(opened, closed, end) for kind, opened, closed in listed if kind not in HOLDING_GATES]
    busy = _difference([_span(begun, done, end) for begun, done in attempts], held)
    return _union([*_difference(asked, busy), *held])


def _span(begin: datetime, end: datetime | None, latest: datetime) -> Span:
    return begin, min(end or latest, latest)


def _union(spans: Iterable[Span]) -> list[Span]:
    """The union of spans, as spans that do not touch, in order."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif begin < end:
            found.append((begin, end))
    return found


def _difference(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The parts of `spans` that are in none of the others."""
    left: list[Span] = []
    cut = _union(others)
    for begin, end in _union(spans):
        for other_begin, other_end in cut:
            if other_end <= begin or other_begin >= end:
                continue
            if begin < other_begin:
                left.append((begin, other_begin))
            begin = other_end
        if begin < end:
            left.append((begin, end))
    return left


def _length(spans: Iterable[Span]) -> timedelta:
    return sum((end - begin for begin, end in spans), timedelta(0))


def _ms(span: timedelta) -> int:
    return max(0, round(span.total_seconds() * 1_000))
