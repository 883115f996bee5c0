"""The way in for people: the form of a new run, and the samples that ship with the app."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from runs.documents import kinds
from runs.enums import RunStatus
from runs.errors import InvalidInput, PlanRefused
from runs.lifecycle import submission
from runs.lifecycle.defaults import default_policy
from runs.lifecycle.submission import SAMPLES, Submission
from runs.lifecycle.templates import plan_worth_keeping
from runs.models import Run
from runs.pev.files.sensitive import SECRETS
from runs.web.forms.again import AgainForm, TokenForm
from runs.web.forms.new_run import NewRunForm
from runs.web.views.run import person, visible_run


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new_run(request: HttpRequest) -> HttpResponse:
    """The form; posted, a run. A background post (`Accept: application/json`) gets 201 and a place, or errors."""
    if request.method != "POST":
        return _form(request, NewRunForm(owner=person(request)), [])
    form = NewRunForm(request.POST, request.FILES, owner=person(request))
    try:
        run = _submit(request, form)
    except PlanRefused as error:
        return _refused(request, form, error.problems)
    except InvalidInput as error:
        return _refused(request, form, [*form.problems(), *([str(error)] if str(error) else [])])
    place = reverse("run", args=[run.pk])
    return JsonResponse({"location": place}, status=201) if _in_background(request) else redirect(place)


@require_POST
def run_sample(request: HttpRequest, name: str) -> HttpResponse:
    """A run of sample files. A double click makes one run: both posts carry the token of the page."""
    try:
        text, uploads = submission.sample(name)
    except InvalidInput as error:
        raise Http404(str(error)) from error
    run = submission.submit(
        person(request), Submission(text, uploads, default_policy(), TokenForm(request.POST).submission())
    )
    return redirect("run", run.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def run_again(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask what is to be done again; posted, make the run. A double click makes one: the page carries a token."""
    run = visible_run(request, run_id)
    if run.status != RunStatus.FINISHED:
        messages.warning(request, "This run is not finished yet; it can be run again when it is.")
        return redirect("run", run_id=run.pk)
    plan = plan_worth_keeping(run)
    steps = list(plan.steps.order_by("position")) if plan else []
    posted = request.POST if request.method == "POST" else None
    form = AgainForm(posted, initial={"redo": request.GET.getlist("redo")}, steps=steps)
    problem = ""
    if form.is_bound:
        try:
            token, sent = form.submission(), form.cleaned_data
            made = submission.again(run, person(request), token, reuse=not sent["all"], redo=sent["redo"])
            return redirect("run", run_id=made.pk)
        except InvalidInput as error:
            problem = str(error)
    context = {"run": run, "plan": plan, "steps": steps, "form": form, "problem": problem, "token": uuid.uuid4()}
    return render(request, "runs/again.html", context, status=422 if problem else 200)


def _submit(request: HttpRequest, form: NewRunForm) -> Run:
    if not form.is_valid():
        raise InvalidInput("")
    form.check_sources()
    given, plan = form.cleaned_data, form.plan()
    return submission.submit(
        person(request),
        Submission(
            request=given["request"],
            uploads=form.uploads(),
            left_out=form.held_back(),
            excluded=form.patterns(),
            policy=form.policy(),
            token=given["token"],
            approvers=list(given["approvers"]),
            no_files=given["no_files"],
            plan=plan.plan if plan else None,
            plan_from=plan.reason if plan else "",
            template=plan.template if plan else "",
        ),
    )


def _refused(request: HttpRequest, form: NewRunForm, problems: Sequence[str]) -> HttpResponse:
    if _in_background(request):
        return JsonResponse({"errors": list(problems)}, status=422)
    again = "Your text is kept. Browsers do not keep files: add them again." if request.FILES else ""
    return _form(request, form, [*problems, *filter(None, [again])], status=422)


def _form(request: HttpRequest, form: NewRunForm, problems: Sequence[str], status: int = 200) -> HttpResponse:
    limits = {
        "files": settings.UPLOAD_FILES,
        "bytes": settings.UPLOAD_BYTES,
        "file_bytes": settings.FILE_BYTES,
        "secrets": SECRETS,
        "kinds": json.dumps(kinds.table()),
    }
    context = {"form": form, "problems": problems, "limits": limits, "samples": SAMPLES, "sample_token": uuid.uuid4()}
    return render(request, "new_run.html", context, status=status)


def _in_background(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
