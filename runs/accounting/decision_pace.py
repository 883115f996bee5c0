"""How long people took for decisions: a person's own, and sums over several people. Never one person's to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import QuerySet
from django.utils import timezone

from runs.models import Gate, User

DAYS = 30
QUICK_SECONDS = 5
"""Less time on the page than this leaves no room for reading."""
MIN_PEOPLE = 3
"""Sums over fewer people would tell about a single one."""
MIN_DECISIONS = 10
_MOST = 5_000
"""The latest decisions that are looked at."""


@dataclass(frozen=True)
class DecisionPace:
    """`read_ms`: half of the decisions took no longer from the opening of the page, `waited_ms` from when they were
    asked for. `quick` of the `timed` ones took less than `QUICK_SECONDS`; of the others it is not known how long the
    page was open.
    """

    decisions: int
    timed: int
    quick: int
    read_ms: int | None
    waited_ms: int


def own_pace(person: User) -> DecisionPace | None:
    """Of the decisions of this person in the last `DAYS`; None if there are none."""
    return _pace_of(_rows(Gate.objects.filter(decided_by=person), timezone.now() - timedelta(days=DAYS)))


def pace_of_all(since: datetime) -> DecisionPace | None:
    """Of the decisions of everyone; None where they are so few, or of so few people, that they tell about one."""
    rows = _rows(Gate.objects.filter(decided_by__isnull=False), since)
    if len(rows) < MIN_DECISIONS or len({person for person, *_ in rows}) < MIN_PEOPLE:
        return None
    return _pace_of(rows)


type _Row = tuple[int, datetime, datetime, float | None]


def _rows(gates: QuerySet[Gate], since: datetime) -> Sequence[_Row]:
    latest = gates.filter(decided_at__gte=since).order_by("-decided_at")
    found = latest.values_list("decided_by_id", "opened_at", "decided_at", "seconds_on_page")[:_MOST]
    return [(who, opened, at, seconds) for who, opened, at, seconds in found if who and at]


def _pace_of(rows: Sequence[_Row]) -> DecisionPace | None:
    if not rows:
        return None
    timed = [seconds for *_, seconds in rows if seconds is not None]
    waited = median((decided - opened).total_seconds() for _, opened, decided, _ in rows)
    return DecisionPace(
        decisions=len(rows),
        timed=len(timed),
        quick=sum(1 for seconds in timed if seconds < QUICK_SECONDS),
        read_ms=round(median(timed) * 1_000) if timed else None,
        waited_ms=round(waited * 1_000),
    )
