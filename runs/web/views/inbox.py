"""The inbox: what waits for a person, what is under way, what is finished, across all runs they may see."""

import uuid

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs import queries
from runs.events.kinds import read
from runs.events.sentences import sentence
from runs.permissions import visible_runs

PER_PAGE = 20
"""A screen and a half; every row costs the same number of statements."""


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    runs = visible_runs(request.user)
    working = list(queries.under_way(runs))
    for run in working:
        run.last = sentence(read(run.event_kind, run.event_data), {}) if run.event_kind else ""  # type: ignore[attr-defined]
    page = Paginator(queries.finished(runs), PER_PAGE).get_page(request.GET.get("page"))
    gates = list(queries.open_gates(runs))
    context = {
        "gates": gates,
        "working": working,
        "page": page,
        "sample_token": uuid.uuid4(),
        "first_time": not (gates or working or page.paginator.count),
    }
    template = "inbox.html#sections" if getattr(request, "htmx", False) else "inbox.html"
    return render(request, template, context)
