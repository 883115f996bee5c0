"""The report of a run as a page and as files: Markdown, HTML, PDF, DOCX, JSON, and a zip with all that the run made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from runs.models import Run
from runs.readmodel.run_view import reading_of
from runs.reports import archive, hypertext
from runs.reports.machine import as_json
from runs.reports.markdown import as_markdown
from runs.reports.outline import exported, outline
from runs.reports.printed import LIMITS, Form, as_data, printed_from
from runs.web.files.diagrams import drawn, sources_in
from runs.web.report.preparing import Busy, Prepared, prepare
from runs.web.report.presenter import InProduct
from runs.web.run.frame import RunFrame
from runs.web.run.views import visible_run
from runs.web.site.streaming import attachment
from runs.web.site.unchanged import of_finished, while_unchanged

_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


@require_safe
def report_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    report = outline(reading_of(run), InProduct(run.pk))
    context = {
        "frame": RunFrame(run),
        "run": run,
        "report": report,
        "heading": hypertext.heading(report),
        "body": drawn(hypertext.body(report), run, sources_in(run.answer)),
    }
    return render(request, "runs/report.html", context)


@require_safe
@while_unchanged(of_finished)
def report_markdown(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _file(request, run_id, "md", "text/markdown; charset=utf-8", lambda run: as_markdown(run).encode())


@require_safe
@while_unchanged(of_finished)
def report_html(request: HttpRequest, run_id: int) -> HttpResponseBase:
    made = lambda run: hypertext.as_html(exported(run)).encode()  # noqa: E731
    return _file(request, run_id, "html", "text/html; charset=utf-8", made)


@require_safe
@while_unchanged(of_finished)
def report_json(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _file(request, run_id, "json", "application/json", lambda run: json.dumps(as_json(run)).encode())


@require_safe
@while_unchanged(of_finished)
def report_printed(request: HttpRequest, run_id: int, form: Form) -> HttpResponseBase:
    """As PDF or DOCX. One that takes long leads to a page that waits for it, one that cannot be made to a sentence that
    says why.
    """
    try:
        file = _prepared(visible_run(request, run_id), form)
    except Busy as error:
        return _back(request, run_id, str(error))
    if not file.done:
        return redirect("report_wait", run_id=run_id, form=form)
    if file.problem:
        return _back(request, run_id, file.problem)
    return attachment(request, iter([file.data]), f"run-{run_id}-report.{form}", _TYPES[form])


@require_safe
def report_wait(request: HttpRequest, run_id: int, form: Form) -> HttpResponse:
    """Says how far a file is, and has the browser fetch it once it is there; without JavaScript too."""
    run = visible_run(request, run_id)
    try:
        file = _prepared(run, form, wait=0)
    except Busy as error:
        return _back(request, run_id, str(error))
    if file.done and file.problem:
        return _back(request, run_id, file.problem)
    if file.done and request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(request.path)  # the whole page, which fetches the file
    context = {"run": run, "frame": RunFrame(run), "form": form, "file": file, "most": round(LIMITS.seconds)}
    return render(request, "runs/report_wait.html", context)


def _prepared(run: Run, form: Form, wait: float | None = None) -> Prepared:
    data = as_data(exported(run))
    return prepare(f"{form} {hashlib.sha256(data).hexdigest()}", lambda: printed_from(data, form), wait=wait)


def _back(request: HttpRequest, run_id: int, problem: str) -> HttpResponse:
    messages.warning(request, problem)
    return redirect("report", run_id=run_id)


@require_safe
@while_unchanged(of_finished)
def files_zip(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return attachment(request, archive.stream(visible_run(request, run_id)), f"run-{run_id}.zip", "application/zip")


def _file(
    request: HttpRequest, run_id: int, ending: str, content_type: str, made: Callable[[Run], bytes]
) -> HttpResponseBase:
    data: Any = made(visible_run(request, run_id))
    return attachment(request, iter([data]), f"run-{run_id}-report.{ending}", content_type)
