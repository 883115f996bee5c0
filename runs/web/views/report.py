"""The report of a run as a page, as Markdown, and together with the files as a zip."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.reading.run import reading_of
from runs.reports import archive
from runs.reports.markdown import as_markdown
from runs.web.streaming import attachment
from runs.web.views.run import visible_run


@require_safe
def report_page(request: HttpRequest, run_id: int) -> HttpResponse:
    return render(request, "runs/report.html", {"report": reading_of(visible_run(request, run_id))})


@require_safe
def report_markdown(request: HttpRequest, run_id: int) -> HttpResponseBase:
    text = as_markdown(visible_run(request, run_id))
    return attachment(request, iter([text.encode()]), f"run-{run_id}-report.md", "text/markdown; charset=utf-8")


@require_safe
def files_zip(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return attachment(request, archive.stream(visible_run(request, run_id)), f"run-{run_id}.zip", "application/zip")
