"""The history of a run, and the calls below one of its lines."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.web.history.call_rows import calls_of
from runs.web.history.presenter import HISTORY
from runs.web.site.requests import visible_run
from runs.web.site.unchanged import of_run, while_unchanged


@require_safe
@while_unchanged(of_run, "part")
def history_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """The tree. A change of the filter requests only its lines."""
    run = visible_run(request, run_id)
    if getattr(request, "htmx", False) and "part" not in request.GET:
        return render(request, "history/history.html#tree", HISTORY.context(run, request.GET.dict()))
    return HISTORY.answer(request, run)


@require_safe
@while_unchanged(of_run)
def history_calls(request: HttpRequest, run_id: int, work_id: int) -> HttpResponse:
    """The calls of one work item, for a fold that was opened."""
    calls = calls_of(visible_run(request, run_id), work_id)
    if calls is None:
        raise Http404("This run has no such work.")
    return render(request, "history/history.html#calls", {"calls": calls})
