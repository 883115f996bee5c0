"""The parameters of a list of runs. They are in the address of the page, so that it can be kept and sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils import timezone

from runs.enums import Outcome, RunStatus, Show
from runs.models import User
from runs.readmodel import run_queries
from runs.readmodel.run_queries import PAUSED, Filters, Sort
from runs.submission.run_templates import MAX_NAME, SHIPPED, own_templates
from runs.web.site.posted_fields import Text

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
    Sort.ENDED: "Last finished",
    Sort.TITLE: "By title",
}
USUAL = {Show.MINE: Sort.WAITING, Show.RUNNING: Sort.NEWEST, Show.FINISHED: Sort.ENDED, Show.ALL: Sort.NEWEST}
"""The order of each list if none is requested."""
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2199, 12, 31)


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
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    archived = forms.BooleanField(required=False)
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

    def clean_since(self) -> date | None:
        return _possible(self.cleaned_data["since"])

    def clean_until(self) -> date | None:
        return _possible(self.cleaned_data["until"])

    @property
    def problems(self) -> list[str]:
        """A sentence for each part of the address that was left out."""
        dates = [f"“{str(self.data[name])[:40]}” is no date." for name in ("since", "until") if name in self.errors]
        other = sorted({*self.errors} - {"since", "until", "page", "show", "sort"})
        return [
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
        )
        if since := sent.get("since"):
            found = replace(found, since=_begins(since))
        if until := sent.get("until"):
            found = replace(found, until=_begins(until + timedelta(days=1)))
        return found


def _possible(day: date | None) -> date | None:
    """Whether time zones and databases can calculate with the year."""
    if day and not FIRST_DAY <= day <= LAST_DAY:
        raise forms.ValidationError("no date")
    return day


def _begins(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min)).astimezone(UTC)


def _written(value: object) -> str:
    return "1" if value is True else str(value)
