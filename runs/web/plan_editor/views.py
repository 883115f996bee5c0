"""The editor of a plan: one of its buttons saves, the others give the form back with its rows changed."""

import logging

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from runs.enums import GateStatus
from runs.errors import InvalidInput, PevError
from runs.lifecycle import plan_edits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import already_decided
from runs.lifecycle.gates import plan_gate
from runs.logs import about
from runs.models import Gate, Run
from runs.text.numbers import key
from runs.web.frame.run_frame import RunFrame
from runs.web.plan_editor import forms as form
from runs.web.plan_editor.plan_draft import PlanDraft
from runs.web.plan_editor.presenter import Editor, contract_in, open_where, placed, preview
from runs.web.site.requests import about_request, person, status_of, visible_run

log = logging.getLogger(__name__)
MAX_DIGITS = 4
"""Digits of the number of a criterion: a step has 40 at most."""


@require_http_methods(["GET", "HEAD", "POST"])
def edit_plan(request: HttpRequest, run_id: int) -> HttpResponse:
    """The plan that needs a decision, in a form. Nothing that was typed is lost, whatever happens to the plan."""
    run = visible_run(request, run_id)
    asked = plan_gate.gates_of(run).open().select_related("plan").first()
    if request.method == "POST" and "gate" in request.POST:
        return _posted(request, run, asked)
    if asked is None or asked.plan is None:
        messages.info(request, "No plan of this run needs a decision now, so there is none to edit.")
        return redirect("run_plan", run_id=run.pk)
    original = fingerprint.contract_of(asked.plan)
    draft = PlanDraft.of(asked.plan.version, original)
    chosen = form.at(draft.steps, request.GET.get("step", ""))
    if chosen:
        chosen.open = True
    focus = f"s{draft.steps.index(chosen)}" if chosen else ""
    return _page(request, Editor(run, asked, draft, original, asked.digest, focus=focus))


@require_POST
def change_topic(request: HttpRequest, run_id: int) -> HttpResponse:
    """A click at the gate changes whether a criterion is about the sources or about the result."""
    run, sent = visible_run(request, run_id), request.POST
    gate = gate_of(run, sent.get("gate", ""))
    number = sent.get("number", "")
    try:
        plan = plan_edits.change_topic(
            gate.pk,
            person(request),
            sent.get("digest", ""),
            sent.get("step", ""),
            int(number) if number.isascii() and number.isdigit() and len(number) < MAX_DIGITS else 0,
        )
    except PevError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Saved as version {plan.version}. It needs a decision like any other.")
    return redirect("run", run_id=run.pk)


def _posted(request: HttpRequest, run: Run, asked: Gate | None) -> HttpResponse:
    sent, do = request.POST, request.POST.get("do", "")
    gate, digest = gate_of(run, sent["gate"]), sent.get("digest", "")
    if do == "adopt" and asked:
        gate, digest = asked, asked.digest
    assert gate.plan is not None
    original = fingerprint.contract_of(gate.plan)
    problem = _stale(gate, asked)
    try:
        draft = form.read(sent, gate.plan.version, original)
    except InvalidInput as error:
        untouched = PlanDraft.of(gate.plan.version, original)
        return _page(request, Editor(run, gate, untouched, original, digest, problem=str(error)), 422)
    editor = Editor(run, gate, draft, original, digest, problem=problem, asked=asked)
    if do == "save":
        return _saved(request, editor)
    tried = form.criterion_at(draft, do)
    if tried:
        return _page(request, editor.but(previews={tried[0]: preview(run, tried[1])}, focus=tried[0]))
    return _page(request, editor.but(focus=form.apply(draft, do)))


def gate_of(run: Run, number: str) -> Gate:
    """The plan gate for which a form was opened. Raises Http404."""
    try:
        pk = key(number)
    except ValueError as error:
        raise Http404 from error
    return get_object_or_404(plan_gate.gates_of(run).select_related("plan", "decided_by", "run"), pk=pk)


def _stale(gate: Gate, asked: Gate | None) -> str:
    """Why nothing can be saved for this gate any more; empty if it can."""
    return "" if asked and asked.pk == gate.pk and gate.status == GateStatus.OPEN else already_decided(gate)


def _saved(request: HttpRequest, editor: Editor) -> HttpResponse:
    found = contract_in(editor.draft, editor.original)
    if isinstance(found, dict):
        return _refused(request, editor.but(errors=found), 422)
    errors = placed(editor.draft, plan_edits.problems_with(editor.run, found))
    if errors:
        return _refused(request, editor.but(errors=errors), 422)
    try:
        plan = plan_edits.edit(editor.gate.pk, person(request), editor.digest, found)
    except PevError as error:
        what = about(**(about_request(request) | {"run": editor.run.pk, "gate": editor.gate.pk}))
        log.info("refused: an edit, %s", type(error).__name__, extra=what)
        return _page(request, editor.but(problem=str(error)), status_of(error))
    messages.success(request, f"Saved as version {plan.version}. It needs a decision like any other.")
    if "HX-Request" in request.headers:  # which would put the page of the plan into the form
        return HttpResponse(headers={"HX-Redirect": reverse("run_plan", args=[editor.run.pk])})
    return redirect("run_plan", run_id=editor.run.pk)


def _refused(request: HttpRequest, editor: Editor, status: int) -> HttpResponse:
    """The form with its errors, and with the fields shown that have one."""
    return _page(request, open_where(editor), status)


def _page(request: HttpRequest, editor: Editor, status: int = 200) -> HttpResponse:
    form.fold_beyond(editor.draft, editor.focus)
    if "HX-Request" in request.headers:
        return render(request, "plan_editor/plan_edit.html#editor", {"editor": editor}, status=status)
    frame = RunFrame(editor.run, "plan").with_header()
    return render(request, "plan_editor/plan_edit.html", {"frame": frame, "editor": editor}, status=status)
