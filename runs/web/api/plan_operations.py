"""Versions of plans, and steps with attempts and verdicts, as in the report. An edit of a plan approves nothing."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Router, Status
from pydantic import BaseModel, ConfigDict, Field

from runs.enums import AuditKind
from runs.errors import DecisionRefused
from runs.lifecycle import plan_edits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates import plan_gate
from runs.models import Run
from runs.pev.contracts import PlanContract
from runs.readmodel.plan_view import StepReading
from runs.readmodel.run_view import reading_of
from runs.reports import contract
from runs.reports.json_report import attempt_of, plan_of, step_of
from runs.store import audit_trail
from runs.web.api.requests import AnyPlan, as_known, caller_of
from runs.web.api.tokens import CHANGES_RUNS, READS_RUNS

router = Router(tags=["plans"])


class PlanVersions(BaseModel):
    """All versions of the plan of a run, the oldest first."""

    plans: list[contract.Plan]


class StepList(BaseModel):
    """The steps of the newest version of the plan."""

    steps: list[contract.Step]


class PlanEdit(BaseModel):
    """The next version of a plan. `fingerprint` is that of the gate that asks about the version which was edited."""

    model_config = ConfigDict(extra="forbid")

    fingerprint: Annotated[str, Field(min_length=1, max_length=64)]
    plan: AnyPlan


@router.get("/runs/{int:run_id}/plans", auth=READS_RUNS, url_name="plans", response=PlanVersions, summary="List plans")
def list_plans(request: HttpRequest, run_id: int) -> PlanVersions:
    """All versions of the plan of a run, with what each has changed."""
    return PlanVersions(plans=[plan_of(plan) for plan in reading_of(caller_of(request).run(run_id)).plans])


@router.get(
    "/runs/{int:run_id}/plans/{int:version}",
    auth=READS_RUNS,
    url_name="plan",
    response=contract.Plan,
    summary="Read a version of a plan",
)
def read_plan(request: HttpRequest, run_id: int, version: int) -> contract.Plan:
    """A version of the plan, with what became of its steps."""
    return _plan(caller_of(request).run(run_id), version)


@router.get(
    "/runs/{int:run_id}/plans/{int:version}/document",
    auth=READS_RUNS,
    response=AnyPlan,
    summary="Read a plan as it can be edited",
)
def read_plan_document(request: HttpRequest, run_id: int, version: int) -> PlanContract:
    """A version of the plan as a planner writes it: to be edited, or imported into another run."""
    plan = caller_of(request).run(run_id).plans.filter(version=version).first()
    if plan is None:
        raise Http404
    subject = f"plan version {version}"
    if request.method == "GET":
        audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=run_id, subject=subject, digest=plan.digest)
    return fingerprint.contract_of(plan)


@router.post(
    "/runs/{int:run_id}/plans",
    auth=CHANGES_RUNS,
    url_name="plans",
    response={201: contract.Plan},
    summary="Propose an edit of the plan",
)
def edit_plan(request: HttpRequest, response: HttpResponse, run_id: int, given: PlanEdit) -> Status[contract.Plan]:
    """Stores an edited plan as the next version, which needs a decision like any other.

    Answered with 409 if the version that was edited is no longer asked about, or is asked about under other conditions.
    """
    caller = caller_of(request)
    run = caller.run(run_id)
    gate = plan_gate.gates_of(run).open().first()
    if gate is None:
        raise DecisionRefused("No plan of this run needs a decision now, so there is none to edit.")
    with as_known(request, run):
        plan = plan_edits.edit(gate.pk, caller.person, given.fingerprint, given.plan)
    response.headers["Location"] = reverse("api:plan", args=[run_id, plan.version])
    return Status(HTTPStatus.CREATED, _plan(caller.run(run_id), plan.version))


def _plan(run: Run, version: int) -> contract.Plan:
    found = next((plan for plan in reading_of(run).plans if plan.row.version == version), None)
    if found is None:
        raise Http404
    return plan_of(found)


@router.get("/runs/{int:run_id}/steps", auth=READS_RUNS, response=StepList, summary="List steps")
def list_steps(request: HttpRequest, run_id: int) -> StepList:
    """The steps of the newest version of the plan, with their attempts. There are none before there is a plan."""
    plan = reading_of(caller_of(request).run(run_id)).plan
    return StepList(steps=[step_of(step) for step in plan.steps] if plan else [])


@router.get("/runs/{int:run_id}/steps/{step_id}", auth=READS_RUNS, response=contract.Step, summary="Read a step")
def read_step(request: HttpRequest, run_id: int, step_id: str) -> contract.Step:
    """A step of the newest version of the plan, with its attempts and their verdicts."""
    return step_of(_step(request, run_id, step_id))


@router.get(
    "/runs/{int:run_id}/steps/{step_id}/attempts/{int:number}",
    auth=READS_RUNS,
    response=contract.Attempt,
    summary="Read an attempt",
)
def read_attempt(request: HttpRequest, run_id: int, step_id: str, number: int) -> contract.Attempt:
    """An attempt at a step, with its verdict: each criterion with the evidence that it rests on, and its places."""
    attempts = _step(request, run_id, step_id).own_attempts
    found = next((attempt for attempt in attempts if attempt.row.number == number), None)
    if found is None:
        raise Http404
    return attempt_of(found)


def _step(request: HttpRequest, run_id: int, step_id: str) -> StepReading:
    plan = reading_of(caller_of(request).run(run_id)).plan
    found = next((step for step in plan.steps if step.row.key == step_id), None) if plan else None
    if found is None:
        raise Http404
    return found
