"""Owns the page of a step, with its attempts side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs.models import Step
from runs.web.presenters.step_page import step_page as present
from runs.web.views.run import visible_run


@require_safe
def step_page(request: HttpRequest, run_id: int, step_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    steps = Step.objects.of_run(run).select_related(
        "reused_from__verdict", "reused_from__work", "reused_from__step__plan"
    )
    return render(request, "runs/step.html", {"page": present(run, get_object_or_404(steps, pk=step_id))})
