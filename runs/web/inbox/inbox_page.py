"""The inbox: the runs of a person, the parameters that choose and sort them, and the questions that wait."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import quote_etag
from django.views.decorators.http import condition, require_safe

from runs.accounting.decision_pace import DecisionPace, own_pace
from runs.enums import Outcome, RunStatus, Show
from runs.events.kinds import Finished, read
from runs.lifecycle.decisions_together import equal_gates
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.snoozes import snoozed_gates
from runs.models import Event, Gate, Run, User
from runs.notices.browser import shows_decisions
from runs.people.permissions import can_manage
from runs.readmodel import run_queries
from runs.readmodel.run_again import revision_in_words
from runs.readmodel.run_queries import ME, MY_GROUPS, PAUSED, Filters, ListCounts, PlanProgress, RunCost, Sort
from runs.submission.run_templates import MAX_NAME, SHIPPED, own_templates
from runs.submission.samples import why_no_finished_sample
from runs.text.plural import pluralize
from runs.text.text_limits import too_long
from runs.web.site.posted_fields import DayField, Text
from runs.web.site.requests import person

PER_PAGE = 25
"""A screen of rows: more of them take longer to make than people to turn the page."""
LISTS = {
    Show.MINE: "Needs your decision",
    Show.RUNNING: "Running",
    Show.FINISHED: "Finished",
    Show.ALL: "All",
}
LATER = "A later version of pevsite works on it. Its state is shown when the upgrade is finished."
MAX_SEARCH = 200
"""Characters of a search. A longer one is cut, and the field shows the rest."""
MAX_WORDS = 8
MAX_PAGE = 1_000_000
STATES = {
    RunStatus.PLANNING.value: "Planning",
    RunStatus.AWAITING_APPROVAL.value: "Plan needs a decision",
    RunStatus.EXECUTING.value: "Working",
    RunStatus.FINALISING.value: "Writing the answer",
    PAUSED: "Paused",
    Outcome.SUCCEEDED.value: "Succeeded",
    Outcome.PARTIAL.value: "Partial",
    Outcome.FAILED.value: "Failed",
    Outcome.CANCELLED.value: "Stopped",
}
SORTS = {
    Sort.NEWEST: "Newest first",
    Sort.OLDEST: "Oldest first",
    Sort.WAITING: "Waiting longest",
    Sort.DUE: "Due first",
    Sort.ENDED: "Last finished",
    Sort.TITLE: "By title",
}
ASSIGNED = {ME: "Me", MY_GROUPS: "My groups"}
USUAL = {Show.MINE: Sort.WAITING, Show.RUNNING: Sort.NEWEST, Show.FINISHED: Sort.ENDED, Show.ALL: Sort.NEWEST}
"""The order of each list if none is requested."""
_KEPT = "pev_list"
"""The name in the session of the query of the list that was seen last."""


@dataclass(frozen=True)
class Selection:
    """A requested list. `given`: the parameters of its address that are valid."""

    show: Show = Show.MINE
    filters: Filters = field(default_factory=Filters)
    sort: Sort = Sort.WAITING
    page: int = 1
    given: Mapping[str, str] = field(default_factory=dict)

    def address(self, **changes: object) -> str:
        """The query of this list with these parameters changed, without empty ones."""
        asked = {**self.given, **{name: str(value) for name, value in changes.items()}}
        return "?" + urlencode({name: value for name, value in asked.items() if value})

    @property
    def is_filtered(self) -> bool:
        return self.filters != Filters()


class ListForm(forms.Form):
    """Never refuses a page: invalid parameters are left out, and `problems` name them. `templates` are the names to
    choose from, those that the person can use; others are found by their name as well.
    """

    q = Text(required=False)
    show = forms.TypedChoiceField(choices=[(one, one) for one in Show], coerce=Show, required=False)
    sort = forms.TypedChoiceField(choices=list(SORTS.items()), coerce=Sort, required=False)
    state = forms.ChoiceField(choices=[("", "Any"), *STATES.items()], required=False)
    person = forms.ChoiceField(required=False)
    template = Text(required=False, max_length=MAX_NAME)
    since = DayField(required=False)
    until = DayField(required=False)
    archived = forms.BooleanField(required=False)
    snoozed = forms.BooleanField(required=False)
    assigned = forms.ChoiceField(choices=[("", "Anyone"), *ASSIGNED.items()], required=False)
    page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)

    def __init__(self, data: QueryDict, user: User) -> None:
        super().__init__(data)
        self.people = {one.username: one.pk for one in run_queries.people(user)}
        self.templates = [*(one.name for one in SHIPPED.values()), *(one.name for one in own_templates(user))]
        people = self.fields["person"]
        assert isinstance(people, forms.ChoiceField)
        people.choices = [("", "Any"), *((name, name) for name in self.people)]

    def clean_q(self) -> str:
        text: str = self.cleaned_data["q"]
        return text[:MAX_SEARCH].strip()

    @property
    def problems(self) -> list[str]:
        """A sentence for each part of the address that was left out."""
        dates = [f"“{str(self.data[name])[:40]}” is not a date." for name in ("since", "until") if name in self.errors]
        other = sorted({*self.errors} - {"since", "until", "page", "show", "sort"})
        search = too_long(str(self["q"].value() or ""), MAX_SEARCH, "The search")
        return [
            *([f"{search} Only those are looked for."] if search else []),
            *dates,
            *(f"There is no such {name} to filter by, so this list is not filtered by it." for name in other),
        ]

    def selection(self) -> Selection:
        self.is_valid()
        sent = self.cleaned_data
        show = sent.get("show") or Show.MINE
        sort = sent.get("sort") or USUAL[show]
        usual = {"show": Show.MINE, "sort": USUAL[show], "page": 1}
        given = {name: _written(sent[name]) for name in self.fields if sent.get(name) and sent[name] != usual.get(name)}
        given.pop("page", None)  # another list, order or filter begins with its first page
        return Selection(show, self._filters(sent), sort, sent.get("page") or 1, given)

    def _filters(self, sent: dict[str, Any]) -> Filters:
        found = Filters(
            words=tuple(sent.get("q", "").split()[:MAX_WORDS]),
            state=sent.get("state", ""),
            person=self.people.get(sent.get("person", "")),
            template=sent.get("template", ""),
            archived=sent.get("archived", False),
            assigned=sent.get("assigned", ""),
            snoozed=sent.get("snoozed", False) and (sent.get("show") or Show.MINE) == Show.MINE,
        )
        if since := sent.get("since"):
            found = replace(found, since=_begins(since))
        if until := sent.get("until"):
            found = replace(found, until=_begins(until + timedelta(days=1)))
        return found


def _begins(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min)).astimezone(UTC)


def _written(value: object) -> str:
    return "1" if value is True else str(value)


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
    words. `more`: further questions of this run to the same person, after `gate`. `group`: equal texts stand for
    decisions with equal consequences, empty if there is no other.
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
    gate: Gate | None = None
    group: str = ""

    @property
    def kind(self) -> str:
        """The kind of the decision that is asked for, in a word."""
        return type_of(self.gate).label if self.gate else ""

    @property
    def turn(self) -> str:
        """Whose turn the decision is, where it is assigned."""
        whose = self.gate.assigned_to if self.gate else None
        return whose.get_username() if whose else ""

    @property
    def is_overdue(self) -> bool:
        due = self.gate.due_at if self.gate else None
        return due is not None and due <= timezone.now()

    @property
    def together(self) -> str:
        """What approving this and its equals at once does; empty where it is decided by itself."""
        return type_of(self.gate).together if self.gate and self.group else ""

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

    def __init__(self, keys: QuerySet[Any, int], length: int) -> None:
        self._length = length
        super().__init__(keys, PER_PAGE)

    @cached_property
    def count(self) -> int:
        return self._length


@dataclass(frozen=True)
class Inbox:
    """What the page shows. `first_time`: this person has no run at all yet. `pace`: of their own decisions. `badge`:
    the number of decisions in the title, 0 where the person does not want it there or it is quiet.
    """

    selection: Selection
    counts: ListCounts
    rows: Sequence[InboxRow]
    page: Page[int]
    pace: DecisionPace | None = None
    badge: int = 0

    @property
    def first_time(self) -> bool:
        return not (self.counts.all or self.selection.is_filtered)

    @property
    def why_no_sample(self) -> str:
        """Why no finished sample is offered; empty if one is."""
        return why_no_finished_sample()

    @property
    def tabs(self) -> list[Link]:
        return [
            Link(
                label,
                self.selection.address(show=show, sort="", snoozed=""),
                self._count(show),
                self.selection.show is show,
            )
            for show, label in LISTS.items()
        ]

    @property
    def snoozed_address(self) -> str:
        return self.selection.address(snoozed="1")

    @property
    def together(self) -> list[str]:
        """What approving several rows at once does, for each kind with equal decisions on the list."""
        return list(dict.fromkeys(row.together for row in self.rows if row.together))

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
        if "assigned" in given:
            whose = ASSIGNED[given["assigned"]]
            found.append(Link(f"assigned to {whose[:1].lower()}{whose[1:]}", self.selection.address(assigned="")))
        if "archived" in given:
            found.append(Link("archived", self.selection.address(archived="")))
        if "snoozed" in given:
            found.append(Link("snoozed", self.selection.address(snoozed="")))
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


def read_inbox(user: User, selection: Selection) -> Inbox:
    """One page of a list as it is now."""
    put_off = snoozed_gates(user)
    counted = run_queries.counts(user, selection.filters, put_off)
    keys = run_queries.keys_of_list(user, selection.show, selection.filters, selection.sort, put_off)
    page = _Counted(keys, int(getattr(counted, selection.show.value))).get_page(selection.page)
    rows = _rows(user, run_queries.rows_of(page.object_list), selection, put_off)
    pace = own_pace(user) if selection.show is Show.MINE else None
    badge = counted.needed if counted.needed and shows_decisions(user, timezone.now()) else 0
    return Inbox(selection, counted, rows, page, pace, badge)


def _rows(user: User, runs: Sequence[Run], selection: Selection, put_off: Sequence[int]) -> list[InboxRow]:
    keys = [run.pk for run in runs]
    gates: dict[int, list[Gate]] = {}
    for gate in run_queries.open_gates(user, keys):
        if selection.show is not Show.MINE or (gate.pk in put_off) is selection.filters.snoozed:
            gates.setdefault(gate.run_id, []).append(gate)
    events: dict[int, list[Event]] = {}
    for event in run_queries.telling_events(keys):
        events.setdefault(event.run_id, []).append(event)
    progress, spent = run_queries.progress(keys), run_queries.costs_of_runs(keys)
    names = _names(events.values(), progress)
    others = run_queries.approvers([key for key, found in gates.items() if not any(_mine(gate) for gate in found)])
    asked = [mine[0] for found in gates.values() if (mine := [gate for gate in found if _mine(gate)])]
    equal = equal_gates(asked) if selection.show is Show.MINE else {}
    facts = _Facts(user, events, progress, spent, names, others, equal)
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
    equal: Mapping[int, str]

    def row(self, run: Run, gates: Sequence[Gate]) -> InboxRow:
        mine = [gate for gate in gates if _mine(gate)]
        place = reverse("run", args=[run.pk])
        if run_queries.is_later(run):
            return self._row(run, "unknown", LATER, place, "submitted", run.created_at)
        if mine:
            more, place = len(mine) - 1, f"{place}#gate-{mine[0].pk}"
            return self._row(
                run, "open", type_of(mine[0]).short_question(mine[0]), place, "asked", mine[0].opened_at, more, mine[0]
            )
        if run.status == RunStatus.FINISHED:
            return self._row(run, run.outcome or "", self._outcome(run), place, "finished", run.finished_at)
        if gates:
            waits = f"Needs a decision by {self._somebody(run, gates[0])}: {type_of(gates[0]).short_question(gates[0])}"
            return self._row(run, "waiting", waits, place, "asked", gates[0].opened_at)
        newest = self.events[run.pk][-1] if run.pk in self.events else None
        mark = "paused" if run.paused else run.status
        return self._row(run, mark, self._doing(run, newest), place, "", newest.at if newest else run.created_at)

    def _row(
        self,
        run: Run,
        mark: str,
        what: str,
        address: str,
        since: str,
        at: datetime | None,
        more: int = 0,
        gate: Gate | None = None,
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
            gate,
            self.equal.get(gate.pk, "") if gate else "",
        )

    def _somebody(self, run: Run, gate: Gate) -> str:
        """For whom a decision waits that this person may not make."""
        if gate.assigned_to:
            return gate.assigned_to.get_username()
        names = [*([] if gate.needs_second_person else [run.owner.get_username()]), *self.others.get(run.pk, ())]
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


def keep_list(request: HttpRequest, selection: Selection) -> None:
    """Remember which list this person sees, for what comes next after a decision."""
    query = selection.address().removeprefix("?")
    if request.session.get(_KEPT, "") != query:
        request.session[_KEPT] = query


def kept_list(request: HttpRequest) -> Selection:
    """The decisions of the list that was seen last, without those that are snoozed."""
    query = request.session.get(_KEPT, "")
    if not query:  # the form would read the names of people and templates, for nothing
        return Selection()
    seen = ListForm(QueryDict(query), person(request)).selection()
    is_sorted = seen.show is Show.MINE or "sort" in seen.given
    given = {name: value for name, value in seen.given.items() if name not in {"show", "snoozed"}}
    filters = replace(seen.filters, snoozed=False)
    return Selection(Show.MINE, filters, seen.sort if is_sorted else Sort.WAITING, given=given)


def _version(request: HttpRequest) -> str:
    return quote_etag(f"{run_queries.version(person(request))}-{timezone.get_current_timezone_name()}")


@require_safe
@condition(etag_func=_version)
def inbox(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = ListForm(request.GET, user)
    shown = read_inbox(user, form.selection())
    if not getattr(request, "htmx", False):  # a page that refreshes itself in another tab is not the one seen last
        keep_list(request, shown.selection)
    context = {"inbox": shown, "form": form, "problems": form.problems, "sample_token": uuid.uuid4()}
    template = "inbox/inbox.html#sections" if getattr(request, "htmx", False) else "inbox/inbox.html"
    return render(request, template, context)
