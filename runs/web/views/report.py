"""The report of a run as a page and as files: Markdown, HTML, PDF, DOCX, JSON, and a zip with all that the run made."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from runs.models import Run
from runs.reading.run import reading_of
from runs.reports import archive, hypertext
from runs.reports.machine import as_json
from runs.reports.markdown import as_markdown
from runs.reports.outline import exported, outline
from runs.reports.printed import Form, NotPrinted, printed
from runs.web.presenters.report import InProduct
from runs.web.streaming import attachment
from runs.web.views.run import visible_run

_TYPES = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


@require_safe
def report_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = visible_run(request, run_id)
    report = outline(reading_of(run), InProduct(run.pk))
    context = {
        "run": run,
        "report": report,
        "heading": hypertext.heading(report),
        "body": hypertext.body(report),
    }
    return render(request, "runs/report.html", context)


@require_safe
def report_markdown(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _file(request, run_id, "md", "text/markdown; charset=utf-8", lambda run: as_markdown(run).encode())


@require_safe
def report_html(request: HttpRequest, run_id: int) -> HttpResponseBase:
    made = lambda run: hypertext.as_html(exported(run)).encode()  # noqa: E731
    return _file(request, run_id, "html", "text/html; charset=utf-8", made)


@require_safe
def report_json(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _file(request, run_id, "json", "application/json", lambda run: json.dumps(as_json(run)).encode())


@require_safe
def report_printed(request: HttpRequest, run_id: int, form: Form) -> HttpResponseBase:
    """As PDF or DOCX. One that cannot be made leads back to the page, which says why."""
    try:
        return _file(request, run_id, form, _TYPES[form], lambda run: printed(exported(run), form))
    except NotPrinted as error:
        messages.warning(request, str(error))
        return redirect("report", run_id=run_id)


@require_safe
def files_zip(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return attachment(request, archive.stream(visible_run(request, run_id)), f"run-{run_id}.zip", "application/zip")


def _file(
    request: HttpRequest, run_id: int, ending: str, content_type: str, made: Callable[[Run], bytes]
) -> HttpResponseBase:
    data: Any = made(visible_run(request, run_id))
    return attachment(request, iter([data]), f"run-{run_id}-report.{ending}", content_type)
