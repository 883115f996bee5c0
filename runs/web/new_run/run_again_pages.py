"""A finished run once more: unchanged, or with other files, request or policy; and first, what would be reused."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.enums import RunStatus
from runs.errors import InvalidInput
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.approval.reuse import PreviewInputs, StepPreview, preview_reuse
from runs.models import Plan, Run
from runs.store import trees
from runs.submission import submission_drafts, submit
from runs.submission.run_templates import plan_worth_keeping
from runs.web.frame.run_frame import RunFrame
from runs.web.new_run.new_run_page import answered, begun_with, form_page, kept, token_of
from runs.web.new_run.run_again_forms import AgainForm, AgainWithForm, reuse_of
from runs.web.site.requests import person, submitters_only, visible_run


@require_http_methods(["GET", "HEAD", "POST"])
@submitters_only
def run_again(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask what is to be done again; posted, make the run. A double click makes one: the page carries a token."""
    run = visible_run(request, run_id)
    if run.status != RunStatus.FINISHED:
        return _not_finished(request, run)
    plan = plan_worth_keeping(run)
    steps = list(plan.steps.order_by("position")) if plan else []
    posted = request.POST if request.method == "POST" else None
    form = AgainForm(posted, initial={"redo": request.GET.getlist("redo")}, steps=steps)
    problem = ""
    if form.is_bound and "look" not in request.POST:
        try:
            token, sent = form.submission(), form.cleaned_data
            made = submit.again(run, person(request), token, reuse=not sent["all"], redo=sent["redo"])
            return redirect("run", run_id=made.pk)
        except InvalidInput as error:
            problem = str(error)
    foreseen = _foreseen(request, run, plan, form) if plan else []
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "plan": plan,
        "steps": foreseen,
        "reused": sum(1 for one in foreseen if one.reused),
        "form": form,
        "problem": problem,
        "token": uuid.uuid4(),
    }
    return render(request, "new_run/again.html", context, status=422 if problem else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@submitters_only
def run_again_with(request: HttpRequest, run_id: int) -> HttpResponse:
    """The form of a new run, filled as this run was; posted, a run, or with `look` what it would reuse.

    A form that was left with files in it is continued, however one comes back to it.
    """
    run, owner = visible_run(request, run_id), person(request)
    if run.status != RunStatus.FINISHED:
        return _not_finished(request, run)
    if request.method != "POST":
        token = token_of(request.GET.get("draft", ""))
        left = None if token else submission_drafts.of(owner).filter(before=run).first()
        initial = begun_with(owner, left.token if left else token)
        return form_page(request, AgainWithForm(owner=owner, before=run, initial=initial), [])
    form = AgainWithForm(request.POST, request.FILES, owner=owner, before=run)
    if "HX-Request" in request.headers:
        return render(request, "new_run/again_with.html#reuse", {"reuse": reuse_of(owner, form)})
    if "look" in request.POST:
        form.full_clean()
        refused, problems = kept(request, form)
        return form_page(request, form, problems, refused=refused)
    return answered(request, form)


def _not_finished(request: HttpRequest, run: Run) -> HttpResponse:
    messages.warning(request, "This run is not finished yet; it can be run again when it is.")
    return redirect("run", run_id=run.pk)


def _foreseen(request: HttpRequest, run: Run, plan: Plan, form: AgainForm) -> list[StepPreview]:
    """What would be reused under what is ticked in the form."""
    if form.is_bound:
        form.full_clean()
    reuse, redo = not form["all"].value(), form.cleaned_data["redo"] if form.is_bound else form["redo"].value()
    policy = run.policy.changed(reuse=reuse, without_reuse=sorted(redo))
    given = PreviewInputs(person(request), run.request, policy, trees.files_of(run.inputs), run.excluded)
    return preview_reuse(fingerprint.contract_of(plan), given, run)
