"""Lists of the runs that a person may see: filtered, sorted, counted, and with what a row shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Lower

from runs.enums import SETTLED_STEPS, EventKind, Outcome, RunStatus, ShareLevel, Show, StepStatus
from runs.errors import FromLaterVersion
from runs.lifecycle.snoozes import snoozed_gates
from runs.models import DeletedRun, Event, Gate, ModelCall, Plan, Run, Share, Step, User
from runs.models.querysets import RunQuerySet
from runs.people.permissions import (
    Person,
    approvable_as_read,
    approvable_gates,
    awaiting,
    decidable_runs,
    is_administrator,
    visible_runs,
)
from runs.pev.policy import RULES

_ZERO = Decimal(0)
SHOWN_FIELDS = (
    "id",
    "title",
    "status",
    "outcome",
    "paused",
    "created_at",
    "finished_at",
    "archived_at",
    "owner",
    "owner__username",
    "before",
    "revision",
)
"""The fields of a run that a row shows. Request, policy and answer are by far the largest, and no row shows them."""
_PLAIN_FIELDS = ("id", "title", "created_at", "finished_at", "archived_at", "owner", "owner__username")
"""The fields of those that every version of pevsite can read: no statuses and no contracts."""


class Sort(StrEnum):
    """The order of a list. `waiting`: the oldest open gate first; `due`: the one whose time limit ends first; `ended`:
    the run that ended last comes first.
    """

    NEWEST = "newest"
    OLDEST = "oldest"
    WAITING = "waiting"
    DUE = "due"
    ENDED = "ended"
    TITLE = "title"


PAUSED = "paused"
ME, MY_GROUPS = "me", "groups"
"""Whose turn the decisions of a list are."""


@dataclass(frozen=True)
class Filters:
    """The filters of a list; an empty field filters nothing.

    Runs are submitted at `since` or later, and before `until`. `state` is a status, an outcome, or `paused`. `words`
    occur in title or request; a number may also be that of the run. `assigned`: with an open decision that is the turn
    of `me`, or of a group of mine (`groups`).
    """

    words: Sequence[str] = ()
    state: str = ""
    person: int | None = None
    template: str = ""
    snoozed: bool = False
    assigned: str = ""
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False


@dataclass(frozen=True)
class ListCounts:
    """The number of runs in each list with these filters. `needed` counts all runs that need a decision, unfiltered."""

    mine: int
    running: int
    finished: int
    all: int
    needed: int
    snoozed: int = 0


@dataclass(frozen=True)
class PlanProgress:
    """The progress of the newest plan of a run."""

    plan: int
    steps: int
    done: int


@dataclass(frozen=True)
class RunCost:
    """The cost of the priced calls in USD, and the number of calls without a known price."""

    cost: Decimal = _ZERO
    unpriced: int = 0


def without_ai(models: Iterable[str]) -> bool:
    """Whether all of these models are offline rules. False without models."""
    names = list(models)
    return bool(names) and all(name.startswith(RULES) for name in names)


def version(user: Person) -> str:
    """A value that changes whenever a list of this person may have changed.

    Everything that lists show changes with an event, when a run is deleted, or when a decision is snoozed.
    """
    event = Event.objects.aggregate(newest=Max("pk"))["newest"]
    deleted = DeletedRun.objects.aggregate(newest=Max("pk"))["newest"]
    put_off = snoozed_gates(user)
    groups = ".".join(str(group.pk) for group in user.groups.order_by("pk"))
    return f"{user.pk}-{int(is_administrator(user))}-{groups}-{event}-{deleted}-{'.'.join(map(str, sorted(put_off)))}"


def _matching(runs: RunQuerySet, filters: Filters, user: Person) -> RunQuerySet:
    """Those of these runs that match the filters of this person."""
    runs = runs.filter(archived_at__isnull=not filters.archived)
    for word in filters.words:
        fits = Q(title__icontains=word) | Q(request__icontains=word)
        number = word.removeprefix("#")
        runs = runs.filter(fits | Q(pk=int(number)) if number.isascii() and number.isdigit() else fits)
    if filters.state == PAUSED:
        runs = runs.unfinished().filter(paused=True)
    elif filters.state in set(Outcome):
        runs = runs.filter(outcome=filters.state)
    elif filters.state in set(RunStatus):
        runs = runs.filter(status=filters.state)
    if filters.person is not None:
        runs = runs.filter(owner_id=filters.person)
    if filters.template:
        runs = runs.filter(template=filters.template)
    if filters.assigned:
        turn = Q(assigned_to=user.pk) if filters.assigned == ME else Q(assigned_group__in=user.groups.values("pk"))
        runs = runs.filter(Exists(Gate.objects.open().filter(turn, run=OuterRef("pk"))))
    if filters.since:
        runs = runs.filter(created_at__gte=filters.since)
    if filters.until:
        runs = runs.filter(created_at__lt=filters.until)
    return runs


def counts(user: Person, filters: Filters, put_off: Sequence[int]) -> ListCounts:
    """`put_off`: the decisions that this person has snoozed."""
    runs = _matching(visible_runs(user), filters, user)
    found = runs.aggregate(all=Count("pk"), finished=Count("pk", filter=Q(status=RunStatus.FINISHED)))
    asked = _count(_matching(awaiting(user), filters, user))
    mine = _count(_asked_now(user, put_off, filters)) if put_off or filters.snoozed else asked
    needed = mine if filters == Filters() else _count(_asked_now(user, put_off, Filters()))
    snoozed = _count(_matching(awaiting(user, Q(gates__in=put_off)), filters, user)) if put_off else 0
    return ListCounts(mine, found["all"] - found["finished"] - asked, found["finished"], found["all"], needed, snoozed)


def _count(runs: RunQuerySet) -> int:
    return int(runs.aggregate(count=Count("pk", distinct=True))["count"])


def _asked_now(user: Person, put_off: Sequence[int], filters: Filters) -> RunQuerySet:
    """The runs that wait for this person: without the decisions that they have put off, or only those."""
    if filters.snoozed:
        runs = awaiting(user, Q(gates__in=put_off))
    elif put_off:
        runs = awaiting(user, Q(gates__in=Gate.objects.open().exclude(pk__in=put_off).values("pk")))
    else:
        runs = awaiting(user)
    return _matching(runs, filters, user)


def runs_of_list(user: Person, show: Show, filters: Filters, sort: Sort, put_off: Sequence[int]) -> RunQuerySet:
    """The runs of one list, in order, with the fields that a row shows. `put_off`: as in `counts`."""
    runs = _matching(visible_runs(user), filters, user)
    match show:
        case Show.MINE:
            runs = _asked_now(user, put_off, filters).annotate(asked=Min("gates__opened_at"))
        case Show.RUNNING:
            runs = runs.unfinished().exclude(pk__in=approvable_gates(user).values("run_id"))
        case Show.FINISHED:
            runs = runs.finished()
        case Show.ALL:
            pass
    return _shown(_sorted(runs, sort))


def keys_of_list(user: User, show: Show, filters: Filters, sort: Sort, put_off: Sequence[int]) -> QuerySet[Any, int]:
    """The runs of one list by primary key, in order."""
    if show is not Show.MINE or sort is not Sort.WAITING:
        return runs_of_list(user, show, filters, sort, put_off).values_list("pk", flat=True)
    # From the oldest open gate on, so that the database stops at the end of the page. It would sort all of them if it
    # began with the runs.
    asked = _without(put_off, approvable_gates(user), filters)
    before = Q(opened_at__lt=OuterRef("opened_at")) | Q(opened_at=OuterRef("opened_at"), pk__lt=OuterRef("pk"))
    earlier = asked.filter(before, run=OuterRef("run_id"))
    listed = _without(put_off, approvable_gates(user, _matching(decidable_runs(user), filters, user)), filters)
    return listed.filter(~Exists(earlier)).order_by("opened_at", "-run_id").values_list("run_id", flat=True)


def _without(put_off: Sequence[int], gates: QuerySet[Gate], filters: Filters) -> QuerySet[Gate]:
    """Those of these gates that are not snoozed, or only those that are."""
    if filters.snoozed:
        return gates.filter(pk__in=put_off)
    return gates.exclude(pk__in=put_off) if put_off else gates


def rows_of(keys: Iterable[int]) -> list[Run]:
    """The rows of a list, in the order of its keys, with the fields that a row shows."""
    listed = list(keys)
    found = {run.pk: run for run in readable_rows(_shown(Run.objects.filter(pk__in=listed)))}
    return [found[key] for key in listed if key in found]


def _shown(runs: RunQuerySet) -> RunQuerySet:
    return runs.select_related("owner").only(*SHOWN_FIELDS)


def decisions_elsewhere(user: User, run: Run, filters: Filters) -> int:
    """The number of other runs that need a decision of this person and fit the filters."""
    return _count(_asked_now(user, snoozed_gates(user), filters).exclude(pk=run.pk))


def next_waiting(user: User, after: int | None, filters: Filters, sort: Sort) -> Gate | None:
    """What needs a decision of this person next, behind the run `after` in this order, which begins again at its end;
    None if no other run needs one. A run that needs none any more is where it was when it did.
    """
    put_off = snoozed_gates(user)
    order = _waiting_around(user, after, filters, sort, put_off)
    place = order.index(after) + 1 if after in order else 0
    others = [pk for pk in (*order[place:], *order[:place]) if pk != after]
    if not others:
        return None
    return approvable_gates(user).filter(run=others[0]).exclude(pk__in=put_off).order_by("pk").first()


def _waiting_around(
    user: User, after: int | None, filters: Filters, sort: Sort, put_off: Sequence[int]
) -> Sequence[int | None]:
    """The runs that wait for a person, in order, and the run `after` in its place."""
    waiting = runs_of_list(user, Show.MINE, filters, sort, put_off)
    if sort is not Sort.WAITING:
        runs = visible_runs(user).filter(Q(pk__in=waiting.order_by().values("pk")) | Q(pk=after))
        return list(_sorted(runs, sort).values_list("pk", flat=True))
    asked = dict(waiting.values_list("pk", "asked"))  # type: ignore[misc]  # annotated by `runs_of_list`
    if after is not None and (gate := _gate_before(user, after)):
        asked[after] = gate.opened_at
    return sorted(asked, key=lambda pk: (asked[pk], -pk))


def _gate_before(user: User, run: int) -> Gate | None:
    """The decision of a run that a person comes from: their latest one if it was in this run, which may ask the next
    question already; else the oldest that is open, or that was asked last.
    """
    gates = Gate.objects.filter(run__in=visible_runs(user), run=run)
    decided = Gate.objects.filter(decided_by=user).order_by("-decided_at").first()
    if decided and decided.run_id == run:
        return decided
    return gates.open().order_by("opened_at").first() or gates.order_by("-opened_at").first()


def _sorted(runs: RunQuerySet, sort: Sort) -> RunQuerySet:
    match sort:
        case Sort.NEWEST:
            return runs.order_by("-pk")
        case Sort.OLDEST:
            return runs.order_by("pk")
        case Sort.ENDED:
            return runs.order_by(F("finished_at").desc(nulls_last=True), "-pk")
        case Sort.TITLE:
            return runs.order_by(Lower("title"), "-pk")
        case Sort.DUE:
            gates = Gate.objects.open().filter(run=OuterRef("pk")).order_by().values("run")
            runs = runs.annotate(due=Subquery(gates.annotate(first=Min("due_at")).values("first")))
            return runs.order_by(F("due").asc(nulls_last=True), "pk")
        case Sort.WAITING:
            if "asked" not in runs.query.annotations:
                gates = Gate.objects.open().filter(run=OuterRef("pk")).order_by().values("run")
                runs = runs.annotate(asked=Subquery(gates.annotate(first=Min("opened_at")).values("first")))
            return runs.order_by(F("asked").asc(nulls_last=True), "-pk")


def readable_rows(runs: RunQuerySet) -> list[Run]:
    """The rows of a list. During an upgrade, a row that a later version has written has only its plain fields
    (`is_later`).
    """
    try:
        return list(runs)
    except FromLaterVersion:  # now each row is read by itself, so that the others are not lost
        found: list[Run | None] = []
        for pk in runs.values_list("pk", flat=True):
            row = Run.objects.filter(pk=pk).select_related("owner")
            try:
                found.append(row.only(*SHOWN_FIELDS).first())
            except FromLaterVersion:
                found.append(row.only(*_PLAIN_FIELDS).first())
        return [run for run in found if run is not None]  # one may have been deleted in between


def is_later(run: Run) -> bool:
    """Whether a later version has written this row of `readable_rows`, so that its status is not known."""
    return "status" in run.get_deferred_fields()


def people(user: Person) -> QuerySet[User]:
    """Who submitted the runs that this person may see."""
    return User.objects.filter(pk__in=visible_runs(user).values("owner_id")).only("username").order_by("username")


# ---- what rows show in addition to the run: each in one query for all rows -------------------------------------------


def open_gates(user: Person, runs: Sequence[int]) -> list[Gate]:
    """The open questions of these runs, the oldest first. `mine` says whether this person may answer.

    During an upgrade, questions that a later version has written are left out.
    """
    known = Gate.objects.open().known().filter(_KNOWN_STEP)
    found = known.filter(run__in=runs).select_related("step", "assigned_to").order_by("opened_at", "pk")
    gates: list[Gate] = []
    try:
        gates += found
    except FromLaterVersion:  # in the step of a gate; now each gate is read by itself
        for pk in found.values_list("pk", flat=True):
            with suppress(FromLaterVersion):
                gates += found.filter(pk=pk)
    mine = approvable_as_read(user, gates)
    for gate in gates:
        gate.mine = gate.pk in mine  # type: ignore[attr-defined]
    return gates


def waiting_for(user: Person, runs: Mapping[int, int]) -> dict[int, bool]:
    """Those of these runs that wait for people, each with whether this person may answer one of its questions. `runs`:
    the owner of each.
    """
    known = Gate.objects.open().known().filter(_KNOWN_STEP, run__in=list(runs)).order_by()
    gates = list(known.only("run_id", "status", "second_person", "high_risk")) if runs else []
    mine = approvable_as_read(user, gates, runs)
    found: dict[int, bool] = {}
    for gate in gates:
        found[gate.run_id] = found.get(gate.run_id, False) or gate.pk in mine
    return found


_KNOWN_STEP = Q(step=None) | Q(step__status__in=list(StepStatus))


def approvers(runs: Sequence[int]) -> dict[int, list[str]]:
    """The people and groups with whom runs are shared for decisions, by run."""
    shares = Share.objects.filter(run__in=runs, level=ShareLevel.DECIDE)
    people = shares.filter(user__is_active=True).order_by("user__username").values_list("run_id", "user__username")
    groups = shares.filter(group__isnull=False).order_by("group__name").values_list("run_id", "group__name")
    found: dict[int, list[str]] = {}
    for run_id, name in (*people, *groups):
        found.setdefault(run_id, []).append(name)
    return found


def progress(runs: Sequence[int]) -> Mapping[int, PlanProgress]:
    settled = Count("steps", filter=Q(steps__status__in=SETTLED_STEPS))
    plans = Plan.objects.filter(run__in=runs).order_by("version").annotate(count=Count("steps"), done=settled)
    rows = plans.values_list("run_id", "pk", "count", "done")
    return {run_id: PlanProgress(plan, count, done) for run_id, plan, count, done in rows}


def costs_of_runs(runs: Sequence[int]) -> Mapping[int, RunCost]:
    rows = ModelCall.objects.filter(run__in=runs).order_by().values("run_id")
    sums = rows.annotate(cost=Sum("cost_usd"), unpriced=Count("pk", filter=Q(cost_usd__isnull=True)))
    return {row["run_id"]: RunCost(row["cost"] or _ZERO, row["unpriced"]) for row in sums}


def telling_events(runs: Sequence[int]) -> QuerySet[Event]:
    """The newest event of each run, and the one that finished it."""
    newest = Q(seq=F("run__event_count"))
    return Event.objects.filter(newest | Q(kind=EventKind.FINISHED), run__in=runs).order_by("run_id", "seq")


def step_names(plans: Iterable[int], keys: Iterable[str]) -> Mapping[tuple[int, str], str]:
    """The names of steps by plan and key."""
    steps = Step.objects.filter(plan__in=[*plans], key__in=[*keys]).order_by()
    return {(plan, key): name for plan, key, name in steps.values_list("plan_id", "key", "spec__name")}
