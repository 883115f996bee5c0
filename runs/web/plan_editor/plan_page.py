"""The page of a plan: one of its versions, how it differs from another one, and comments on its parts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from runs.contracts.feedback import Comment
from runs.enums import AuditKind, EventKind, GateStatus
from runs.errors import InvalidInput, PevError
from runs.lifecycle import gate_decisions
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.logs import about
from runs.models import Run
from runs.pev.contracts import Criterion, PlanContract
from runs.pev.imports.imported import exported
from runs.readmodel.plan_differences import PlanComparison
from runs.readmodel.plan_view import PlanReading, StepReading
from runs.readmodel.run_rows import read_rows
from runs.readmodel.run_view import RunReading
from runs.store import audit_trail
from runs.submission import run_templates
from runs.submission.run_templates import MAX_DESCRIPTION, MAX_NAME, NO_PLAN_TO_KEEP
from runs.text.numbers import key
from runs.text.text_limits import too_long
from runs.web.frame.run_frame import RunFrame
from runs.web.frame.run_tab import EVERYTHING, GATE_EVENTS, STEP_ENDS, RunTab
from runs.web.gates.decision_form import MAX_REASON, DecisionForm
from runs.web.gates.gate_view import GateView, open_gates
from runs.web.gates.page_opening import opening_of
from runs.web.gates.request_list import RequestGroup
from runs.web.plan_editor.plan_edit_page import gate_of
from runs.web.run_templates.template_pages import SaveTemplateForm
from runs.web.site.posted_fields import plain_lines
from runs.web.site.requests import about_request, person, rights_in, run_to_decide, status_of, visible_run
from runs.web.site.streaming import attachment
from runs.web.site.unchanged import of_run, while_unchanged

log = logging.getLogger(__name__)
MAX_COMMENTS = 100
"""Comments on a plan. Each is a request that the next version has to answer."""


@dataclass(frozen=True)
class CriterionLine:
    """A criterion to read and comment on. `called` is its name; `field` is the name of the field for a comment, and
    `typed` the text in it.
    """

    number: int
    criterion: Criterion
    called: str
    field: str
    typed: str


@dataclass(frozen=True)
class StepLine:
    step: StepReading
    criteria: Sequence[CriterionLine]
    field: str
    typed: str

    @property
    def called(self) -> str:
        return f"step {self.step.number}"

    @property
    def open(self) -> bool:
        """Whether it has a typed comment that was not sent."""
        return bool(self.typed or any(one.typed for one in self.criteria))


@dataclass(frozen=True, eq=False)
class PlanPage(RunReading):
    """`version` and `against` are numbers of versions, None for the newest and for the one before it; `against` 0 for
    none. `problem`: why comments were not sent, which are `typed` by the names of their fields.
    """

    version: int | None = None
    compared: int | None = None
    problem: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def shown(self) -> PlanReading | None:
        """The version to show. Raises Http404 if there is none."""
        return self._of(self.version) if self.version is not None else self.plan

    @cached_property
    def against(self) -> PlanReading | None:
        if self.shown is None or self.compared == 0:
            return None
        return self.shown.before if self.compared is None else self._of(self.compared)

    def _of(self, version: int) -> PlanReading:
        found = next((plan for plan in self.plans if plan.row.version == version), None)
        if found is None:
            raise Http404
        return found

    @cached_property
    def comparison(self) -> PlanComparison | None:
        return self.shown.compared_with(self.against) if self.shown and self.against else None

    @property
    def versions(self) -> list[PlanReading]:
        """All versions, the newest first."""
        return list(reversed(self.plans))

    @property
    def others(self) -> list[PlanReading]:
        """The versions that the shown one can be compared with, the newest first."""
        return [plan for plan in self.versions if plan is not self.shown]

    @cached_property
    def gate(self) -> GateView | None:
        """The open gate about the shown version."""
        asked = [
            gate for gate in self.rows.gates if gate.status == GateStatus.OPEN and type_of(gate).subject is Subject.PLAN
        ]
        requests = RequestGroup(self.requests, folds=True)
        doubtful = requests.doubtful or requests.fails
        views = open_gates(asked, self.plan, doubtful=doubtful) if self.shown is self.plan else []
        return views[0] if views else None

    @property
    def why_not_edit(self) -> str:
        """Why the version shown cannot be edited; empty if it can."""
        if self.gate:
            return ""
        if self.shown is not self.plan:
            return "Only the newest version can be edited, while it needs a decision."
        return "A plan can be edited while it needs a decision; this one does not need one now."

    @property
    def lines(self) -> list[StepLine]:
        return [
            StepLine(
                step,
                self._criteria(step.row.spec.acceptance_criteria, step.number),
                comment_field(step.number),
                self.typed.get(comment_field(step.number), ""),
            )
            for step in (self.shown.steps if self.shown else ())
        ]

    @property
    def final(self) -> list[CriterionLine]:
        """The success criteria."""
        return self._criteria(self.shown.row.header.success_criteria if self.shown else (), 0)

    def _criteria(self, criteria: Sequence[Criterion], step: int) -> list[CriterionLine]:
        found = []
        for number, criterion in enumerate(criteria, 1):
            name = comment_field(step, number)
            called = f"criterion {number} of step {step}" if step else f"success criterion {number}"
            found.append(CriterionLine(number, criterion, called, name, self.typed.get(name, "")))
        return found

    @property
    def reason(self) -> str:
        return self.typed.get("reason", "")


def comment_field(step: int, criterion: int = 0) -> str:
    """The name of the field for a comment on a step (from 1; 0 for the success criteria) or a criterion of it."""
    return f"comment-{step}-{criterion}"


def read_plan_page(
    run: Run, asked: Mapping[str, str], problem: str = "", typed: Mapping[str, str] | None = None
) -> PlanPage:
    """The page as it is now, of the requested `version`, compared with `against`. The number of queries does not depend
    on the number of steps. Raises Http404 for something that is no number.
    """
    version, against = _number(asked.get("version", "")), _number(asked.get("against", ""))
    return PlanPage(read_rows(run, lambda _: ()), version, against, problem, typed or {})


def _number(given: str) -> int | None:
    if given in {"", "0"}:
        return 0 if given else None
    try:
        return key(given)
    except ValueError as error:
        raise Http404 from error


PLAN = RunTab(
    "plan",
    "plan_editor/plan.html",
    read=read_plan_page,
    regions={"plan": EVERYTHING | GATE_EVENTS | STEP_ENDS | {EventKind.ATTEMPT_REUSED, EventKind.VERDICT}},
    query=("version", "against"),
    shown_in={"plan": lambda page: page.gate and page.gate.newest.not_read},
)


def typed_in(plan: PlanContract, data: Mapping[str, str]) -> dict[str, str]:
    """The comments on this plan as they were posted, by the names of their fields, without empty ones."""
    names = ["reason", *(name for name, _ in _places(plan))]
    texts = {name: plain_lines(str(data.get(name, ""))) for name in names}
    return {name: text for name, text in texts.items() if text.strip()}


def comments_in(plan: PlanContract, typed: Mapping[str, str]) -> tuple[Comment, ...]:
    """The comments on parts of the plan. Raises InvalidInput for more than a planner could answer."""
    if problem := too_long("".join(typed.values()), MAX_REASON, "Everything you wrote together"):
        raise InvalidInput(problem)
    found = [place.model_copy(update={"text": typed[name]}) for name, place in _places(plan) if name in typed]
    if len(found) > MAX_COMMENTS:
        raise InvalidInput(f"These are {len(found)} comments; {MAX_COMMENTS} can be sent at once.")
    return tuple(found)


def _places(plan: PlanContract) -> Iterator[tuple[str, Comment]]:
    """Every part of the plan that can be commented on, with the name of its field."""
    for number, step in enumerate(plan.steps, 1):
        yield comment_field(number), Comment(text="", step_id=step.step_id)
        for criterion in range(1, len(step.acceptance_criteria) + 1):
            yield comment_field(number, criterion), Comment(text="", step_id=step.step_id, criterion=criterion)
    for criterion in range(1, len(plan.success_criteria) + 1):
        yield comment_field(0, criterion), Comment(text="", criterion=criterion)


@require_http_methods(["GET", "HEAD", "POST"])
@while_unchanged(of_run, "part")
def plan_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """A version of the plan and how it differs from another one. A post answers the gate about the newest version."""
    run = run_to_decide(request, run_id) if request.method == "POST" else visible_run(request, run_id)
    if request.method == "POST" and "gate" in request.POST:
        return _answered(request, run)
    return PLAN.answer(request, run, opening=opening_of(run, person(request)))


def _answered(request: HttpRequest, run: Run) -> HttpResponse:
    """Decide with the typed comments. If the decision is refused, the page says why and keeps all of them."""
    gate = gate_of(run, request.POST["gate"])
    plan = fingerprint.contract_of(gate.plan) if gate.plan else None
    form = DecisionForm(request.POST)
    typed = typed_in(plan, request.POST) if plan else {}
    try:
        decision = form.decision(gate, person(request))
        comments = comments_in(plan, typed) if plan else ()
        gate_decisions.decide(gate.pk, person(request), replace(decision, comments=comments))
    except PevError as error:
        what = about(**(about_request(request) | {"run": run.pk, "gate": gate.pk}))
        log.info("refused: a decision, %s", type(error).__name__, extra=what)
        context = PLAN.context(run, read_plan_page(run, {}, str(error), typed), rights_in(request, run))
        context["opening"] = opening_of(run, person(request))
        return render(request, PLAN.template, context, status=status_of(error))
    return redirect("run", run_id=run.pk)


@require_safe
def plan_json(request: HttpRequest, run_id: int, version: int) -> HttpResponseBase:
    """A version of the plan as JSON, to be read, changed by hand and imported again."""
    plan = get_object_or_404(visible_run(request, run_id).plans, version=version)
    text = exported(fingerprint.contract_of(plan))
    if request.method == "GET":
        audit_trail.record(
            AuditKind.FILE_DOWNLOADED, run_id=run_id, subject=f"plan version {version}", digest=plan.digest
        )
    return attachment(request, iter([text.encode()]), f"run-{run_id}-plan-{version}.json", "application/json")


@require_http_methods(["GET", "HEAD", "POST"])
def save_template(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask for the name and the description of a template. A post saves it. If that fails, the page says why."""
    run = visible_run(request, run_id)
    plan = run_templates.plan_worth_keeping(run)
    suggested = {"name": run.title, "description": plan.header.goal[:MAX_DESCRIPTION] if plan else ""}
    form = SaveTemplateForm(request.POST if request.method == "POST" else None, initial=suggested)
    problem, status = "", 200
    if form.is_bound:
        try:
            saved = run_templates.save(person(request), run, **form.checked())
        except InvalidInput as error:
            problem, status = str(error), 422
        else:
            messages.success(request, f"Saved as the template “{saved.name}”. Choose it as the plan of a new run.")
            return redirect("templates")
    names = run_templates.file_names_in(plan, run) if plan else []
    context = {
        "run": run,
        "frame": RunFrame(run).read_title(),
        "plan": plan,
        "step_count": plan.steps.count() if plan else 0,
        "form": form,
        "problem": problem,
        "max_name": MAX_NAME,
        "max_description": MAX_DESCRIPTION,
        "names": names,
        "no_plan": NO_PLAN_TO_KEEP,
    }
    return render(request, "plan_editor/save_template.html", context, status=status)
