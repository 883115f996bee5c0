"""The rows of a page of the history: a constant number of queries, each bounded by the page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from runs.accounting.costs import Totals, totals_by
from runs.enums import EventKind, WorkKind
from runs.events.kinds import read
from runs.models import Attempt, Event, ModelCall, Run, Step, ToolCall, WorkItem
from runs.text.normalisation import caseless
from runs.web.frame.run_tab import CALLS
from runs.web.history.history_filter import HistoryFilter
from runs.web.history.history_tree import AttemptRow, Calls, Context, HistoryStep, Marks

PER_PAGE = 200
"""Lines of a page."""
AROUND = 20
"""Lines after the linked line."""
MAX_SEARCHED = 5_000
"""Events that are searched at once, because their sentences have to be made. The search goes on from there on request.
"""
MAX_PEOPLE = 100
"""Names in the filter."""
_MARKS = (EventKind.PLANNING, EventKind.FINALISING, EventKind.GATE_OPENED)


@dataclass(frozen=True)
class Window:
    """Events in order; `earlier` and `later` are the numbers before and after which there are more, or 0."""

    events: Sequence[Event]
    earlier: int
    later: int
    searched_all: bool


def window(run: Run, chosen: HistoryFilter, names: Mapping[str, str]) -> Window:
    """The page that the filter names, the newest by default."""
    known = run.events.filter(chosen.condition, seq__lte=run.event_count)
    upwards = chosen.after is not None
    before = chosen.event + AROUND if chosen.event else chosen.before
    if chosen.after is not None:
        rows = known.filter(seq__gt=chosen.after).order_by("seq")
    else:
        rows = (known.filter(seq__lt=before) if before else known).order_by("-seq")
    limit = MAX_SEARCHED if chosen.words else PER_PAGE
    wanted = caseless(chosen.words)
    taken: list[Event] = []
    rest, looked_at = 0, 0
    for number, event in enumerate(rows[: limit + 1].iterator(chunk_size=PER_PAGE)):
        if number == limit or len(taken) == PER_PAGE:
            rest = looked_at
            break
        looked_at = event.seq
        if not wanted or wanted in caseless(read(event.kind, event.data).sentence(names)):
            taken.append(event)
    searched_all = not (rest and len(taken) < PER_PAGE)
    if upwards:
        return Window(taken, taken[0].seq if taken and chosen.after else 0, rest, searched_all)
    taken.reverse()
    return Window(taken, rest, before - 1 if before and before <= run.event_count else 0, searched_all)


def steps_of(run: Run) -> dict[str, list[HistoryStep]]:
    """The steps of every version of the plan by key, the newest last."""
    found: dict[str, list[HistoryStep]] = defaultdict(list)
    rows = Step.objects.filter(plan__run=run).order_by("plan__version", "position").annotate(name=KT("spec__name"))
    for row in rows.values_list("pk", "key", "name", "status", "plan__version", "plan__created_at"):
        found[row[1]].append(HistoryStep(*row))
    return dict(found)


def people_of(run: Run) -> list[str]:
    """Everybody who did something in the history."""
    by = run.events.filter(data__by__isnull=False).order_by().annotate(by=KT("data__by")).values_list("by", flat=True)
    return sorted(name for name in by.distinct()[:MAX_PEOPLE] if name)


def context_of(
    run: Run, chosen: HistoryFilter, steps: Mapping[str, Sequence[HistoryStep]], events: Iterable[Event]
) -> Context:
    """The rows that the lines of these events refer to."""
    keys = {str(event.data["step"]) for event in events if event.data.get("step")}
    attempts = _attempts(run, keys)
    marks, begun = _marks(run)
    works = _works(run, begun) if chosen.folds_calls else {}
    mine = [*works.values(), *(row.work for rows in attempts.values() for row in rows)]
    calls = _calls(run, mine, chosen.open) if chosen.folds_calls else {}
    return Context(steps, attempts, calls, marks, works)


def _attempts(run: Run, keys: Iterable[str]) -> dict[tuple[str, int], list[AttemptRow]]:
    found: dict[tuple[str, int], list[AttemptRow]] = defaultdict(list)
    own = Attempt.objects.filter(step__plan__run=run, step__key__in=list(keys), reused_from=None).order_by("pk")
    ended = Coalesce("verdict__created_at", "finished_at")
    for row in own.annotate(ended=ended).values_list(
        "pk", "step_id", "step__key", "number", "status", "created_at", "ended", "work__pk"
    ):
        found[row[2], row[3]].append(AttemptRow(*row))
    return dict(found)


def _marks(run: Run) -> tuple[Marks, list[Event]]:
    """The events that began a plan or an answer, in order, with these events."""
    rows = list(run.events.filter(kind__in=_MARKS).order_by("seq"))
    gates = {event.data.get("gate", 0): event.at for event in rows if event.kind == EventKind.GATE_OPENED}
    begun = [event for event in rows if event.kind != EventKind.GATE_OPENED]
    planned = [(event.seq, event.at) for event in begun if event.kind == EventKind.PLANNING]
    finalised = [(event.seq, event.at) for event in begun if event.kind == EventKind.FINALISING]
    return Marks(planned, finalised, gates), begun


def _works(run: Run, begun: Iterable[Event]) -> dict[int, int]:
    """The work items of the whole run, by the events that began them. Each is made with one such event."""
    items: dict[str, list[int]] = defaultdict(list)
    for pk, kind in WorkItem.objects.filter(run=run, attempt=None).order_by("pk").values_list("pk", "kind"):
        items[kind].append(pk)
    found = {}
    for event in begun:
        queue = items[WorkKind.PLAN if event.kind == EventKind.PLANNING else WorkKind.FINALISE]
        if queue:
            found[event.seq] = queue.pop(0)
    return found


def sums_with(run: Run, events: Iterable[Event]) -> list[Calls]:
    """The sums of the newest work that these calls are part of."""
    told = [read(event.kind, event.data) for event in events if event.kind in CALLS]
    named = {(getattr(call, "step", ""), getattr(call, "attempt", 0)) for call in told}
    keys, numbers = {key for key, _ in named if key}, {number for key, number in named if key}
    own = Attempt.objects.of_run(run).filter(step__key__in=keys, number__in=numbers, reused_from=None).order_by("pk")
    rows = own.values_list("step__key", "number", "work__pk") if keys else ()
    works: dict[tuple[str, int], int | None]
    works = {(key, number): work for key, number, work in rows if (key, number) in named}
    if any(not key for key, _ in named):
        works["", 0] = WorkItem.objects.filter(run=run, attempt=None).order_by("pk").values_list("pk", flat=True).last()
    found = [work for work in works.values() if work is not None]
    return list(_calls(run, found, 0).values()) if found else []


def _calls(run: Run, works: Sequence[int], unfolded: int) -> dict[int, Calls]:
    """The sums of calls for each of these work items, also for those without calls."""
    models = dict(totals_by(ModelCall.objects.filter(run=run, work__in=works), "work_id"))
    tools = {
        row["work_id"]: row
        for row in ToolCall.objects.filter(run=run, work__in=works)
        .order_by()
        .values("work_id")
        .annotate(calls=Count("pk"), failed=Count("pk", filter=Q(is_error=True)), ms=Sum("duration_ms"))
    }
    found = {}
    for work in works:
        used, tool = models.get((work,), Totals()), tools.get(work, {"calls": 0, "failed": 0, "ms": 0})
        found[work] = Calls(
            work=work,
            models=used.calls,
            tools=tool["calls"],
            failed=used.failed + tool["failed"],
            ms=used.duration_ms + tool["ms"],
            cost=used.cost,
            unpriced=used.unpriced,
            lower_bounds=used.lower_bounds,
            open=work == unfolded,
        )
    return found
