"""The audit trail: of the whole installation for administrators, and of a run for those who may see it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls.converters import StringConverter
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs.enums import AuditKind
from runs.people.permissions import is_administrator
from runs.readmodel.approvals import MAX_DECISIONS, decisions_on_record
from runs.readmodel.audit_lines import AuditFilter, AuditLine, as_csv, as_json
from runs.store import audit_trail
from runs.web.frame.run_frame import RunFrame
from runs.web.site.posted_fields import DayField, Text
from runs.web.site.requests import administrators_only, visible_run
from runs.web.site.streaming import attachment

PAGE_LINES = 100
_MAX_NUMBER = 2**63 - 1
_WRITERS = {"csv": (as_csv, "text/csv; charset=utf-8"), "json": (as_json, "application/json")}


class AuditSuffixConverter(StringConverter):
    """The part of an address that names how the lines are written."""

    regex = "|".join(_WRITERS)


class AuditFilterForm(forms.Form):
    """What the lines are narrowed to. `before` is the number of a line: only older ones are shown."""

    kind = forms.ChoiceField(
        label="Kind", required=False, choices=[("", "All kinds"), *((kind.value, kind.label) for kind in AuditKind)]
    )
    by = Text(label="Person", required=False, max_length=150)
    run = forms.IntegerField(label="Run", required=False, min_value=1, max_value=_MAX_NUMBER)
    since = DayField(label="From", required=False, widget=forms.DateInput({"type": "date"}))
    until = DayField(label="To", required=False, widget=forms.DateInput({"type": "date"}))
    before = forms.IntegerField(required=False, min_value=1, max_value=_MAX_NUMBER, widget=forms.HiddenInput)


@require_safe
@never_cache
@administrators_only
def audit(request: HttpRequest) -> HttpResponse:
    """All lines, the newest first."""
    form = AuditFilterForm(request.GET, label_suffix="")
    context = _lines(form, _filter(form), {name: request.GET[name] for name in form.fields if request.GET.get(name)})
    return render(request, "audit/audit.html", context | {"shows_origin": True}, status=200 if form.is_valid() else 422)


@require_safe
@never_cache
@administrators_only
def audit_file(request: HttpRequest, suffix: str) -> HttpResponseBase:
    """All lines that the filter finds, as a file."""
    form = AuditFilterForm(request.GET)
    if not form.is_valid():
        raise Http404("The filter cannot be read.")
    return _file(request, _filter(form), "audit-trail", suffix, with_origin=True)


@require_safe
@never_cache
def run_audit(request: HttpRequest, run_id: int) -> HttpResponse:
    """Who approved what in a run, on which basis, and whether that ran; then all lines about the run."""
    run = visible_run(request, run_id)
    form = AuditFilterForm({"before": request.GET.get("before", "")})
    decisions = decisions_on_record(run)
    context = _lines(form, AuditFilter(run=run.pk), {}) | {
        "frame": RunFrame(run, under="history").read_title(),
        "run": run,
        "decisions": decisions,
        "more_decisions": len(decisions) == MAX_DECISIONS,
        "shows_origin": _is_auditor(request),
    }
    return render(request, "audit/run_audit.html", context)


@require_safe
@never_cache
def run_audit_file(request: HttpRequest, run_id: int, suffix: str) -> HttpResponseBase:
    run = visible_run(request, run_id)
    return _file(
        request, AuditFilter(run=run.pk), f"run-{run.pk}-audit-trail", suffix, run.pk, with_origin=_is_auditor(request)
    )


def _is_auditor(request: HttpRequest) -> bool:
    """Whether somebody sees from which address and with which browser others have acted."""
    return is_administrator(request.user)


def _filter(form: AuditFilterForm) -> AuditFilter:
    """What cannot be read narrows to nothing."""
    if not form.is_valid():
        return AuditFilter(run=0)
    given = form.cleaned_data
    return AuditFilter(given["kind"], given["by"], given["run"], given["since"], given["until"])


def _lines(form: AuditFilterForm, chosen: AuditFilter, query: dict[str, str]) -> dict[str, Any]:
    """A page of lines: `older` is the query of the next one."""
    found = chosen.lines()
    before = form.cleaned_data.get("before") if form.is_valid() else None
    rows = list((found.filter(number__lt=before) if before else found)[: PAGE_LINES + 1])
    shown = rows[:PAGE_LINES]
    narrowed = {name: value for name, value in query.items() if name != "before"}
    return {
        "form": form,
        "lines": [AuditLine(row) for row in shown],
        "older": urlencode({**narrowed, "before": shown[-1].number}) if len(rows) > PAGE_LINES else "",
        "newest": before is not None,
        "query": urlencode(narrowed),
        "is_narrowed": bool(narrowed),
    }


def _file(
    request: HttpRequest,
    chosen: AuditFilter,
    name: str,
    suffix: str,
    run_id: int | None = None,
    *,
    with_origin: bool,
) -> HttpResponseBase:
    write, media_type = _WRITERS[suffix]
    if request.method == "GET":
        audit_trail.record(AuditKind.AUDIT_EXPORTED, run_id=run_id, name=suffix)
    return attachment(request, write(chosen.lines(), with_origin=with_origin), f"{name}.{suffix}", media_type)
