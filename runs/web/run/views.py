"""The tabs of a run, and its controls: pause, resume, stop."""

import logging

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs.errors import PevError
from runs.lifecycle import gate_decisions
from runs.logs import about
from runs.models import Run, User
from runs.people.permissions import visible_runs
from runs.web.gates.forms import PauseForm, StopForm
from runs.web.live.run_parts import asked_in, part, tab_context
from runs.web.run.fragments import TEMPLATES, head
from runs.web.run.frame import RunFrame
from runs.web.site.sessions import about_request
from runs.web.site.unchanged import of_run, while_unchanged

log = logging.getLogger(__name__)


def visible_run(request: HttpRequest, run_id: int) -> Run:
    """The run with what its page needs. Raises Http404 for anyone who may not see it."""
    runs = visible_runs(request.user).select_related("owner", "inputs", "head")
    return get_object_or_404(runs, pk=run_id)


def person(request: HttpRequest) -> User:
    """Who asks. The middleware lets no one through who has not signed in."""
    assert isinstance(request.user, User)
    return request.user


@require_safe
@while_unchanged(of_run, "part")
def run_tab(request: HttpRequest, run_id: int, tab: str) -> HttpResponse:
    return tab_of(request, visible_run(request, run_id), tab)


def tab_of(request: HttpRequest, run: Run, tab: str) -> HttpResponse:
    """One tab of the page of a run, by its name; with `?part=` one of its regions, for a page that is open."""
    if (name := request.GET.get("part")) is not None:
        return HttpResponse(part(run, tab, name, request.GET.dict()))
    return render(request, TEMPLATES[tab], tab_context(run, tab, asked_in(tab, request.GET.dict())))


@require_POST
def stop(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop the run now; what has passed is kept."""
    run = visible_run(request, run_id)
    try:
        gate_decisions.cancel(run.pk, person(request), StopForm(request.POST).checked()["reason"])
    except PevError as error:
        _refused(request, run, error)
        messages.warning(request, str(error))
    return redirect("run", run_id=run.pk)


@require_POST
def pause(request: HttpRequest, run_id: int) -> HttpResponse:
    """Hold the run, or let it go on: `paused` is 1 or 0."""
    run = visible_run(request, run_id)
    live = "HX-Request" in request.headers
    try:
        gate_decisions.pause(run.pk, person(request), paused=PauseForm(request.POST).checked()["paused"])
    except PevError as error:
        _refused(request, run, error)
        if not live:
            messages.warning(request, str(error))
    if live:
        return HttpResponse(head(RunFrame(visible_run(request, run_id))))
    return redirect("run", run_id=run.pk)


def _refused(request: HttpRequest, run: Run, error: PevError) -> None:
    log.info("refused: %s", error, extra=about(**(about_request(request) | {"run": run.pk})))
