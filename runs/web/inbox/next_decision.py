"""The way from one decision to the next one in the inbox."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from runs.readmodel import run_queries
from runs.text.numbers import key
from runs.web.site.requests import person


@require_safe
def next_decision(request: HttpRequest) -> HttpResponse:
    """Leads to the next decision of this person; `?after=` is the run that they come from."""
    try:
        after = key(request.GET.get("after", ""))
    except ValueError:
        after = None
    gate = run_queries.next_waiting(person(request), after)
    if gate is None:
        messages.info(request, "Nothing else needs your decision.")
        return redirect("inbox")
    return redirect(f"{reverse('run', args=[gate.run_id])}#gate-{gate.pk}-title")
