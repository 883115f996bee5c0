"""The page of a step, with its attempts side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.web.frame.run_frame import RunFrame
from runs.web.site.requests import visible_run
from runs.web.steps.presenter import step_page as present


@require_safe
def step_page(request: HttpRequest, run_id: int, step_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    return render(request, "steps/step.html", {"frame": RunFrame(run, under="steps"), "page": present(run, step_id)})
