"""The history of a run as its page shows it: a page of lines as a tree.

Calls are summed up by the database and read only when they are asked for, so that a run with 5,000 events costs as
much as one with 50; a page has at most 200 lines, and the number of queries is the same for every run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import Http404
from django.template.loader import render_to_string

from runs.enums import EventKind
from runs.models import Run
from runs.web.frame.run_tab import CALLS as CALL_EVENTS
from runs.web.frame.run_tab import EVERYTHING, GATE_EVENTS, RunTab
from runs.web.history.call_rows import CallPage, calls_of, work_of
from runs.web.history.history_filter import CALLS, SHOW, HistoryFilter, filter_from
from runs.web.history.history_rows import context_of, people_of, steps_of, window
from runs.web.history.history_tree import Node, tree


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


def history_page(run: Run, asked: Mapping[str, str]) -> HistoryPage:
    """The page for `asked`, the query of an address. Invalid values are ignored."""
    steps, people = steps_of(run), people_of(run)
    names = {key: rows[-1].name for key, rows in steps.items()}
    chosen = _with_calls(run, filter_from(asked, names, people))
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


def _with_calls(run: Run, chosen: HistoryFilter) -> HistoryFilter:
    """The page with the calls unfolded whose event a link leads to."""
    event = run.events.filter(seq=chosen.event, kind__in=CALLS).first() if chosen.event else None
    if event is None or not chosen.folds_calls:
        return chosen
    return replace(chosen, open=work_of(run, event))


def _render_calls(run: Run, name: re.Match[str]) -> str:
    """The calls of a fold that is open."""
    calls = calls_of(run, int(name["work"]))
    if calls is None:
        raise Http404("This run has no such work.")
    return render_to_string("history/history.html#calls", {"calls": calls}).strip()


HISTORY = RunTab(
    "history",
    "history/history.html",
    read=history_page,
    # A history that shows every call as a line changes with each call. In the tree, sums of calls are details that
    # change by themselves.
    regions={
        "tree": frozenset(EventKind) - CALL_EVENTS,
        "lines": frozenset(EventKind),
        "filter": EVERYTHING | GATE_EVENTS,
    },
    query=("show", "step", "person", "q", "before", "after", "event", "open"),
    partials={"lines": "tree"},
    details={re.compile(r"calls-(?P<work>[0-9]{1,18})"): _render_calls},
)
