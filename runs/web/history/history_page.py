"""The history of a run: a page of lines as a tree, and the calls of one work item, which a fold shows.

Calls are summed up by the database and read only when they are asked for, so that a run with 5,000 events costs as
much as one with 50; a page has at most 200 lines, and the number of queries is the same for every run.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from runs.enums import EventKind, WorkKind
from runs.events.kinds import Tone, ToolCalled, read
from runs.models import Attempt, Event, ModelCall, Run, ToolCall, WorkItem
from runs.models.querysets import EventQuerySet
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.web.frame.run_tab import CALLS, EVERYTHING, GATE_EVENTS, RunTab
from runs.web.history.history_filter import SHOW, HistoryFilter, filter_from
from runs.web.history.history_rows import context_of, people_of, steps_of, window
from runs.web.history.history_tree import Node, tree
from runs.web.site.requests import visible_run
from runs.web.site.unchanged import of_run, while_unchanged

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
    events = _calls_of_attempt(run, work.attempt) if work.attempt else _calls_of_run(run, work)
    shown = list(events.order_by("seq")[:MAX_CALLS])
    more = events.count() - len(shown)
    used = F("input_tokens") + F("output_tokens") + F("cache_read_tokens")
    used += F("cache_write_5m_tokens") + F("cache_write_1h_tokens")
    models = ModelCall.objects.filter(work=work).order_by("created_at")
    tools = ToolCall.objects.filter(work=work).order_by("created_at")
    priced = list(models.annotate(used=used).values_list("created_at", "duration_ms", "cost_usd", "used"))
    timed = list(tools.values_list("created_at", "duration_ms"))
    return CallPage(run, work.pk, [_call_line(event, priced, timed) for event in shown], more)


def work_of(run: Run, event: Event) -> int:
    """The work item of a call; 0 if the journal no longer has the call."""
    table = ModelCall if event.kind == EventKind.MODEL_CALLED else ToolCall
    key, number = event.data.get("step"), event.data.get("attempt")
    mine = {"attempt__step__key": key, "attempt__number": number} if key else {"attempt": None}
    near = table.objects.filter(run=run, created_at__lte=event.at, created_at__gt=event.at - _SAME_MOMENT, **mine)
    return near.order_by("-created_at").values_list("work_id", flat=True).first() or 0


def _calls_of_attempt(run: Run, attempt: Attempt) -> EventQuerySet:
    """The calls of an attempt. Keys and numbers begin again with each version of the plan, so the time decides."""
    key, number, began = attempt.step.key, attempt.number, attempt.created_at
    events = run.events.filter(kind__in=CALLS, data__step=key, data__attempt=number, at__gte=began)
    same = Attempt.objects.of_run(run).filter(step__key=key, number=number, pk__gt=attempt.pk)
    following = same.order_by("pk").values_list("created_at", flat=True).first()
    return events.filter(at__lt=following) if following else events


def _calls_of_run(run: Run, work: WorkItem) -> EventQuerySet:
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


def _call_line(
    event: Event,
    models: Sequence[tuple[datetime, int, Decimal | None, int]],
    tools: Sequence[tuple[datetime, int]],
) -> CallLine:
    typed = read(event.kind, event.data)
    is_model = event.kind == EventKind.MODEL_CALLED
    said = (event.seq, event.at, typed.tone, typed.short_sentence({}), is_model)
    if is_model:
        model = _row_written_at(models, event.at)
        return CallLine(*said, *model[1:]) if model else CallLine(*said)
    tool = _row_written_at(tools, event.at)
    timed = tool is not None and not (isinstance(typed, ToolCalled) and typed.tool in SERVICE_TOOLS)
    return CallLine(*said, tool[1]) if tool and timed else CallLine(*said)


def _row_written_at[Row: tuple[datetime, *tuple[object, ...]]](rows: Sequence[Row], at: datetime) -> Row | None:
    """The row that was written directly before its event."""
    place = bisect_right(rows, at, key=lambda row: row[0])
    row = rows[place - 1] if place else None
    return row if row and at - row[0] < _SAME_MOMENT else None


@dataclass(frozen=True)
class HistoryPage:
    """A page of the history. `earlier` and `later` are the queries of the pages beside it, or empty.

    `searched_all` is false when the search stopped after as many events as are looked through at once.
    """

    run: Run
    chosen: HistoryFilter
    nodes: Sequence[Node]
    count: int
    earlier: str
    later: str
    steps: Mapping[str, str]
    people: Sequence[str]
    searched_all: bool
    unfolded: CallPage | None

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The kinds that can be shown, with their words."""
        return [(show.value, words) for show, words in SHOW.items()]


def read_history(run: Run, asked: Mapping[str, str]) -> HistoryPage:
    """The page for `asked`, the query of an address. Invalid values are ignored."""
    steps, people = steps_of(run), people_of(run)
    names = {key: rows[-1].name for key, rows in steps.items()}
    chosen = filter_from(asked, names, people)
    linked = run.events.filter(seq=chosen.event, kind__in=CALLS).first() if chosen.event else None
    if linked is not None and chosen.folds_calls:  # a link to a call unfolds the calls that it is among
        chosen = replace(chosen, open=work_of(run, linked))
    found = window(run, chosen, names)
    query = f"{chosen.query}&" if chosen.query else ""
    return HistoryPage(
        run=run,
        chosen=chosen,
        nodes=tree(found.events, context_of(run, chosen, steps, found.events), shown=chosen.event),
        count=len(found.events),
        earlier=f"?{query}before={found.earlier}" if found.earlier else "",
        later=f"?{query}after={found.later}" if found.later else "",
        steps=names,
        people=people,
        searched_all=found.searched_all,
        unfolded=calls_of(run, chosen.open) if chosen.open else None,
    )


def _render_calls(run: Run, name: re.Match[str]) -> str:
    """The calls of a fold that is open."""
    calls = calls_of(run, int(name["work"]))
    if calls is None:
        raise Http404("This run has no such work.")
    return render_to_string("history/history.html#calls", {"calls": calls}).strip()


HISTORY = RunTab(
    "history",
    "history/history.html",
    read=read_history,
    # A history that shows every call as a line changes with each call. In the tree, sums of calls are details that
    # change by themselves.
    regions={
        "tree": frozenset(EventKind) - CALLS,
        "lines": frozenset(EventKind),
        "filter": EVERYTHING | GATE_EVENTS,
    },
    query=("show", "step", "person", "q", "before", "after", "event", "open"),
    partials={"lines": "tree"},
    details={re.compile(r"calls-(?P<work>[0-9]{1,18})"): _render_calls},
)


@require_safe
@while_unchanged(of_run, "part")
def history_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """The tree. A change of the filter requests only its lines."""
    run = visible_run(request, run_id)
    if getattr(request, "htmx", False) and "part" not in request.GET:
        return render(request, "history/history.html#tree", HISTORY.context_of("tree", run, request.GET.dict()))
    return HISTORY.answer(request, run)


@require_safe
@while_unchanged(of_run)
def history_calls(request: HttpRequest, run_id: int, work_id: int) -> HttpResponse:
    """The calls of one work item, for a fold that was opened."""
    calls = calls_of(visible_run(request, run_id), work_id)
    if calls is None:
        raise Http404("This run has no such work.")
    return render(request, "history/history.html#calls", {"calls": calls})
