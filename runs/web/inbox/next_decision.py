"""The way from one decision to the next one: in the order and with the filters of the list that a person saw last."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.models import Run
from runs.readmodel import run_queries
from runs.readmodel.run_queries import Filters
from runs.text.numbers import key
from runs.web.inbox.inbox_page import kept_list
from runs.web.site.requests import person


@dataclass(frozen=True)
class DecisionsElsewhere:
    """How many other runs need a decision of a person, of those that fit their list."""

    count: int
    is_filtered: bool

    def __bool__(self) -> bool:
        return self.count > 0


def decisions_elsewhere(request: HttpRequest, run: Run) -> DecisionsElsewhere:
    kept = kept_list(request)
    count = run_queries.decisions_elsewhere(person(request), run, kept.filters)
    return DecisionsElsewhere(count, kept.is_filtered)


@require_safe
def next_decision(request: HttpRequest) -> HttpResponse:
    """Leads to the next decision of this person; `?after=` is the run that they come from."""
    try:
        after = key(request.GET.get("after", ""))
    except ValueError:
        after = None
    kept = kept_list(request)
    gate = run_queries.next_waiting(person(request), after, kept.filters, kept.sort)
    if gate is None:
        on_list = " on your filtered list" if kept.filters != Filters() else ""
        messages.info(request, f"Nothing else{on_list} needs your decision.")
        return redirect(reverse("inbox") + (kept.address() if kept.given else ""))
    return redirect(f"{reverse('run', args=[gate.run_id])}#gate-{gate.pk}-title")
