"""The plan of a run: its versions to read, compare and answer, as JSON, and as a template for other files."""

import logging
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs.enums import Verb
from runs.errors import InvalidInput, PevError
from runs.lifecycle import gate_decisions
from runs.lifecycle.approval import fingerprint
from runs.logs import about
from runs.models import Run
from runs.pev.imports.imported import exported
from runs.submission import run_templates
from runs.submission.run_templates import MAX_NAME
from runs.web.frame.run_frame import RunFrame
from runs.web.gates.forms import DecisionForm
from runs.web.plan_editor.comment_forms import comments_in, typed_in
from runs.web.plan_editor.plan_page import PLAN
from runs.web.plan_editor.plan_page import plan_page as present
from runs.web.plan_editor.views import gate_of
from runs.web.run_templates.template_pages import SaveTemplateForm
from runs.web.site.requests import about_request, person, status_of, visible_run
from runs.web.site.streaming import attachment
from runs.web.site.unchanged import of_run, while_unchanged

log = logging.getLogger(__name__)


@require_http_methods(["GET", "HEAD", "POST"])
@while_unchanged(of_run, "part")
def plan_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """A version of the plan and how it differs from another one. A post answers the gate about the newest version."""
    run = visible_run(request, run_id)
    if request.method == "POST" and "gate" in request.POST:
        return _answered(request, run)
    return PLAN.answer(request, run)


def _answered(request: HttpRequest, run: Run) -> HttpResponse:
    """Decide with the typed comments. If the decision is refused, the page says why and keeps all of them."""
    gate = gate_of(run, request.POST["gate"])
    plan = fingerprint.contract_of(gate.plan) if gate.plan else None
    form = DecisionForm(request.POST)
    typed = typed_in(plan, request.POST) if plan else {}
    try:
        decision = form.decision()
        comments = comments_in(plan, typed) if plan else ()
        if decision.verb is Verb.APPROVE and comments:
            raise InvalidInput("An approval sends no comments. Request changes with them, or empty their fields.")
        gate_decisions.decide(gate.pk, person(request), replace(decision, comments=comments))
    except PevError as error:
        what = about(**(about_request(request) | {"run": run.pk, "gate": gate.pk}))
        log.info("refused: a decision, %s", type(error).__name__, extra=what)
        context = {"frame": RunFrame(run, "plan"), "page": present(run, {}, str(error), typed)}
        return render(request, "plan_editor/plan.html", context, status=status_of(error))
    return redirect("run", run_id=run.pk)


@require_safe
def plan_json(request: HttpRequest, run_id: int, version: int) -> HttpResponseBase:
    """A version of the plan as JSON, to be read, changed by hand and imported again."""
    plan = get_object_or_404(visible_run(request, run_id).plans, version=version)
    text = exported(fingerprint.contract_of(plan))
    return attachment(request, iter([text.encode()]), f"run-{run_id}-plan-{version}.json", "application/json")


@require_http_methods(["GET", "HEAD", "POST"])
def save_template(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask for the name of a template. A post saves it. If that fails, the page says why."""
    run = visible_run(request, run_id)
    plan = run_templates.plan_worth_keeping(run)
    form = SaveTemplateForm(request.POST if request.method == "POST" else None, initial={"name": run.title})
    problem, status = "", 200
    if form.is_bound:
        try:
            saved = run_templates.save(person(request), run, form.checked()["name"])
        except InvalidInput as error:
            problem, status = str(error), 422
        else:
            messages.success(request, f"Saved as the template “{saved.name}”. Choose it as the plan of a new run.")
            return redirect("templates")
    names = run_templates.file_names_in(plan, run) if plan else []
    context = {
        "run": run,
        "frame": RunFrame(run),
        "plan": plan,
        "step_count": plan.steps.count() if plan else 0,
        "form": form,
        "problem": problem,
        "longest": MAX_NAME,
        "names": names,
    }
    return render(request, "plan_editor/save_template.html", context, status=status)
