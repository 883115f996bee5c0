"""Owns the report for machines: one JSON object with everything that happened in a run."""

from __future__ import annotations

from decimal import Decimal

from pydantic import JsonValue

from runs import trees
from runs.lifecycle.ledger import ledger_of
from runs.models import Attempt, Plan, Run, Step, Verdict
from runs.pev.outcome import gaps_in


def as_json(run: Run) -> dict[str, JsonValue]:
    """Run, outcome and gaps, plans, steps with attempts and evidence, files, calls, cost in USD, events.

    `cost_usd` is a decimal as text; `unpriced_calls` counts the calls that are not in it.
    """
    plans = list(run.plans.select_related("approved_by").order_by("version"))
    steps = plans[-1].steps.order_by("position") if plans else Step.objects.none()
    calls = list(run.model_calls.values_list("cost_usd", flat=True))
    before = trees.files_of(run.inputs)
    return {
        "run": run.pk,
        "title": run.title,
        "request": run.request,
        "status": run.status,
        "outcome": run.outcome,
        "failure": run.failure,
        "gaps": list[JsonValue](gaps_in(ledger_of(run))) if run.outcome else [],
        "answer": run.answer,
        "success_criteria": (run.final or {}).get("results", []),
        "plans": [_plan(plan) for plan in plans],
        "steps": [_step(step) for step in steps],
        "files": [
            {"path": path, "sha256": info.sha256, "size": info.size}
            for path, info in trees.files_of(run.head).items()
            if before.get(path) != info
        ],
        "model_calls": len(calls),
        "unpriced_calls": sum(1 for cost in calls if cost is None),
        "cost_usd": f"{sum((cost for cost in calls if cost is not None), Decimal(0)):.6f}",
        "events": [
            {"seq": event.seq, "kind": event.kind, "at": event.at.isoformat(), "data": event.data}
            for event in run.events.order_by("seq")
        ],
    }


def _plan(plan: Plan) -> JsonValue:
    return {
        "version": plan.version,
        "status": plan.status,
        "digest": plan.digest,
        "reason": plan.reason,
        "approved_by": plan.approved_by.get_username() if plan.approved_by else None,
        "approved_how": plan.approved_how,
        "estimate": plan.estimate,
    }


def _step(step: Step) -> JsonValue:
    attempts = step.attempts.select_related("verdict").order_by("number")
    return {
        "step_id": step.key,
        "name": str(step.spec["name"]),
        "status": step.status,
        "complexity": step.complexity,
        "reused": step.reused_from_id is not None,
        "attempts": [_attempt(attempt) for attempt in attempts],
    }


def _attempt(attempt: Attempt) -> JsonValue:
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    return {
        "number": attempt.number,
        "status": attempt.status,
        "confidence": (attempt.output or {}).get("confidence"),
        "files": list(attempt.overlay),
        "feedback": verdict.feedback if verdict else "",
        "verdict": _verdict(verdict) if verdict else None,
    }


def _verdict(verdict: Verdict) -> JsonValue:
    return {
        "passed": verdict.passed,
        "action": verdict.action,
        "severity": verdict.severity,
        "stage": verdict.stage,
        "notes": verdict.notes,
        "results": verdict.results,
    }
