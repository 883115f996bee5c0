"""What people do in a run: answer its gates, stop it, pause it and let it continue.

With htmx an answer brings the regions that have changed; without, it leads to the page.
"""

from __future__ import annotations

import logging

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from runs.enums import GateStatus, Verb
from runs.errors import DecisionRefused, InvalidInput, PevError
from runs.lifecycle import gate_decisions, overruling
from runs.lifecycle.gates.gate_type import Decision
from runs.logs import about
from runs.models import Attempt, Gate
from runs.pev.checks.material import list_in_words
from runs.submission import supplied_uploads
from runs.text.paths import MAX_CHARACTERS
from runs.text.plural import word_for
from runs.web.frame.run_frame import RunFrame, replaced_head
from runs.web.gates.decision_form import DecisionForm, Problem, with_points
from runs.web.gates.page_opening import opening_of
from runs.web.help.tour import is_shown
from runs.web.inbox.next_decision import decisions_elsewhere
from runs.web.new_run.new_run_form import FilesForm
from runs.web.run.overview import OVERVIEW, run_page
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import about_request, log_refusal, person, rights_in, run_to_decide, status_of, visible_run
from runs.web.steps.step_page import NotOverruled, show_step

log = logging.getLogger(__name__)
_DONE = {
    Verb.APPROVE: GateStatus.APPROVED,
    Verb.REJECT: GateStatus.REJECTED,
    Verb.ANSWER: GateStatus.ANSWERED,
    Verb.DELEGATE: GateStatus.ANSWERED,
    Verb.STOP: GateStatus.STOPPED,
}
MAX_STOP_REASON = 2_000
"""Characters. No model reads the reason, so that it needs less room than that of an answer."""


MAX_REMARKS = 10
"""Sentences about files that were not taken. The history has them too."""


_SAY_WHICH = "Choose one of the buttons: it is met, or it is not met."
_RELOAD = "This form is not complete. Reload the page, then overrule the verdict there."


class StopForm(PostedForm):
    """Why a run is stopped; optional."""

    reason = Text(required=False, max_length=MAX_STOP_REASON)


class OverruleForm(PostedForm):
    """`runs.lifecycle.overruling` says what is wrong with a reason. `seen`: the newest overruling on the page."""

    criterion = Text(max_length=8, error_messages={"required": "Choose a criterion."})
    answer = forms.ChoiceField(
        choices=[("met", "met"), ("not_met", "not met")],
        error_messages={"required": _SAY_WHICH, "invalid_choice": _SAY_WHICH},
    )
    reason = Text(required=False)
    seen = forms.IntegerField(error_messages={"required": _RELOAD, "invalid": _RELOAD})


class PauseForm(PostedForm):
    """Whether to pause the run (1) or to let it continue (0)."""

    paused = forms.BooleanField(required=False, widget=forms.HiddenInput)


class GivenFilesForm(FilesForm, PostedForm):
    """Missing files. `name_as`: the missing path that the only file takes, whatever its own name is."""

    name_as = Text(required=False, max_length=MAX_CHARACTERS)


@require_POST
def decide(request: HttpRequest, run_id: int, gate_id: int) -> HttpResponse:
    """Answer a gate. If something cannot be done, the page says so and keeps the typed reason."""
    run = run_to_decide(request, run_id)
    gate = get_object_or_404(run.gates, pk=gate_id)
    form = DecisionForm(request.POST)
    try:
        decision = form.decision(gate, person(request))
        _decide(request, gate, with_points(gate, decision, form.notes))
    except PevError as error:
        # Not its sentence: that one may quote the reason which somebody else gave.
        what = about(**(about_request(request) | {"run": run_id, "gate": gate.pk}))
        log.info("refused: a decision, %s", type(error).__name__, extra=what)
        problem = Problem(
            gate.pk,
            str(error),
            form.typed,
            form.without_sources,
            form.notes,
            met=form.met,
            why_met=form.typed_why_met,
        )
        return _page(request, run_id, problem, status_of(error))
    if request.headers.get("HX-Request"):
        return _page(request, run_id, None, 200)
    return redirect(f"{reverse('run', args=[run_id])}#run-gates")


@require_POST
def give_files(request: HttpRequest, run_id: int, gate_id: int) -> HttpResponse:
    """Give missing files at a gate. What could not be taken is said at the field."""
    run = run_to_decide(request, run_id)
    gate = get_object_or_404(run.gates, pk=gate_id)
    gate.run = run
    form = GivenFilesForm(request.POST, request.FILES)
    try:
        name_as = form.checked()["name_as"]
        found = supplied_uploads.give_files(gate, person(request), form.uploads(), name_as=name_as)
    except PevError as error:
        log_refusal(request, run, error)
        return _page(request, run_id, Problem(gate.pk, str(error), "", about_files=True), status_of(error))
    gate.refresh_from_db(fields=["status"])
    if not found.added and gate.status == GateStatus.OPEN:
        count, names = len(found.known), list_in_words(list(found.known))
        there = f"{names} {word_for(count, 'is', 'are')} among the files already, with the same content."
        sentence = " ".join([f"{there} Nothing was changed.", *found.remarks[:MAX_REMARKS]])
        said = Problem(gate.pk, sentence, "", about_files=True, changed_nothing=True)
        return _page(request, run_id, said, 200)
    for remark in found.remarks[:MAX_REMARKS]:
        messages.warning(request, remark)
    return redirect(f"{reverse('run', args=[run_id])}#run-gates")


def _decide(request: HttpRequest, gate: Gate, decision: Decision) -> None:
    try:
        gate_decisions.decide(gate.pk, person(request), decision)
    except DecisionRefused:
        if not _decided_so_before(request, gate, decision.verb):
            raise


def _decided_so_before(request: HttpRequest, gate: Gate, verb: Verb) -> bool:
    """Whether this person has already given this answer, as with a double click."""
    gate.refresh_from_db()
    return gate.decided_by_id == request.user.pk and gate.status == _DONE[verb]


def _page(request: HttpRequest, run_id: int, problem: Problem | None, status: int) -> HttpResponse:
    run = visible_run(request, run_id)
    page, rights = run_page(run), rights_in(request, run)
    elsewhere = decisions_elsewhere(request, run)
    if request.headers.get("HX-Request"):
        names = ["gates", "next_decision", "result"]
        frame = RunFrame(run, OVERVIEW.name, rights=rights)
        regions = OVERVIEW.replaced(page, names, frame=frame, problem=problem, elsewhere=elsewhere)
        return HttpResponse(regions + replaced_head(frame), status=status)
    user = person(request)
    context = OVERVIEW.context(run, page, rights) | {
        "problem": problem,
        "elsewhere": elsewhere,
        "sees_tour": is_shown(user, run),
        "opening": opening_of(run, user),
    }
    return render(request, OVERVIEW.template, context, status=status)


@require_POST
def overrule(request: HttpRequest, run_id: int, attempt_id: int) -> HttpResponse:
    """Judge a criterion otherwise than the verdict. If that is refused, the page says so and keeps what was typed.

    Raises Http404 for an attempt of another run.
    """
    run = run_to_decide(request, run_id)
    attempt = get_object_or_404(Attempt, step__plan__run=run, pk=attempt_id)
    form = OverruleForm(request.POST)
    try:
        given = form.checked()
        met = given["answer"] == "met"
        overruling.overrule(
            attempt.pk, person(request), given["criterion"], met=met, reason=given["reason"], seen=given["seen"]
        )
    except PevError as error:
        log_refusal(request, run, error)
        typed = [str(form[name].value() or "") for name in ("criterion", "reason")]
        refused = NotOverruled(attempt.pk, str(error), *typed)
        return show_step(request, run, attempt.step_id, refused=refused, status=status_of(error))
    return redirect(f"{reverse('step', args=[run.pk, attempt.step_id])}#attempt-{attempt.number}")


@require_POST
def stop(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop the run now; what has passed is kept."""
    run = run_to_decide(request, run_id)
    form = StopForm(request.POST)
    try:
        gate_decisions.cancel(run.pk, person(request), form.checked()["reason"])
    except InvalidInput as error:
        return _page(request, run_id, Problem(0, str(error), str(form["reason"].value() or "")), status_of(error))
    except PevError as error:
        log_refusal(request, run, error)
        messages.warning(request, str(error))
    return redirect("run", run_id=run.pk)


@require_POST
def pause(request: HttpRequest, run_id: int) -> HttpResponse:
    """Pause the run (`paused` is 1) or let it continue (0)."""
    run = run_to_decide(request, run_id)
    live = "HX-Request" in request.headers
    try:
        gate_decisions.pause(run.pk, person(request), paused=PauseForm(request.POST).checked()["paused"])
    except PevError as error:
        log_refusal(request, run, error)
        if not live:
            messages.warning(request, str(error))
    if live:
        run = visible_run(request, run_id)
        return HttpResponse(replaced_head(RunFrame(run, rights=rights_in(request, run))))
    return redirect("run", run_id=run.pk)
