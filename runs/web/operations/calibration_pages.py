"""The pages of calibrations for administrators: starting one, following it, and reading what it has shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.accounting.figures import Bucket
from runs.calibration import calibrations
from runs.calibration.calibrations import (
    DEFAULT_SIZE,
    MAX_BUDGET,
    MAX_MODEL_CHARS,
    MAX_SEED,
    MAX_SIZE,
    SEED,
    Wanted,
)
from runs.calibration.results import Agreement, CalibrationResult, agreements, result_of, results_of
from runs.calibration.verifiers import CostEstimate, estimate_cost, settings_for
from runs.enums import CalibrationStatus, FaultKind, Language
from runs.errors import InvalidInput
from runs.models import Calibration
from runs.submission.policy_presets import current_service, default_policy
from runs.web.site.posted_fields import Amount, PostedForm, Text, verbs
from runs.web.site.requests import administrators_only, person

LISTED = 20
"""Calibrations in the list, the newest first."""


class StartVerb(StrEnum):
    ESTIMATE = "estimate"
    START = "start"


class StartForm(PostedForm):
    """What a calibration measures."""

    verb = verbs(StartVerb)
    verifier = Text(max_length=MAX_MODEL_CHARS, label="Verifier", help_text="A model on the verifier’s server")
    size = forms.IntegerField(
        min_value=1,
        max_value=MAX_SIZE,
        label="Planted faults",
        help_text="As many results without a fault are judged too",
    )
    budget = Amount(
        min_value=Decimal("0.01"),
        max_value=MAX_BUDGET,
        decimal_places=2,
        required=False,
        label="Budget in USD",
        help_text="Empty for none. It stops before a call that could exceed it, and can go on with more",
    )
    kinds = forms.TypedMultipleChoiceField(
        choices=[(kind.value, kind.words.capitalize()) for kind in FaultKind],
        coerce=FaultKind,
        widget=forms.CheckboxSelectMultiple,
        label="Kinds of faults",
        error_messages={"required": "Choose at least one kind of fault."},
    )
    languages = forms.TypedMultipleChoiceField(
        choices=[(language.value, language.words) for language in Language],
        coerce=Language,
        widget=forms.CheckboxSelectMultiple,
        label="Languages",
        error_messages={"required": "Choose at least one language."},
    )
    corrections = forms.BooleanField(
        required=False,
        label="With cases from your own runs",
        help_text="Results that people judged otherwise than a verdict; the owners of the runs have agreed",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        label="Seed",
        help_text="The same seed makes the same jobs, to compare verifiers",
    )


def _usual_values() -> dict[str, Any]:
    asked, _ = settings_for(default_policy())
    return {
        "verb": StartVerb.ESTIMATE,
        "verifier": asked.model,
        "size": DEFAULT_SIZE,
        "kinds": list(FaultKind),
        "languages": list(Language),
        "seed": SEED,
    }


def _wanted(given: dict[str, Any]) -> Wanted:
    """Raises InvalidInput."""
    asked, address = settings_for(default_policy(), given["verifier"])
    wanted = Wanted(
        asked,
        address,
        given["size"],
        given["kinds"],
        given["languages"],
        given["seed"],
        given.get("budget"),
        calibrations.corrections() if given["corrections"] else (),
    )
    wanted.check()
    return wanted


class ListedCalibration(NamedTuple):
    result: CalibrationResult
    cases: int


@dataclass(frozen=True)
class CalibrationsPage:
    """`corrections`: the number of cases from runs that can be judged too. `estimate` is for what the form says; None
    if the form has an error. `offline`: no model is connected.
    """

    form: StartForm
    corrections: int
    estimate: CostEstimate | None
    listed: Sequence[ListedCalibration]
    offline: str


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def calibrations_page(request: HttpRequest) -> HttpResponse:
    form = StartForm(request.POST if request.method == "POST" else _usual_values())
    problem, estimate = "", None
    try:
        wanted = _wanted(form.checked())
        estimate = estimate_cost(wanted)
        if request.method == "POST" and form.cleaned_data["verb"] is StartVerb.START:
            return redirect("calibration", calibrations.start(wanted, person(request)).pk)
    except InvalidInput as error:
        problem = str(error)
    rows = results_of(list(Calibration.objects.select_related("by")[:LISTED]))
    listed = [ListedCalibration(one, calibrations.total_cases(one.calibration)) for one in rows]
    service = current_service()
    offline = "" if _has_model() else service.for_operators
    page = CalibrationsPage(form, len(calibrations.corrections()), estimate, listed, offline)
    status = 422 if problem and request.method == "POST" else 200
    return render(request, "operations/calibrations.html", {"page": page, "problem": problem}, status=status)


def _has_model() -> bool:
    _, address = settings_for(default_policy())
    return bool(address)


class CalibrationVerb(StrEnum):
    STOP = "stop"
    RESUME = "resume"


class CalibrationForm(PostedForm):
    """`budget`: in all, for a calibration that goes on."""

    verb = verbs(CalibrationVerb)
    budget = Amount(min_value=Decimal("0.01"), max_value=MAX_BUDGET, decimal_places=2, required=False)


class DiagramPoint(NamedTuple):
    """A range of confidence in a diagram of 100 by 100, from the top left; `radius` grows with its verdicts."""

    x: float
    y: float
    radius: float
    label: str


@dataclass(frozen=True)
class CalibrationPage:
    row: Calibration
    result: CalibrationResult
    cases: int
    agreements: Sequence[Agreement]

    @property
    def is_running(self) -> bool:
        return self.row.status == CalibrationStatus.RUNNING

    @property
    def is_stopped(self) -> bool:
        return self.row.status == CalibrationStatus.STOPPED

    @property
    def offered_budget(self) -> Decimal | None:
        """In all, to go on with: the one it had, or more if all cases will cost more at the rate so far."""
        row, judged = self.row, self.result.judged
        if row.budget is None or not judged:
            return row.budget
        needed = (row.spent_usd * self.cases / judged).quantize(Decimal("0.01"), ROUND_UP)
        return max(row.budget, needed)

    @property
    def points(self) -> list[DiagramPoint]:
        most = max((bucket.count for bucket in self.result.buckets), default=1)
        return [_point(bucket, most) for bucket in self.result.buckets]

    @property
    def languages(self) -> str:
        return ", ".join(language.words for language in self.row.languages)


def _point(bucket: Bucket, most: int) -> DiagramPoint:
    label = f"{bucket.label}: {bucket.held} of {bucket.count} right"
    radius = 2 + 4 * (bucket.count / most) ** 0.5
    return DiagramPoint(round(bucket.claimed * 100, 1), round(100 - bucket.share * 100, 1), round(radius, 1), label)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
def calibration_page(request: HttpRequest, calibration_id: int) -> HttpResponse:
    row = get_object_or_404(Calibration.objects.select_related("by"), pk=calibration_id)
    if request.method != "POST":
        return _page(request, row)
    try:
        given = CalibrationForm(request.POST).checked()
        match given["verb"]:
            case CalibrationVerb.STOP:
                if not calibrations.stop(row):
                    messages.warning(request, "It had ended already.")
            case CalibrationVerb.RESUME:
                calibrations.resume(row, given["budget"])
    except InvalidInput as error:
        return _page(request, row, str(error), 422)
    return redirect("calibration", row.pk)


def _page(request: HttpRequest, row: Calibration, problem: str = "", status: int = 200) -> HttpResponse:
    result = result_of(row)
    # A page that asks again every two seconds does not read every case each time.
    compared = [] if row.status == CalibrationStatus.RUNNING else agreements(result)
    page = CalibrationPage(row, result, calibrations.total_cases(row), compared)
    context = {"page": page, "result": result, "problem": problem}
    return render(request, "operations/calibration.html", context, status=status)
