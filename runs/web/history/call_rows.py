"""The calls of one work item, as its fold in the history shows them. They are read when the fold is opened."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F

from runs.enums import EventKind, WorkKind
from runs.events.kinds import Tone, ToolCalled, read
from runs.models import Attempt, Event, ModelCall, Run, ToolCall, WorkItem
from runs.models.querysets import EventQuerySet
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.web.history.history_filter import CALLS

MAX_CALLS = 200
"""Calls that one fold shows at most."""
_SAME_MOMENT = timedelta(seconds=2)
"""A call and its event are written in one transaction, one right after the other."""
_BEGINNINGS = (EventKind.PLANNING, EventKind.FINALISING)


@dataclass(frozen=True)
class CallLine:
    """One call. `ms` is None, and a model's has no tokens, where the journal has it no more; tools have no cost, and
    those of the model's service no time beside that of the reply that they were made in.
    """

    seq: int
    at: datetime
    tone: Tone
    sentence: str
    is_model: bool
    ms: int | None = None
    cost: Decimal | None = None
    tokens: int = 0


@dataclass(frozen=True)
class CallPage:
    """The first calls of one work item; `more` are not shown."""

    run: Run
    work: int
    lines: Sequence[CallLine]
    more: int


def calls_of(run: Run, work_id: int) -> CallPage | None:
    """The calls of a work item; None if the run has no such item."""
    work = WorkItem.objects.filter(run=run, pk=work_id).select_related("attempt__step").first()
    if work is None:
        return None
    events = _of_attempt(run, work.attempt) if work.attempt else _of_run(run, work)
    shown = list(events.order_by("seq")[:MAX_CALLS])
    more = events.count() - len(shown)
    used = F("input_tokens") + F("output_tokens") + F("cache_read_tokens")
    used += F("cache_write_5m_tokens") + F("cache_write_1h_tokens")
    models = ModelCall.objects.filter(work=work).order_by("created_at")
    tools = ToolCall.objects.filter(work=work).order_by("created_at")
    priced = list(models.annotate(used=used).values_list("created_at", "duration_ms", "cost_usd", "used"))
    timed = list(tools.values_list("created_at", "duration_ms"))
    return CallPage(run, work.pk, [_line(event, priced, timed) for event in shown], more)


def work_of(run: Run, event: Event) -> int:
    """The work item of a call; 0 if the journal no longer has the call."""
    table = ModelCall if event.kind == EventKind.MODEL_CALLED else ToolCall
    key, number = event.data.get("step"), event.data.get("attempt")
    mine = {"attempt__step__key": key, "attempt__number": number} if key else {"attempt": None}
    near = table.objects.filter(run=run, created_at__lte=event.at, created_at__gt=event.at - _SAME_MOMENT, **mine)
    return near.order_by("-created_at").values_list("work_id", flat=True).first() or 0


def _of_attempt(run: Run, attempt: Attempt) -> EventQuerySet:
    """The calls of an attempt. Keys and numbers begin again with each version of the plan, so the time decides."""
    key, number, began = attempt.step.key, attempt.number, attempt.created_at
    events = run.events.filter(kind__in=CALLS, data__step=key, data__attempt=number, at__gte=began)
    same = Attempt.objects.of_run(run).filter(step__key=key, number=number, pk__gt=attempt.pk)
    following = same.order_by("pk").values_list("created_at", flat=True).first()
    return events.filter(at__lt=following) if following else events


def _of_run(run: Run, work: WorkItem) -> EventQuerySet:
    """The calls between the event that began this work and the next event that began such work."""
    earlier = WorkItem.objects.filter(run=run, attempt=None, kind=work.kind, pk__lt=work.pk).count()
    began = EventKind.PLANNING if work.kind == WorkKind.PLAN else EventKind.FINALISING
    rows = list(run.events.filter(kind__in=_BEGINNINGS).order_by("seq").values_list("seq", "kind"))
    mine = [seq for seq, kind in rows if kind == began]
    if earlier >= len(mine):
        return run.events.none()
    start = mine[earlier]
    end = next((seq for seq, _ in rows if seq > start), run.event_count + 1)
    return run.events.filter(kind__in=CALLS, seq__gt=start, seq__lt=end, data__step__isnull=True)


def _line(
    event: Event,
    models: Sequence[tuple[datetime, int, Decimal | None, int]],
    tools: Sequence[tuple[datetime, int]],
) -> CallLine:
    typed = read(event.kind, event.data)
    is_model = event.kind == EventKind.MODEL_CALLED
    said = (event.seq, event.at, typed.tone, typed.short_sentence({}), is_model)
    if is_model:
        model = _written(models, event.at)
        return CallLine(*said, *model[1:]) if model else CallLine(*said)
    tool = _written(tools, event.at)
    timed = tool is not None and not (isinstance(typed, ToolCalled) and typed.tool in SERVICE_TOOLS)
    return CallLine(*said, tool[1]) if tool and timed else CallLine(*said)


def _written[Row: tuple[datetime, *tuple[object, ...]]](rows: Sequence[Row], at: datetime) -> Row | None:
    """The row that was written directly before its event."""
    place = bisect_right(rows, at, key=lambda row: row[0])
    row = rows[place - 1] if place else None
    return row if row and at - row[0] < _SAME_MOMENT else None
