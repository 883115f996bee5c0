"""Saves a finished run as a task of an evaluation suite, after a person has looked at what it contains."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from runs.enums import AuditKind
from runs.errors import InvalidInput
from runs.evaluation.task_of_run import NOT_FINISHED, TaskDraft, task_of
from runs.models import Run
from runs.store import audit_trail
from runs.submission.run_templates import plan_worth_keeping
from runs.web.frame.run_frame import RunFrame
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import log_refusal, visible_run
from runs.web.site.streaming import attachment

MAX_LISTED = 200
"""Files that the page lists."""


class SaveTaskForm(PostedForm):
    """The name of the folder, the request, and whether the approved plan belongs to the task."""

    name = Text(max_length=60, required=False)
    request = Text()
    with_plan = forms.BooleanField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def save_task(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Show what the task would contain. A post sends it as a zip."""
    run = visible_run(request, run_id)
    form = SaveTaskForm(request.POST) if request.method == "POST" else None
    problem, status, draft = "", 200, None
    try:
        draft = task_of(run)
        if form:
            return _download(request, run, form)
    except InvalidInput as error:
        log_refusal(request, run, error)
        problem, status = str(error), 422 if form else 200
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "draft": draft,
        "name": form["name"].value() if form else draft.name if draft else "",
        "typed": form["request"].value() if form else run.request,
        "with_plan": bool(form and form["with_plan"].value()),
        "has_plan": plan_worth_keeping(run) is not None,
        "paths": list(draft.files.items())[:MAX_LISTED] if draft else [],
        "more": max(0, len(draft.files) - MAX_LISTED) if draft else 0,
        "problem": problem if form else "",
        "not_finished": NOT_FINISHED,
    }
    return render(request, "evaluation/save_task.html", context, status=status)


def _download(request: HttpRequest, run: Run, form: SaveTaskForm) -> HttpResponseBase:
    """The folder of the task as a zip. It is a line of the audit trail."""
    draft: TaskDraft = task_of(run, **form.checked())
    pieces = draft.stream()
    audit_trail.record(
        AuditKind.FILE_DOWNLOADED, run_id=run.pk, subject=f"evaluation task {draft.name}", count=len(draft.files)
    )
    return attachment(request, pieces, f"{draft.name}.zip", "application/zip")
