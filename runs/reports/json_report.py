"""Fills the contract of the JSON report with everything that happened in a run, from one reading of it.

USD are decimals as text with six places; durations milliseconds; shares 0 to 1, null where there is nothing to share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from runs.accounting import costs as accounts
from runs.accounting import figures
from runs.accounting.costs import Totals
from runs.contracts.base import Contract
from runs.contracts.feedback import Comment
from runs.enums import (
    Action,
    AttemptStatus,
    Complexity,
    EventKind,
    Outcome,
    PlanStatus,
    Role,
    RunStatus,
    Severity,
    StepStatus,
)
from runs.evidence.citations.citation import Cited
from runs.evidence.results import CriterionResult
from runs.lifecycle.change_requests import ChangeRequest
from runs.models import Run, Verdict
from runs.pev.input_coverage import FileCoverage
from runs.readmodel import plan_differences as differences
from runs.readmodel.plan_view import AttemptReading, PlanReading, StepReading
from runs.readmodel.run_view import RunReading
from runs.readmodel.shown_citations import RunCitations, cited_in
from runs.readmodel.status_words import about_request
from runs.reports import contract

MAX_PROBLEM = 600
"""Characters of the result of a refused tool call."""
MAX_COVERED = 200
"""Files that are listed with each step. The run lists all files."""


def as_json(reading: RunReading) -> dict[str, JsonValue]:
    return report_of(reading).model_dump(mode="json")


def report_of(reading: RunReading) -> contract.Report:
    """The JSON report. `runs/reports/contract.py` describes its fields."""
    run, used = reading.run, reading.totals
    return contract.Report(
        run=run.pk,
        title=run.title,
        request=run.request,
        status=RunStatus(run.status),
        outcome=Outcome(run.outcome) if run.outcome else None,
        failure=run.failure,
        ended=run.ended,
        policy=run.policy,
        judged_its_own_work=reading.same_model,
        no_sources=reading.no_sources,
        gaps=list(reading.gaps),
        open_points=[
            contract.OpenPoint(
                kind=point.kind,
                about=point.about,
                sentence=point.sentence,
                severity=point.severity,
                unmet=[_same(contract.Unmet, one) for one in point.unmet],
                attempts=[_same(contract.Review, one) for one in point.reviews],
                accepted_by=point.accepted_by,
            )
            for point in reading.open_points
        ],
        judged_by_people=reading.by_people,
        does_not_apply=list(reading.does_not_apply),
        rollback_strategy=reading.rollback,
        citations=_citations(reading.citations),
        answer=reading.answer,
        judged_answer=run.answer,
        excluded=list(run.excluded or ()),
        coverage=_covered(reading.coverage.files) if reading.coverage else None,
        success_criteria=_results(reading.criteria),
        untraced=list(run.final.untraced) if run.final else [],
        requests=[_request(one) for one in reading.requests],
        plans=[plan_of(plan) for plan in reading.plans],
        steps=[step_of(step) for step in reading.plan.steps] if reading.plan else [],
        files=[
            contract.File(path=file.path, sha256=file.info.sha256, size=file.info.size)
            for file in reading.made
            if file.change != "removed"
        ],
        refused_tool_calls=_refused(run),
        model_calls=used.calls,
        unpriced_calls=used.unpriced,
        cost_usd=_usd(used.cost),
        totals=totals_of(used),
        totals_by_role=[
            contract.RoleTotals(role=Role(one.role), model=one.model, **dict(totals_of(one.totals)))
            for one in reading.roles
        ],
        costs=_costs(reading.costs) if reading.costs else None,
        metrics=metrics_of(reading.figures),
        events=_events(run),
    )


def _same[C: Contract](model: type[C], value: object) -> C:
    """Fill the fields of a contract from the attributes with the same names."""
    return model.model_validate(value, from_attributes=True)


def _citations(found: RunCitations) -> contract.Citations:
    return contract.Citations(
        sentence=found.sentence,
        found=sum(1 for one in found.all if not one.broken),
        corrected=list(found.corrected),
        broken=[str(one) for one in found.broken],
        weak=found.weak,
        documents=[
            contract.Document(
                path=document.path or None,
                problem=document.cited.problem,
                citations=_cited(document.cited),
                uncited=[_same(contract.Uncited, one) for one in document.uncited],
            )
            for document in found.documents
        ],
    )


def _cited(cited: Cited) -> list[contract.Citation]:
    return [_same(contract.Citation, one) for one in cited.links]


def _covered(files: Iterable[FileCoverage]) -> list[contract.Covered]:
    return [_same(contract.Covered, one) for one in files]


def _results(judged: Iterable[CriterionResult]) -> list[contract.Result]:
    return [_result(one) for one in judged]


def _result(one: CriterionResult) -> contract.Result:
    return contract.Result(
        label=one.label,
        text=one.text,
        decided_by=one.decided_by,
        claimed=one.claimed,
        supported=one.supported,
        passed=one.passed,
        confidence=one.confidence,
        feedback=one.feedback,
        evidence=one.evidence,
        about=one.about,
        each=one.each,
        looked_at=one.looked_at,
        out_of=one.out_of,
        unit=one.unit,
        lacking=one.lacking,
        decided=one.decided,
        rests_on=list(one.rests_on),
        doubtful=one.weak,
        overruled=contract.Overruled(
            by=one.overruled.by,
            met=one.overruled.met,
            reason=one.overruled.reason,
            at=one.overruled.at.isoformat(),
        )
        if one.overruled
        else None,
    )


def _request(one: ChangeRequest) -> contract.Request:
    gate = one.gate
    return contract.Request(
        number=one.number,
        by=gate.decider,
        at=gate.decided_at.isoformat() if gate.decided_at else None,
        words=one.words,
        about=about_request(gate),
        status=one.status,
        doubtful=bool(one.result and one.result.weak),
        where=one.where,
        planned=list(one.planned),
        attempt=one.attempt.number if one.attempt else None,
        result=one.result,
    )


def plan_of(plan: PlanReading) -> contract.Plan:
    """A version of the plan, with what became of its steps."""
    row = plan.row
    return contract.Plan(
        version=row.version,
        status=PlanStatus(row.status),
        fingerprint=plan.fingerprint,
        reason=row.reason,
        dropped_steps=list(plan.dropped),
        relaxed=list(row.relaxed),
        author=row.author.get_username() if row.author else None,
        changes=_changes(plan.changes) if plan.changes else None,
        steps=[step_of(step) for step in plan.steps],
        approved_by=row.approved_by.get_username() if row.approved_by else None,
        approved_how=row.approved_how,
        estimate=row.estimate,
    )


def _changes(changes: differences.PlanComparison) -> contract.PlanChanges:
    return contract.PlanChanges(
        since=changes.before,
        summary=changes.summary,
        steps=[_step_change(one) for one in changes.steps],
        success_criteria=[_criterion_change(one) for one in changes.criteria],
        whole=[_same(contract.TextChange, one) for one in changes.whole],
        requests=_numbers(changes.comments),
    )


def _step_change(one: differences.StepChange) -> contract.StepChange:
    return contract.StepChange(
        kind=one.kind,
        step_id=one.key,
        name=one.name,
        number=one.number,
        was=one.was,
        texts=[_same(contract.TextChange, text) for text in one.changes],
        criteria=[_criterion_change(criterion) for criterion in one.criteria],
        relaxed=list(one.relaxed),
        requests=_numbers(one.comments),
    )


def _criterion_change(one: differences.CriterionChange) -> contract.CriterionChange:
    return contract.CriterionChange(
        kind=one.kind,
        number=one.number,
        text=one.text,
        texts=[_same(contract.TextChange, text) for text in one.changes],
        relaxed=one.relaxed,
    )


def _numbers(comments: Iterable[Comment]) -> list[int]:
    return [one.request for one in comments if one.request]


def step_of(step: StepReading) -> contract.Step:
    """A step with its own attempts: not with those of the step that it takes over."""
    row, found = step.row, step.plan.rows.coverage
    files: Sequence[FileCoverage] | None = found.of_step(row.pk) if found else None
    return contract.Step(
        step_id=row.key,
        name=step.name,
        status=StepStatus(row.status),
        complexity=Complexity(row.complexity),
        agent=row.spec.agent or None,
        kept=row.reused_from_id is not None,
        coverage=None if files is None else _covered(files[:MAX_COVERED]),
        files_shown=None if files is None else len(files),
        attempts=[attempt_of(attempt) for attempt in step.own_attempts],
    )


def attempt_of(attempt: AttemptReading) -> contract.Attempt:
    """An attempt with its verdict."""
    row, verdict = attempt.row, attempt.verdict
    return contract.Attempt(
        number=row.number,
        status=AttemptStatus(row.status),
        agent=row.agent.digest if row.agent else None,
        subagents={name: one.digest for name, one in (row.subagents or {}).items()},
        confidence=attempt.confidence,
        findings=row.output.findings if row.output else "",
        citations=_cited(cited_in(row.output.findings, row)) if row.output else [],
        files=list(row.overlay),
        deviations=list(attempt.deviations),
        reused_from=contract.Reused(
            run=row.reused_from.step.plan.run_id, step_id=row.reused_from.step.key, attempt=row.reused_from.number
        )
        if row.reused_from
        else None,
        feedback=verdict.feedback if verdict else "",
        verdict=_verdict(verdict, attempt.results) if verdict else None,
        by_people=attempt.by_people,
    )


def _verdict(verdict: Verdict, results: Iterable[CriterionResult]) -> contract.Verdict:
    return contract.Verdict(
        passed=verdict.passed,
        action=Action(verdict.action),
        severity=Severity(verdict.severity),
        stage=verdict.stage,
        notes=verdict.remarks,
        results=_results(results),
        requests=list(verdict.requests),
        untraced=list(verdict.untraced or ()),
    )


def _refused(run: Run) -> list[contract.Refused]:
    calls = run.tool_calls.refused().select_related("attempt__step").order_by("id")
    return [
        contract.Refused(
            step_id=call.attempt.step.key if call.attempt else None,
            attempt=call.attempt.number if call.attempt else None,
            tool=call.name,
            agent=call.agent or None,
            problem=call.result[:MAX_PROBLEM],
        )
        for call in calls
    ]


def _events(run: Run) -> list[contract.Event]:
    return [event_of(*row) for row in run.events.order_by("seq").values_list("seq", "kind", "at", "data")]


def event_of(seq: int, kind: str, at: datetime, data: dict[str, JsonValue]) -> contract.Event:
    """An event. The names in its data are sorted, because PostgreSQL does not keep their order."""
    return contract.Event(seq=seq, kind=EventKind(kind), at=at.isoformat(), data=dict(sorted(data.items())))


def _usd(amount: Decimal) -> str:
    return f"{amount:.6f}"


def totals_of(used: Totals) -> contract.Totals:
    """What model calls used and cost."""
    return contract.Totals(
        calls=used.calls,
        failed=used.failed,
        tokens=contract.Tokens(
            input=used.input_tokens,
            output=used.output_tokens,
            cache_read=used.cache_read_tokens,
            cache_write_5m=used.cache_write_5m_tokens,
            cache_write_1h=used.cache_write_1h_tokens,
            all=used.tokens,
        ),
        cost_usd=_usd(used.cost),
        unpriced=used.unpriced,
        lower_bounds=used.lower_bounds,
        duration_ms=used.duration_ms,
    )


def _costs(found: accounts.Costs) -> contract.Costs:
    return contract.Costs(
        version=found.version,
        rests_on=found.basis,
        steps=[_cost_line(one) for one in found.steps],
        roles=[_cost_line(one) for one in found.roles],
        planned=_cost_line(found.planned),
        planning=_cost_line(found.planning),
        earlier=_cost_line(found.earlier) if found.earlier else None,
        total=totals_of(found.total),
    )


def _cost_line(one: accounts.CostLine) -> contract.CostLine:
    return contract.CostLine(
        key=one.key,
        name=one.name,
        estimate=_guess(one.guess) if one.guess else None,
        actual=totals_of(one.actual),
        over=one.over,
        standing=one.standing,
        note=one.note,
    )


def _guess(guess: accounts.Guess) -> contract.Guess:
    return contract.Guess(
        low_usd=None if guess.low is None else _usd(guess.low),
        high_usd=None if guess.high is None else _usd(guess.high),
        partly_unpriced=guess.partly,
        tokens=guess.tokens,
    )


def metrics_of(found: figures.Metrics) -> contract.Metrics:
    """The figures of one run or of many."""
    wall = found.runs.wall
    return contract.Metrics(
        doubt=found.doubt,
        replans=found.runs.replans,
        plans_rejected=found.runs.rejected,
        wall_ms=wall.total_ms if wall.count else None,
        steps=_same(contract.StepFigures, found.steps),
        attempts=_same(contract.AttemptFigures, found.attempts),
        phases=[_same(contract.Phase, phase) for phase in found.phases],
        waiting=[
            contract.Waiting(
                kind=one.kind,
                open=one.open,
                count=one.times.count,
                total_ms=one.times.total_ms,
                mean_ms=one.times.mean_ms,
                max_ms=one.times.max_ms,
            )
            for one in found.waiting
        ],
        executor_confidence=[_same(contract.Bucket, one) for one in found.executor],
        verifier_confidence=[_same(contract.Bucket, one) for one in found.verifier],
    )
