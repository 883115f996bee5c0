"""The two clocks of a run: how long it has worked, and how long it has waited for people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from runs.enums import HOLDING_GATES
from runs.models import Attempt, Run

type Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class Clocks:
    """Milliseconds since the submission, split; together they are the time up to the end, or up to now.

    `working`: which of the two goes on; None when the run has come to its end.
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
    """When a run waited, in order, up to `end`. Of gates their kind; of both when they began and ended, if they did."""
    listed = list(gates)
    held = [_span(opened, closed, end) for kind, opened, closed in listed if kind in HOLDING_GATES]
    asked = [_span(opened, closed, end) for kind, opened, closed in listed if kind not in HOLDING_GATES]
    busy = _without([_span(begun, done, end) for begun, done in attempts], held)
    return _union([*_without(asked, busy), *held])


def _span(begin: datetime, end: datetime | None, latest: datetime) -> Span:
    return begin, min(end or latest, latest)


def _union(spans: Iterable[Span]) -> list[Span]:
    """The same time in spans that do not touch, in order."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif begin < end:
            found.append((begin, end))
    return found


def _without(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """What of `spans` lies in none of the others."""
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
