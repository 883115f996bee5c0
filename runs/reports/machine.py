"""Owns the report for machines: one JSON object with everything that happened in a run."""

from __future__ import annotations

from pydantic import JsonValue

from runs.accounting.costs import costs_of
from runs.accounting.metrics import metrics
from runs.accounting.totals import totals, totals_by_role
from runs.models import Attempt, Plan, Run, Step, Verdict
from runs.pev.outcome import gaps_in
from runs.pev.results import CriterionResult
from runs.reading.files import written_files
from runs.reading.ledger import ledger_of
from runs.reports import figures
from runs.reports.build import declared_by, deviations_of, dropped_steps, plans_of, same_model_of

MAX_PROBLEM = 600
"""Characters of what a tool answered to a call that it refused."""


def as_json(run: Run) -> dict[str, JsonValue]:
    """Run, outcome and gaps, versions of the plan, steps with attempts and evidence, files, costs, metrics, events.

    `steps` are those of the newest version; `costs` and `metrics` are what `runs.accounting` defines.
    `cost_usd` is a decimal as text; `unpriced_calls` counts the calls that are not in it.
    """
    plans = plans_of(run)
    newest = plans[-1] if plans else None
    return {
        "run": run.pk,
        "title": run.title,
        "request": run.request,
        "status": run.status,
        "outcome": run.outcome,
        "failure": run.failure,
        "ended": run.ended,
        "policy": run.policy.model_dump(mode="json"),
        "judged_its_own_work": same_model_of(run),
        "gaps": list[JsonValue](gaps_in(ledger_of(run))) if run.outcome else [],
        "answer": run.answer,
        "success_criteria": _results(run.final.results if run.final else []),
        "plans": [_plan(plan, before) for before, plan in zip([None, *plans], plans, strict=False)],
        "steps": _steps(newest) if newest else [],
        "files": [
            {"path": path, "sha256": info.sha256, "size": info.size}
            for path, info in written_files(run, run.head).items()
        ],
        "refused_tool_calls": _refused(run),
        **_used(run, plans),
        "events": [
            {"seq": event.seq, "kind": event.kind, "at": event.at.isoformat(), "data": event.data}
            for event in run.events.order_by("seq")
        ],
    }


def _refused(run: Run) -> list[JsonValue]:
    calls = run.tool_calls.refused().select_related("attempt__step").order_by("id")
    return [
        {
            "step_id": call.attempt.step.key if call.attempt else None,
            "attempt": call.attempt.number if call.attempt else None,
            "tool": call.name,
            "problem": call.result[:MAX_PROBLEM],
        }
        for call in calls
    ]


def _used(run: Run, plans: list[Plan]) -> dict[str, JsonValue]:
    used = totals(run)
    return {
        "model_calls": used.calls,
        "unpriced_calls": used.unpriced,
        "cost_usd": figures.usd(used.cost),
        "totals": figures.totals(used),
        "totals_by_role": figures.by_role(totals_by_role(run)),
        "costs": figures.costs(costs_of(run, plans, list(plans[-1].steps.all()) if plans else [])),
        "metrics": figures.metrics(metrics(Run.objects.filter(pk=run.pk))),
    }


def _plan(plan: Plan, before: Plan | None) -> JsonValue:
    return {
        "version": plan.version,
        "status": plan.status,
        "digest": plan.digest,
        "reason": plan.reason,
        "dropped_steps": list[JsonValue](dropped_steps(before, plan)),
        "relaxed": list[JsonValue](plan.relaxed),
        "steps": _steps(plan),
        "approved_by": plan.approved_by.get_username() if plan.approved_by else None,
        "approved_how": plan.approved_how,
        "estimate": plan.estimate,
    }


def _steps(plan: Plan) -> list[JsonValue]:
    declared = declared_by(plan)
    return [_step(step, declared) for step in plan.steps.all()]


def _step(step: Step, declared: frozenset[str]) -> JsonValue:
    return {
        "step_id": step.key,
        "name": step.spec.name,
        "status": step.status,
        "complexity": step.complexity,
        "kept": step.reused_from_id is not None,
        "attempts": [_attempt(step, attempt, declared) for attempt in step.attempts.all()],
    }


def _attempt(step: Step, attempt: Attempt, declared: frozenset[str]) -> JsonValue:
    verdict: Verdict | None = getattr(attempt, "verdict", None)
    return {
        "number": attempt.number,
        "status": attempt.status,
        "confidence": attempt.output.confidence if attempt.output else None,
        "findings": attempt.output.findings if attempt.output else "",
        "files": list(attempt.overlay),
        "deviations": list[JsonValue](deviations_of(step, attempt, declared)),
        "reused_from": _source(attempt.reused_from) if attempt.reused_from else None,
        "feedback": verdict.feedback if verdict else "",
        "verdict": _verdict(verdict) if verdict else None,
    }


def _source(earlier: Attempt) -> JsonValue:
    return {"run": earlier.step.plan.run_id, "step_id": earlier.step.key, "attempt": earlier.number}


def _verdict(verdict: Verdict) -> JsonValue:
    return {
        "passed": verdict.passed,
        "action": verdict.action,
        "severity": verdict.severity,
        "stage": verdict.stage,
        "notes": list[JsonValue](verdict.notes),
        "results": _results(verdict.results),
    }


def _results(judged: list[CriterionResult]) -> JsonValue:
    return [one.model_dump(mode="json") for one in judged]
