"""The report for machines: one JSON object with everything that happened in a run, written from one reading of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from pydantic import JsonValue

from runs.evidence.citations.citation import Cited
from runs.evidence.results import CriterionResult
from runs.lifecycle.change_requests import Request
from runs.models import Attempt, Run, Verdict
from runs.pev.input_coverage import Covered
from runs.pev.outcome import OpenPoint
from runs.readmodel.attempt_view import AttemptReading
from runs.readmodel.plan_view import PlanReading, StepReading
from runs.readmodel.run_view import RunReading
from runs.readmodel.shown_citations import RunCitations, cited_in
from runs.readmodel.status_words import about_request
from runs.reports import changes, figures
from runs.reports.contract import VERSION

MAX_PROBLEM = 600
"""Characters of what a tool answered to a call that it refused."""

MAX_COVERED = 200
"""Files that are listed with each step; those of the run are listed all."""


def as_json(report: RunReading) -> dict[str, JsonValue]:
    """Run, outcome and gaps, what people asked for, versions of the plan, steps with attempts and evidence, files,
    costs, metrics, events.

    `steps` are those of the newest version; `costs` is estimate against actual, `metrics` what `accounting.metrics`
    defines. `does_not_apply`: the steps that had nothing to do, each with what was searched for. `cost_usd` is a
    decimal as text; `unpriced_calls` counts the calls that are not in it. `answer` begins with what is missing in it,
    and with what does not apply; `judged_answer` is what evidence of the success criteria points into.
    """
    run = report.run
    return {
        "schema_version": VERSION,
        "run": run.pk,
        "title": run.title,
        "request": run.request,
        "status": run.status,
        "outcome": run.outcome,
        "failure": run.failure,
        "ended": run.ended,
        "policy": run.policy.model_dump(mode="json"),
        "judged_its_own_work": report.same_model,
        "no_sources": report.no_sources,
        "gaps": list[JsonValue](report.gaps),
        "open_points": [_open_point(point) for point in report.open_points],
        "does_not_apply": list[JsonValue](report.does_not_apply),
        "rollback_strategy": report.rollback,
        "citations": _citations(report.citations),
        "answer": report.answer,
        "judged_answer": run.answer,
        "excluded": list[JsonValue](run.excluded),
        "coverage": _coverage(report),
        "success_criteria": _results(report.criteria),
        "untraced": [one.model_dump(mode="json") for one in run.final.untraced] if run.final else [],
        "requests": [_request(one) for one in report.requests],
        "plans": [_plan(plan) for plan in report.plans],
        "steps": _steps(report.plan) if report.plan else [],
        "files": _files(report),
        "refused_tool_calls": _refused(run),
        **_used(report),
        "events": _events(run),
    }


def _files(report: RunReading) -> JsonValue:
    return [
        {"path": file.path, "sha256": file.info.sha256, "size": file.info.size}
        for file in report.made
        if file.change != "removed"
    ]


def _events(run: Run) -> JsonValue:
    """The names in their data are sorted: PostgreSQL keeps them in another order than they were written in."""
    return [
        {"seq": seq, "kind": kind, "at": at.isoformat(), "data": dict(sorted(data.items()))}
        for seq, kind, at, data in run.events.order_by("seq").values_list("seq", "kind", "at", "data")
    ]


def _open_point(point: OpenPoint) -> JsonValue:
    return {
        "kind": point.kind,
        "about": point.about,
        "sentence": point.sentence,
        "severity": point.severity,
        "unmet": [asdict(one) for one in point.unmet],
        "attempts": [asdict(one) for one in point.reviews],
    }


def _request(one: Request) -> JsonValue:
    """What a person asked for. `status`: met, not_met, not_provable, answered (the plan says where), or open."""
    gate = one.gate
    return {
        "number": one.number,
        "by": str(gate.decided_by),
        "at": gate.decided_at.isoformat() if gate.decided_at else None,
        "words": one.words,
        "about": about_request(gate),
        "status": one.status,
        "doubtful": bool(one.result and one.result.weak),
        "where": one.where,
        "planned": list[JsonValue](one.planned),
        "attempt": one.attempt.number if one.attempt else None,
        "result": one.result.model_dump(mode="json") if one.result else None,
    }


def _coverage(report: RunReading) -> JsonValue:
    """By file, which lines were shown to any executor."""
    return _covered(report.coverage.files)


def _covered(files: Iterable[Covered]) -> JsonValue:
    """`extent` as in `pev.input_coverage`."""
    return [
        {
            "path": one.path,
            "extent": one.extent.value,
            "ranges": [list[JsonValue](span) for span in one.ranges],
            "lines": one.lines,
            "problem": one.problem,
            "notes": list[JsonValue](one.notes),
        }
        for one in files
    ]


def _citations(found: RunCitations) -> JsonValue:
    return {
        "sentence": found.sentence,
        "found": sum(1 for one in found.all if not one.broken),
        "corrected": list[JsonValue](found.corrected),
        "broken": [str(one) for one in found.broken],
        "weak": found.weak,
        "documents": [
            {
                "path": document.path or None,
                "problem": document.cited.problem,
                "citations": _cited(document.cited),
                "uncited": [asdict(one) for one in document.uncited],
            }
            for document in found.documents
        ],
    }


def _cited(cited: Cited) -> list[JsonValue]:
    """`line` is in the text that cites; `source_start` and `source_end` are characters of the source's text."""
    left_out = {"plain", "by_form"}
    return [{name: value for name, value in asdict(one).items() if name not in left_out} for one in cited.links]


def _refused(run: Run) -> list[JsonValue]:
    calls = run.tool_calls.refused().select_related("attempt__step").order_by("id")
    return [
        {
            "step_id": call.attempt.step.key if call.attempt else None,
            "attempt": call.attempt.number if call.attempt else None,
            "tool": call.name,
            "agent": call.agent or None,
            "problem": call.result[:MAX_PROBLEM],
        }
        for call in calls
    ]


def _used(report: RunReading) -> dict[str, JsonValue]:
    used = report.totals
    return {
        "model_calls": used.calls,
        "unpriced_calls": used.unpriced,
        "cost_usd": figures.usd(used.cost),
        "totals": figures.totals(used),
        "totals_by_role": figures.by_role(report.roles),
        "costs": figures.costs(report.costs),
        "metrics": figures.metrics(report.figures),
    }


def _plan(plan: PlanReading) -> JsonValue:
    return {
        "version": plan.row.version,
        "status": plan.row.status,
        "fingerprint": plan.fingerprint,
        "reason": plan.row.reason,
        "dropped_steps": list[JsonValue](plan.dropped),
        "relaxed": list[JsonValue](plan.row.relaxed),
        "author": plan.row.author.get_username() if plan.row.author else None,
        "changes": changes.as_json(plan.changes),
        "steps": _steps(plan),
        "approved_by": plan.row.approved_by.get_username() if plan.row.approved_by else None,
        "approved_how": plan.row.approved_how,
        "estimate": plan.row.estimate.model_dump(mode="json") if plan.row.estimate else None,
    }


def _steps(plan: PlanReading) -> list[JsonValue]:
    return [_step(step) for step in plan.steps]


def _step(step: StepReading) -> JsonValue:
    return {
        "step_id": step.row.key,
        "name": step.name,
        "status": step.row.status,
        "complexity": step.row.complexity,
        "agent": step.row.spec.agent or None,
        "kept": step.row.reused_from_id is not None,
        **_coverage_of(step),
        "attempts": [_attempt(attempt) for attempt in step.own_attempts],
    }


def _coverage_of(step: StepReading) -> dict[str, JsonValue]:
    """The files of which something was shown at the step, as for the run, up to MAX_COVERED; `files_shown` is all."""
    files = step.plan.rows.coverage.of_step(step.row.pk)
    return {"coverage": _covered(files[:MAX_COVERED]), "files_shown": len(files)}


def _attempt(attempt: AttemptReading) -> JsonValue:
    row, verdict = attempt.row, attempt.verdict
    return {
        "number": row.number,
        "status": row.status,
        "agent": row.agent.digest if row.agent else None,
        "subagents": {name: one.digest for name, one in row.subagents.items()},
        "confidence": attempt.confidence,
        "findings": row.output.findings if row.output else "",
        "citations": _cited(cited_in(row.output.findings, row)) if row.output else [],
        "files": list[JsonValue](row.overlay),
        "deviations": list[JsonValue](attempt.deviations),
        "reused_from": _source(row.reused_from) if row.reused_from else None,
        "feedback": verdict.feedback if verdict else "",
        "verdict": _verdict(verdict, attempt.results) if verdict else None,
    }


def _source(earlier: Attempt) -> JsonValue:
    return {"run": earlier.step.plan.run_id, "step_id": earlier.step.key, "attempt": earlier.number}


def _verdict(verdict: Verdict, results: Iterable[CriterionResult]) -> JsonValue:
    return {
        "passed": verdict.passed,
        "action": verdict.action,
        "severity": verdict.severity,
        "stage": verdict.stage,
        "notes": list[JsonValue](verdict.notes),
        "results": _results(results),
        "requests": [one.model_dump(mode="json") for one in verdict.requests],
        "untraced": [one.model_dump(mode="json") for one in verdict.untraced],
    }


def _results(judged: Iterable[CriterionResult]) -> JsonValue:
    return [_result(one) for one in judged]


def _result(one: CriterionResult) -> JsonValue:
    """As it is stored, with what its evidence rests on, in words."""
    return one.model_dump(mode="json") | {
        "decided": one.decided,
        "rests_on": list[JsonValue](one.rests_on),
        "doubtful": one.weak,
    }
