"""Owns the making of a report value from a run's rows. Reads only; queries grow with its trees, not with its steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.db.models import Prefetch
from django.urls import reverse

from runs import queries, trees
from runs.accounting.costs import costs_of
from runs.accounting.metrics import metrics
from runs.accounting.totals import totals, totals_by_role
from runs.enums import EventKind, GateKind, GateStatus, Role
from runs.models import Attempt, Gate, Plan, Run, Step, ToolCall, Verdict
from runs.pev.deviations import deviations
from runs.pev.outcome import gaps_in
from runs.pev.results import CriterionResult, Evidence
from runs.reading.files import made_files
from runs.reading.ledger import ledger_of
from runs.reports.report import (
    Decision,
    DoneStep,
    JudgedCriterion,
    PlanVersion,
    Proof,
    Report,
    TriedAttempt,
)


def build(run: Run) -> Report:
    """The report as of now."""
    plans = plans_of(run)
    roles = tuple(totals_by_role(run))
    loose = run.gates.decided().filter(plan=None, attempt=None).select_related("decided_by", "step")
    return Report(
        run_id=run.pk,
        title=run.title,
        request=run.request,
        owner=run.owner.get_username(),
        created=run.created_at,
        finished=run.finished_at,
        status=run.status,
        outcome=run.outcome or "",
        gaps=tuple(_gaps(run)),
        answer=run.answer,
        criteria=_criteria(run.pk, run.final.results if run.final else (), f"{_report(run.pk)}#answer"),
        plans=tuple(
            _plan(run, *both, newest=both[0] is plans[-1]) for both in zip(plans, [None, *plans], strict=False)
        ),
        other_decisions=tuple(_decision(gate) for gate in loose),
        files=made_files(run),
        input_count=run.inputs.file_count,
        input_size=run.inputs.total_size,
        inputs_digest=run.inputs.digest,
        totals=totals(run),
        roles=roles,
        same_model=same_model_of(run),
        costs=costs_of(run, plans, list(plans[-1].steps.all()) if plans else []),
        figures=metrics(Run.objects.filter(pk=run.pk)),
        no_ai=queries.without_ai(one.model for one in roles),
    )


def same_model_of(run: Run) -> str:
    """The model that is executor and verifier in one; empty when they are two."""
    policy = run.policy
    return policy.model_for(Role.VERIFIER).model if policy.same_model else ""


def _gaps(run: Run) -> list[str]:
    if not run.outcome:
        return []
    cancelled = run.outcome == "cancelled"
    return gaps_in(ledger_of(run, cancelled=cancelled))


def _report(run_id: int) -> str:
    return reverse("report", args=[run_id])


def file_href(run_id: int, path: str, sha256: str = "", start: int = 0, end: int = 0) -> str:
    """The address of a file of a run, at a version and a place in it."""
    address = reverse("file", args=[run_id, path])
    if not sha256:
        return address
    place = {"sha": sha256} | ({"start": start, "end": end} if end > start else {})
    return f"{address}?{urlencode(place)}" + ("#hit" if end > start else "")


def plans_of(run: Run) -> list[Plan]:
    """Every version with its steps, attempts, verdicts and decisions, in a fixed number of queries."""
    gates = Gate.objects.decided().select_related("decided_by", "step", "plan").order_by("id")
    calls = ToolCall.objects.carried_out().only("attempt_id", "name").order_by("id")
    attempts = (
        Attempt.objects.select_related("verdict", "reused_from__step__plan")
        .order_by("number")
        .prefetch_related(
            Prefetch("gates", gates), Prefetch("tool_calls", calls), Prefetch("reused_from__tool_calls", calls)
        )
    )
    steps = Step.objects.select_related("reused_from__step__plan").order_by("position")
    return list(
        run.plans.select_related("approved_by")
        .order_by("version")
        .prefetch_related(
            Prefetch("gates", gates.filter(kind=GateKind.PLAN)),
            Prefetch("steps", steps),
            Prefetch("steps__attempts", attempts),
        )
    )


def dropped_steps(before: Plan | None, plan: Plan) -> tuple[str, ...]:
    """The names of the steps that the version before had and this one has not."""
    keys = {step.key for step in plan.steps.all()}
    return tuple(step.spec.name for step in (before.steps.all() if before else ()) if step.key not in keys)


def _plan(run: Run, plan: Plan, before: Plan | None, *, newest: bool) -> PlanVersion:
    decisions = tuple(_decision(gate) for gate in plan.gates.all())
    approvals = [one for one in decisions if one.status == GateStatus.APPROVED]
    by_policy = None if approvals else _approved_at(run, plan)
    tried = [step for step in plan.steps.all() if newest or step.attempts.all()]
    declared = declared_by(plan)
    return PlanVersion(
        version=plan.version,
        status=plan.status,
        goal=plan.header.goal,
        reason=plan.reason,
        dropped=dropped_steps(before, plan),
        relaxed=tuple(plan.relaxed),
        digest=plan.digest,
        created=plan.created_at,
        approved_by=plan.approved_by.get_username() if plan.approved_by else "",
        approved_how=plan.approved_how,
        approved_at=approvals[-1].at if approvals else by_policy,
        decisions=decisions,
        steps=tuple(_step(run.pk, step, declared) for step in tried),
    )


def _approved_at(run: Run, plan: Plan) -> Any:
    """When the policy approved it: no gate tells, the event does."""
    if not plan.approved_how:
        return None
    events = run.events.filter(kind=EventKind.PLAN_APPROVED, data__version=plan.version)
    return events.values_list("at", flat=True).last()


def _step(run_id: int, step: Step, declared: frozenset[str]) -> DoneStep:
    kept = step.reused_from
    return DoneStep(
        key=step.key,
        name=step.spec.name,
        status=step.status,
        complexity=step.complexity,
        description=step.spec.description,
        kept_from=kept.step.plan.version if kept else 0,
        href=reverse("step", args=[run_id, step.pk]),
        attempts=tuple(_attempt(run_id, step, attempt, declared) for attempt in step.attempts.all()),
    )


def _attempt(run_id: int, step: Step, attempt: Attempt, declared: frozenset[str]) -> TriedAttempt:
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    href = f"{reverse('step', args=[run_id, step.pk])}#attempt-{attempt.number}"
    return TriedAttempt(
        number=attempt.number,
        status=attempt.status,
        started=attempt.created_at,
        finished=attempt.finished_at,
        confidence=attempt.output.confidence if attempt.output else None,
        action=verdict.action if verdict else "",
        severity=verdict.severity if verdict else "",
        feedback=verdict.feedback if verdict else "",
        criteria=_criteria(run_id, verdict.results, href) if verdict else (),
        notes=tuple(verdict.notes) if verdict else (),
        deviations=deviations_of(step, attempt, declared),
        source=_source(attempt.reused_from) if attempt.reused_from else "",
        source_href=_source_href(attempt.reused_from) if attempt.reused_from else "",
        decisions=tuple(_decision(gate) for gate in attempt.gates.all()),
    )


def _source(earlier: Attempt) -> str:
    return f"run {earlier.step.plan.run_id}, attempt {earlier.number}"


def _source_href(earlier: Attempt) -> str:
    return f"{reverse('step', args=[earlier.step.plan.run_id, earlier.step_id])}#attempt-{earlier.number}"


def declared_by(plan: Plan) -> frozenset[str]:
    """Every path that a step of this plan said it would write."""
    return frozenset(path for step in plan.steps.all() for path in step.spec.expected_outputs)


def deviations_of(step: Step, attempt: Attempt, declared: frozenset[str]) -> tuple[str, ...]:
    """What was done against what was planned (T4); nothing for an attempt without a report."""
    if not attempt.output:
        return ()
    return deviations(
        step.spec,
        declared=declared,
        there={*trees.files_of(attempt.base), *(path for path, entry in attempt.overlay.items() if entry)},
        written=attempt.overlay,
        used={call.name for call in (attempt.reused_from or attempt).tool_calls.all()},
    )


def _criteria(run_id: int, judged: Iterable[CriterionResult], said_at: str) -> tuple[JudgedCriterion, ...]:
    return tuple(
        JudgedCriterion(
            label=one.label,
            text=one.text,
            passed=one.passed and one.supported,
            decided_by=one.decided_by,
            confidence=one.confidence,
            feedback=one.feedback,
            proofs=tuple(_proof(run_id, evidence, said_at) for evidence in one.evidence),
        )
        for one in judged
    )


def _proof(run_id: int, evidence: Evidence, said_at: str) -> Proof:
    href = ""
    if evidence.verified and evidence.source.startswith("@"):
        href = said_at
    elif evidence.verified and evidence.sha256:
        href = file_href(run_id, evidence.source, evidence.sha256, evidence.start, evidence.end)
    return Proof(
        kind=evidence.kind,
        verified=evidence.verified,
        sentence=evidence.sentence,
        quote=evidence.quote,
        source=evidence.source,
        line=evidence.line,
        sha256=evidence.sha256,
        href=href,
    )


def _decision(gate: Gate) -> Decision:
    about = f"Plan, version {gate.plan.version}" if gate.plan else gate.kind.capitalize()
    if gate.step:
        about = f"Step “{gate.step.spec.name}”"
    return Decision(
        about=about,
        question=gate.question,
        status=gate.status,
        by=gate.decided_by.get_username() if gate.decided_by else "",
        at=gate.decided_at,
        how=gate.decided_how,
        reason=gate.reason,
    )
