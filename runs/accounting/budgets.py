"""What a run has used of its limits: money and uses of tools, spent and reserved for calls in flight; time at work."""

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Sum

from runs.enums import EventKind, WorkStatus
from runs.models import ModelCall, Run, WorkItem
from runs.pev.conversation.served import CODE_EXECUTION, WEB_FETCH, WEB_SEARCH

_ZERO = Decimal(0)


def spent_usd(run: Run) -> Decimal:
    """The sum of the journal; calls that broke count with what is known of them."""
    return ModelCall.objects.filter(run=run).aggregate(sum=Sum("cost_usd"))["sum"] or _ZERO


def reserved_usd(run: Run, *, besides: WorkItem) -> Decimal:
    """What the calls in flight may cost at most, without that of this work item."""
    others = run.work.filter(status=WorkStatus.LEASED).exclude(pk=besides.pk)
    return others.aggregate(sum=Sum("reserved_usd"))["sum"] or _ZERO


def served_uses(run: Run) -> Counter[str]:
    """How often the model's service has searched, read a page and run code: the sums of the journal. What was paid for
    in vain counts too; what failed does not.
    """
    columns = {WEB_SEARCH: "web_searches", WEB_FETCH: "web_fetches", CODE_EXECUTION: "code_runs"}
    sums = ModelCall.objects.filter(run=run).aggregate(**{name: Sum(column) for name, column in columns.items()})
    return Counter({name: count or 0 for name, count in sums.items()})


def reserved_uses(run: Run, *, besides: WorkItem) -> Counter[str]:
    """How often the calls in flight may use each tool of the service at most, without that of this work item."""
    others = run.work.filter(status=WorkStatus.LEASED).exclude(pk=besides.pk)
    return sum((Counter(uses) for uses in others.values_list("reserved_uses", flat=True)), Counter[str]())


def worked_seconds(run: Run, now: datetime) -> float:
    """Seconds since the run was submitted in which it neither waited at a gate nor was paused."""
    waits = [
        (gate.opened_at, gate.decided_at or gate.withdrawn_at or now)
        for gate in run.gates.only("opened_at", "decided_at", "withdrawn_at")
    ]
    waiting = _covered([*waits, *_pauses(run, now)])
    return (now - run.created_at - waiting).total_seconds()


def _pauses(run: Run, now: datetime) -> list[tuple[datetime, datetime]]:
    clicks = run.events.filter(kind__in=[EventKind.PAUSED, EventKind.RESUMED]).order_by("seq")
    times = [*clicks.values_list("at", flat=True), now]
    return list(zip(times[::2], times[1::2], strict=False))


def _covered(spans: list[tuple[datetime, datetime]]) -> timedelta:
    """How long at least one of the spans lasted."""
    total, reached_to = timedelta(0), None
    for begin, end in sorted(spans):
        begin = begin if reached_to is None else max(begin, reached_to)
        if end > begin:
            total += end - begin
            reached_to = end
    return total
