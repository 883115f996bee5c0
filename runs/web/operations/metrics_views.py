"""The page of figures over all runs that a person may see."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.people.permissions import visible_runs
from runs.web.operations.metrics_presenter import metrics_page as present


@require_safe
def metrics_page(request: HttpRequest) -> HttpResponse:
    """Over the runs submitted in a period (`?days=7`, 30, 90 or all), by everybody or one person (`?person=`)."""
    page = present(visible_runs(request.user), request.GET.dict())
    return render(request, "operations/metrics.html", {"page": page, "figures": page.figures})
