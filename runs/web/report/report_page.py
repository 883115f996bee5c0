"""The report of a run as a page, as a file in each format, and in a zip with all files of the run."""

from __future__ import annotations

import hashlib
from dataclasses import asdict

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from runs.contracts.ports import FileInfo
from runs.enums import AuditKind
from runs.errors import PevError
from runs.evidence.citations.citation import Citation
from runs.evidence.results import Evidence
from runs.lifecycle.owner_actions import MAX_REPORT_NAME, ReportNames, name_in_report
from runs.models import Attempt, Run, Step
from runs.people.permissions import can_manage
from runs.readmodel.run_view import reading_of
from runs.reports import archive
from runs.reports.formats import BY_SUFFIX, FORMATS, html
from runs.reports.isolated_writing import LIMITS
from runs.reports.outline import Part, outline
from runs.reports.report_format import ReportFormat, ReportInput
from runs.store import audit_trail
from runs.web.frame.run_frame import RunFrame
from runs.web.help.tour import is_shown
from runs.web.markup.diagrams import drawn, sources_in
from runs.web.report.preparing import Busy, Prepared, prepare
from runs.web.site.addresses import address_of, citation_address, evidence_address, file_address
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import log_refusal, person, status_of, visible_run
from runs.web.site.streaming import attachment
from runs.web.site.unchanged import of_finished, while_unchanged


class InProduct:
    """`runs.reports.places.CitedPlaces` of the page."""

    def __init__(self, run_id: int) -> None:
        self._run_id = run_id

    def citation(self, one: Citation) -> str:
        return citation_address(self._run_id, one)

    def broken(self, one: Citation) -> str:
        return citation_address(self._run_id, one)

    def evidence(self, proof: Evidence, attempt: Attempt | None) -> str:
        found = evidence_address(self._run_id, proof, attempt)
        return "#answer" if found == "#output" else found

    def file(self, path: str, info: FileInfo) -> str:
        return file_address(self._run_id, path, info.sha256)

    def step(self, step: Step) -> str:
        return address_of(step)

    def attempt(self, attempt: Attempt) -> str:
        return address_of(attempt)


class ReportNamesForm(PostedForm):
    """What the report names below its title."""

    client = Text(label="Client", required=False, max_length=MAX_REPORT_NAME)
    matter = Text(label="Matter", required=False, max_length=MAX_REPORT_NAME)
    author = Text(label="Author", required=False, max_length=MAX_REPORT_NAME)


@require_http_methods(["GET", "HEAD", "POST"])
def report_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """The report. A post changes the client, the matter and the author that it names."""
    run = visible_run(request, run_id)
    problem, status = "", 200
    names = ReportNamesForm(initial=asdict(ReportNames.of(run)), auto_id="report-%s")
    if request.method == "POST":
        names = ReportNamesForm(request.POST, auto_id="report-%s")
        try:
            name_in_report(run.pk, person(request), ReportNames(**names.checked()))
        except PevError as error:
            log_refusal(request, run, error)
            problem, status = str(error), status_of(error)
        else:
            return redirect("report", run_id=run.pk)
    report = outline(reading_of(run), InProduct(run.pk))
    context = {
        "frame": RunFrame(run).read_title(),
        "run": run,
        "formats": list(FORMATS.values()),
        "parts": list(Part),
        "report": report,
        "head": html.head(report),
        "body": drawn(html.body(report), run, sources_in(run.answer)),
        "may_manage": can_manage(request.user, run),
        "names": names,
        "problem": problem,
        "sees_tour": is_shown(person(request), run),
    }
    return render(request, "report/report.html", context, status=status)


class ReportFormatConverter:
    """The part of an address that names a format by its suffix."""

    regex = "|".join(BY_SUFFIX)

    def to_python(self, value: str) -> ReportFormat:
        return BY_SUFFIX[value]

    def to_url(self, value: ReportFormat) -> str:
        return value.suffix


@require_safe
@while_unchanged(of_finished)
def report_file(request: HttpRequest, run_id: int, report_format: ReportFormat) -> HttpResponseBase:
    """A download. If it takes long, a page waits for it; if it cannot be written, a page says why."""
    source = ReportInput.of(visible_run(request, run_id), _part(request))
    if not report_format.is_slow:
        return download(request, source, report_format, report_format.write(source))
    try:
        file = prepared(source, report_format)
    except Busy as error:
        return _back(request, run_id, str(error))
    if not file.done:
        return redirect(f"{reverse('report_wait', args=[run_id, report_format])}?part={source.part}")
    if file.problem:
        return _back(request, run_id, file.problem)
    return download(request, source, report_format, file.data)


def _part(request: HttpRequest) -> Part:
    try:
        return Part(request.GET.get("part", Part.REPORT))
    except ValueError as error:
        raise Http404 from error


def download(
    request: HttpRequest, source: ReportInput, report_format: ReportFormat, data: bytes
) -> StreamingHttpResponse:
    """The report of `source` in this format, whose bytes are `data`. It is a line of the audit trail."""
    run_id = source.reading.run.pk
    name = "protocol" if source.part is Part.PROTOCOL and report_format.has_parts else "report"
    if request.method == "GET":
        audit_trail.record(
            AuditKind.REPORT_EXPORTED,
            run_id=run_id,
            subject=f"{name}.{report_format.suffix}",
            name=report_format.name,
            sha256=hashlib.sha256(data).hexdigest(),
        )
    return attachment(request, iter([data]), f"run-{run_id}-{name}.{report_format.suffix}", report_format.media_type)


@require_safe
def report_wait(request: HttpRequest, run_id: int, report_format: ReportFormat) -> HttpResponse:
    """The progress of a file. The browser fetches the file when it is there, also without JavaScript."""
    run = visible_run(request, run_id)
    try:
        file = prepared(ReportInput.of(run, _part(request)), report_format, wait=0)
    except Busy as error:
        return _back(request, run_id, str(error))
    if file.done and file.problem:
        return _back(request, run_id, file.problem)
    if file.done and request.headers.get("HX-Request"):
        return HttpResponseClientRedirect(request.get_full_path())  # the whole page, which fetches the file
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "format": report_format,
        "part": _part(request),
        "file": file,
        "most": round(LIMITS.seconds),
    }
    return render(request, "report/report_wait.html", context)


def prepared(source: ReportInput, report_format: ReportFormat, wait: float | None = None) -> Prepared:
    """The file of a slow format, finished or in progress after `wait` seconds. Raises Busy."""
    digest = hashlib.sha256(source.data).hexdigest()
    return prepare(f"{report_format.name} {digest}", lambda: report_format.write(source), wait=wait)


def _back(request: HttpRequest, run_id: int, problem: str) -> HttpResponse:
    messages.warning(request, problem)
    return redirect("report", run_id=run_id)


@require_safe
@while_unchanged(of_finished)
def files_zip(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return zip_of(request, visible_run(request, run_id))


def zip_of(request: HttpRequest, run: Run) -> StreamingHttpResponse:
    """The report with all files of a run. It is a line of the audit trail."""
    if request.method == "GET":
        audit_trail.record(AuditKind.REPORT_EXPORTED, run_id=run.pk, subject="report with all files", name="zip")
    return attachment(request, archive.stream(run), f"run-{run.pk}.zip", "application/zip")
