"""The history of a run, and the calls below one of its lines."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.web.presenters.frame import RunFrame
from runs.web.presenters.history import history_page as present
from runs.web.presenters.history_calls import calls_of
from runs.web.views.run import visible_run


@require_safe
def history_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """The tree; a change of the filter asks for its lines alone."""
    run = visible_run(request, run_id)
    page = present(run, request.GET.dict())
    if getattr(request, "htmx", False):
        return render(request, "runs/history.html#tree", {"page": page})
    return render(request, "runs/history.html", {"frame": RunFrame(run, "history"), "page": page, "run": run})


@require_safe
def history_calls(request: HttpRequest, run_id: int, work_id: int) -> HttpResponse:
    """The calls of one piece of work, for the fold that was opened."""
    calls = calls_of(visible_run(request, run_id), work_id)
    if calls is None:
        raise Http404("This run has no such work.")
    return render(request, "runs/history.html#calls", {"calls": calls})
