"""The inbox: a list of runs, each with what it asks or does, with a fixed number of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.core.paginator import Page, Paginator
from django.urls import reverse

from runs.enums import Outcome, RunStatus, Show
from runs.events.kinds import Finished, read
from runs.lifecycle.gates.registry import type_of
from runs.models import Event, Gate, Run, User
from runs.models.querysets import RunQuerySet
from runs.people.permissions import can_manage
from runs.readmodel import run_queries
from runs.readmodel.run_again import revision_in_words
from runs.readmodel.run_queries import ListCounts, PlanProgress, RunCost, Sort
from runs.text.plural import pluralize
from runs.web.inbox.forms import SORTS, STATES, Selection

PER_PAGE = 40
"""Two screens of rows."""
LISTS = {
    Show.MINE: "Needs your decision",
    Show.RUNNING: "Running",
    Show.FINISHED: "Finished",
    Show.ALL: "All",
}

LATER = "A later version of pevsite goes on with it. What it does is shown when the upgrade is finished."


@dataclass(frozen=True)
class Link:
    """A link to another list. `count` is for a tab; None for a filter that the link removes."""

    label: str
    address: str
    count: int | None = None
    current: bool = False


@dataclass(frozen=True)
class InboxRow:
    """`mark` is the word of its sign, `what` one line on what is asked or happens, `at` when that began, in `since`'s
    words. `more`: further questions of this run to the same person.
    """

    run: Run
    mark: str
    what: str
    address: str
    since: str
    at: datetime
    progress: PlanProgress | None
    spent: RunCost
    manages: bool
    more: int = 0

    @property
    def again(self) -> str:
        """Which run this one repeats, and how it differs, because both have the same title."""
        if run_queries.is_later(self.run) or self.run.before_id is None or self.run.revision is None:
            return ""
        return (
            f"#{self.run.before_id} again: {', '.join(revision_in_words(self.run.revision, short=True)) or 'unchanged'}"
        )


class _Counted(Paginator):  # type: ignore[type-arg]  # the class cannot be subscripted
    """Pages of a list whose length is known, so that it is not counted again."""

    def __init__(self, runs: RunQuerySet, length: int) -> None:
        self._length = length
        super().__init__(runs, PER_PAGE)

    @cached_property
    def count(self) -> int:
        return self._length


@dataclass(frozen=True)
class Inbox:
    """What the page shows. `first_time`: this person has no run at all yet."""

    selection: Selection
    counts: ListCounts
    rows: Sequence[InboxRow]
    page: Page[Run]

    @property
    def first_time(self) -> bool:
        return not (self.counts.all or self.selection.is_filtered)

    @property
    def tabs(self) -> list[Link]:
        return [
            Link(label, self.selection.address(show=show, sort=""), self._count(show), self.selection.show is show)
            for show, label in LISTS.items()
        ]

    @property
    def title(self) -> str:
        return LISTS[self.selection.show]

    @property
    def sorts(self) -> list[tuple[Sort, str]]:
        return list(SORTS.items())

    @property
    def chips(self) -> list[Link]:
        """The active filters, each as a link to the list without it."""
        given = self.selection.given
        words = {
            "q": "“{}”",
            "person": "by {}",
            "template": "template {}",
            "since": "since {}",
            "until": "until {}",
        }
        found = [
            Link(words[name].format(given[name]), self.selection.address(**{name: ""}))
            for name in words
            if name in given
        ]
        if "state" in given:
            found.append(Link(STATES[given["state"]], self.selection.address(state="")))
        if "archived" in given:
            found.append(Link("archived", self.selection.address(archived="")))
        return found

    @property
    def elsewhere(self) -> list[Link]:
        """Other lists that are not empty, shown on an empty list."""
        return [tab for tab in self.tabs if tab.count and not tab.current]

    @property
    def newer(self) -> str:
        return self.selection.address(page=self.page.previous_page_number()) if self.page.has_previous() else ""

    @property
    def older(self) -> str:
        return self.selection.address(page=self.page.next_page_number()) if self.page.has_next() else ""

    def _count(self, show: Show) -> int:
        return int(getattr(self.counts, show.value))


def inbox(user: User, selection: Selection) -> Inbox:
    """One page of a list as it is now."""
    counted = run_queries.counts(user, selection.filters)
    runs = run_queries.listed(user, selection.show, selection.filters, selection.sort)
    page = _Counted(runs, int(getattr(counted, selection.show.value))).get_page(selection.page)
    assert isinstance(page.object_list, RunQuerySet)
    return Inbox(selection, counted, _rows(user, run_queries.shown(page.object_list)), page)


def _rows(user: User, runs: Sequence[Run]) -> list[InboxRow]:
    keys = [run.pk for run in runs]
    gates: dict[int, list[Gate]] = {}
    for gate in run_queries.open_gates(user, keys):
        gates.setdefault(gate.run_id, []).append(gate)
    events: dict[int, list[Event]] = {}
    for event in run_queries.telling_events(keys):
        events.setdefault(event.run_id, []).append(event)
    progress, spent = run_queries.progress(keys), run_queries.spent(keys)
    names = _names(events.values(), progress)
    others = run_queries.approvers([key for key, found in gates.items() if not any(_mine(gate) for gate in found)])
    facts = _Facts(user, events, progress, spent, names, others)
    return [facts.row(run, gates.get(run.pk, [])) for run in runs]


def _names(events: Iterable[Sequence[Event]], progress: Mapping[int, PlanProgress]) -> Mapping[tuple[int, str], str]:
    newest = [found[-1] for found in events]
    keys = {str(event.data["step"]) for event in newest if event.data.get("step")}
    return run_queries.step_names([one.plan for one in progress.values()], keys)


def _mine(gate: Gate) -> bool:
    return bool(gate.mine)  # type: ignore[attr-defined]  # from `queries.open_gates`


@dataclass(frozen=True)
class _Facts:
    """The facts about the runs of a page."""

    user: User
    events: Mapping[int, Sequence[Event]]
    progress: Mapping[int, PlanProgress]
    spent: Mapping[int, RunCost]
    names: Mapping[tuple[int, str], str]
    others: Mapping[int, Sequence[str]]

    def row(self, run: Run, gates: Sequence[Gate]) -> InboxRow:
        mine = [gate for gate in gates if _mine(gate)]
        place = reverse("run", args=[run.pk])
        if run_queries.is_later(run):
            return self._row(run, "unknown", LATER, place, "submitted", run.created_at)
        if mine:
            more, place = len(mine) - 1, f"{place}#gate-{mine[0].pk}"
            return self._row(
                run, "open", type_of(mine[0]).short_question(mine[0]), place, "asked", mine[0].opened_at, more
            )
        if run.status == RunStatus.FINISHED:
            return self._row(run, run.outcome or "", self._outcome(run), place, "finished", run.finished_at)
        if gates:
            waits = f"Waits for {self._somebody(run)}: {type_of(gates[0]).short_question(gates[0])}"
            return self._row(run, "waiting", waits, place, "asked", gates[0].opened_at)
        newest = self.events[run.pk][-1] if run.pk in self.events else None
        mark = "paused" if run.paused else run.status
        return self._row(run, mark, self._doing(run, newest), place, "", newest.at if newest else run.created_at)

    def _row(
        self, run: Run, mark: str, what: str, address: str, since: str, at: datetime | None, more: int = 0
    ) -> InboxRow:
        return InboxRow(
            run,
            mark,
            what,
            address,
            since,
            at or run.created_at,
            self.progress.get(run.pk),
            self.spent.get(run.pk, RunCost()),
            can_manage(self.user, run) and not run_queries.is_later(run),
            more,
        )

    def _somebody(self, run: Run) -> str:
        names = self.others.get(run.pk, ())
        if not names:
            return "an administrator"
        return names[0] if len(names) == 1 else f"{names[0]} or {pluralize(len(names) - 1, 'other')}"

    def _doing(self, run: Run, event: Event | None) -> str:
        if event is None:
            return ""
        plan = self.progress.get(run.pk)
        key = str(event.data.get("step", ""))
        name = self.names.get((plan.plan, key), key) if plan else key
        doing = read(event.kind, event.data).sentence({key: name})
        return f"Paused. {doing}" if run.paused and event.kind != "paused" else doing

    def _outcome(self, run: Run) -> str:
        found = [read(event.kind, event.data) for event in self.events.get(run.pk, ())]
        points = next((one.gaps for one in found if isinstance(one, Finished)), ())
        match run.outcome:
            case Outcome.SUCCEEDED:
                return "Succeeded"
            case Outcome.CANCELLED:
                return "Stopped"
            case _:
                word = "Partial" if run.outcome == Outcome.PARTIAL else "Failed"
                return f"{word}, {pluralize(len(points), 'open point')}: {points[0]}" if points else word
