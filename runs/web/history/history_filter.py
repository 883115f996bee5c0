"""The filter of a history: kinds of lines, step, person, words, and page."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlencode

from django.db.models import Q

from runs.enums import EventKind, Outcome
from runs.events.kinds import kinds_in
from runs.web.frame.run_tab import CALLS

MAX_WORDS = 200
"""Characters of a search."""
MAX_NUMBER = 10**9
"""Numbers of events above this are none."""


class Show(StrEnum):
    ALL = "all"
    RESULTS_AND_DECISIONS = "main"
    DECISIONS = "decisions"
    RESULTS = "results"
    PROBLEMS = "problems"
    WITH_CALLS = "calls"
    MODELS = "models"
    TOOLS = "tools"


SHOW: Mapping[Show, str] = {
    Show.ALL: "Everything, calls folded",
    Show.RESULTS_AND_DECISIONS: "Decisions and results",
    Show.DECISIONS: "Decisions",
    Show.RESULTS: "Results",
    Show.PROBLEMS: "Problems",
    Show.WITH_CALLS: "Everything, calls as lines",
    Show.MODELS: "Model calls",
    Show.TOOLS: "Tool calls",
}
_CONDITIONS: Mapping[Show, Q] = {
    Show.ALL: ~Q(kind__in=CALLS),
    Show.RESULTS_AND_DECISIONS: Q(kind__in=kinds_in("decision") | kinds_in("result")),
    Show.DECISIONS: Q(kind__in=kinds_in("decision")),
    Show.RESULTS: Q(kind__in=kinds_in("result")),
    Show.PROBLEMS: Q(kind__in=kinds_in("problem"))
    | Q(kind=EventKind.VERDICT, data__passed=False)
    | Q(kind=EventKind.MODEL_CALLED, data__stop="error")
    | Q(kind=EventKind.TOOL_CALLED, data__error=True)
    | Q(kind=EventKind.FINISHED, data__outcome__in=[Outcome.PARTIAL.value, Outcome.FAILED.value]),
    Show.WITH_CALLS: Q(),
    Show.MODELS: Q(kind=EventKind.MODEL_CALLED),
    Show.TOOLS: Q(kind=EventKind.TOOL_CALLED),
}


@dataclass(frozen=True)
class HistoryFilter:
    """What the address asks for; unknown values are as if they were not there.

    `before`, `after` and `event` are numbers of events: the lines before one, after one, or around one.
    `open`: the work item whose calls are unfolded.
    """

    show: Show = Show.ALL
    step: str = ""
    person: str = ""
    words: str = ""
    before: int = 0
    after: int | None = None
    event: int = 0
    open: int = 0

    @property
    def condition(self) -> Q:
        """The condition on rows of events. Words are searched in sentences, which no row has."""
        wanted = _CONDITIONS[self.show]
        if self.step:
            wanted &= Q(data__step=self.step)
        if self.person:
            wanted &= Q(data__by=self.person)
        return wanted

    @property
    def folds_calls(self) -> bool:
        """Whether the calls are folded below the lines."""
        return self.show is Show.ALL and not self.person and not self.words

    @property
    def narrowed(self) -> bool:
        """Whether the filter leaves anything out."""
        return bool(self.step or self.person or self.words or self.show is not Show.ALL)

    @property
    def query(self) -> str:
        """The filter as a query of an address, without the page."""
        named = {"show": self.show if self.show is not Show.ALL else "", "step": self.step, "person": self.person}
        return urlencode({name: value for name, value in [*named.items(), ("q", self.words)] if value})


def filter_from(asked: Mapping[str, str], steps: Collection[str], people: Collection[str]) -> HistoryFilter:
    """The filter of an address. `steps` are the keys and `people` the names of this history; other values are
    ignored.
    """
    show, step, person = asked.get("show", ""), asked.get("step", ""), asked.get("person", "")
    after = _number(asked.get("after", "")) if "after" in asked else None
    return HistoryFilter(
        show=Show(show) if show in Show else Show.ALL,
        step=step if step in steps else "",
        person=person if person in people else "",
        words=" ".join(asked.get("q", "")[:MAX_WORDS].split()),
        before=_number(asked.get("before", "")),
        after=after,
        event=_number(asked.get("event", "")),
        open=_number(asked.get("open", "")),
    )


def _number(text: str) -> int:
    """The number of an event; 0 for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        return 0
    return int(text) if int(text) <= MAX_NUMBER else 0
