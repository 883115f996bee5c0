"""Owns the report as a Markdown file, written from the report value alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from runs.models import Run
from runs.queries import Totals
from runs.reports.build import build
from runs.reports.escaping import block, code, line
from runs.reports.report import Decision, DoneStep, JudgedCriterion, PlanVersion, Report, TriedAttempt


def as_markdown(run: Run) -> str:
    """The report of a run as of now."""
    return render(build(run))


def render(report: Report) -> str:
    """UTF-8 text ending in a newline. Text of models, files and people is quoted, never structure."""
    parts: list[str] = []
    for section in (_head, _answer, _criteria, _files, _plans, _decisions, _calls, _foot):
        parts += [*section(report), ""]
    return "\n".join(parts).rstrip() + "\n"


def _head(report: Report) -> list[str]:
    rows = [f"# {report.verdict + ': ' if report.verdict else ''}{line(report.title)}", ""]
    if report.gaps:
        rows += ["**What is missing**", "", *(f"- {line(gap)}" for gap in report.gaps), ""]
    if report.twin:
        rows += [f"One model judged its own work: executor and verifier are both {code(report.twin)}, by policy.", ""]
    if report.no_ai:
        rows += ["No AI was involved: offline rules did this work.", ""]
    met = f"{report.met} of {len(report.criteria)} met, each by evidence that the server checked"
    rows += [
        f"- Run: {report.run_id}, submitted by {line(report.owner)}",
        f"- Outcome: {report.outcome or f'none yet ({report.status})'}",
        f"- Success criteria: {met if report.criteria else 'not judged'}",
        f"- Submitted: {_time(report.created)}",
        f"- Finished: {_time(report.finished) or 'not yet'}",
        f"- Input files: {report.input_count}, {report.input_size:,} bytes, tree {code(report.inputs_digest)}",
        f"- Cost: {_cost(report.totals)}",
        "",
        "## Request",
        "",
        *block(report.request),
    ]
    return rows


def _answer(report: Report) -> list[str]:
    return ["## Final answer", "", *(block(report.answer) if report.answer else ["There is no final answer."])]


def _criteria(report: Report) -> list[str]:
    rows = ["## Success criteria", ""]
    if not report.criteria:
        return [*rows, "They have not been judged."]
    for criterion in report.criteria:
        rows += _criterion(criterion, "")
    return rows


def _criterion(criterion: JudgedCriterion, indent: str) -> list[str]:
    state = "met" if criterion.passed else "NOT MET"
    rows = [f"{indent}- **{state}**: {line(criterion.text)}"]
    if criterion.feedback and not criterion.passed:
        rows.append(f"{indent}  - Feedback: {line(criterion.feedback)}")
    for proof in criterion.proofs:
        kind = "Evidence" if proof.verified else "Not accepted as evidence"
        sha = f" (SHA-256 {code(proof.sha256)})" if proof.sha256 else ""
        rows.append(f"{indent}  - {kind}: {line(proof.sentence)}{sha}")
    return rows


def _files(report: Report) -> list[str]:
    rows = ["## Files made", ""]
    if not report.files:
        return [*rows, "The run made and changed no files."]
    rows += ["| File | | Bytes | SHA-256 |", "|---|---|---:|---|"]
    return rows + [f"| {line(file.path)} | {file.change} | {file.size:,} | {file.sha256} |" for file in report.files]


def _plans(report: Report) -> list[str]:
    rows = ["## Plans and steps"]
    if not report.plans:
        return [*rows, "", "There is no plan."]
    for plan in report.plans:
        rows += ["", *_plan(plan)]
    return rows


def _plan(plan: PlanVersion) -> list[str]:
    rows = [f"### Plan version {plan.version} ({plan.status})", "", f"- Goal: {line(plan.goal)}"]
    if plan.reason:
        rows.append(f"- Why this version: {line(plan.reason)}")
    if plan.dropped:
        rows.append(f"- Steps dropped from the version before: {line(', '.join(plan.dropped))}")
    rows += [f"- Asks for less than what was agreed: {line(sentence)}" for sentence in plan.weakened]
    rows.append(f"- Digest: {code(plan.digest)}")
    if plan.approved_how:
        rows.append(f"- Approved: {line(plan.approved_by)}, {_time(plan.approved_at)}, by {line(plan.approved_how)}")
    rows += [_decision(one) for one in plan.decisions]
    for step in plan.steps:
        rows += ["", *_step(step)]
    return rows


def _step(step: DoneStep) -> list[str]:
    rows = [f"#### {line(step.name)} ({code(step.key)}): {step.status}", ""]
    rows += [f"Complexity {step.complexity}. {line(step.description)}", ""]
    if step.kept_from:
        rows.append(f"- Kept from version {step.kept_from}: definition and inputs are unchanged.")
    for attempt in step.attempts:
        rows += _attempt(attempt)
    return rows


def _attempt(attempt: TriedAttempt) -> list[str]:
    sure = "" if attempt.confidence is None else f", confidence {attempt.confidence:.0%}"
    rows = [f"- Attempt {attempt.number}: **{attempt.status}**{sure}, {_time(attempt.started)}"]
    if attempt.source:
        rows.append(f"  - Result taken over from {attempt.source}; it cost nothing here.")
    for criterion in attempt.criteria:
        rows += _criterion(criterion, "  ")
    if attempt.feedback:
        rows += ["  - Critique:", "", *block(attempt.feedback, "    "), ""]
    rows += [f"  - Note: {line(note)}" for note in attempt.notes]
    rows += [f"  - Differs from the plan: {line(one)}" for one in attempt.deviations]
    return rows + [f"  {_decision(one)}" for one in attempt.decisions]


def _decision(one: Decision) -> str:
    reason = f" Reason: {line(one.reason)}" if one.reason else ""
    return f"- {line(one.by)} {one.status} it, {_time(one.at)}, by {line(one.how)}.{reason}"


def _decisions(report: Report) -> list[str]:
    if not report.other_decisions:
        return []
    listed: Iterable[Decision] = report.other_decisions
    return ["## Other decisions", "", *(f"{_decision(one)} {line(one.question)}" for one in listed)]


def _calls(report: Report) -> list[str]:
    rows = ["## Model calls", ""]
    if not report.roles:
        return [*rows, "No model was called."]
    rows += [
        "| Role | Model | Calls | Input | Output | From cache | To cache | Cost |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    named = [(one.role, line(one.model), one.totals) for one in report.roles]
    for role, model, totals in [*named, ("all", "", report.totals)]:
        figures = (totals.input_tokens, totals.output_tokens, totals.cache_read_tokens, totals.cache_write_tokens)
        tokens = " | ".join(f"{figure:,}" for figure in figures)
        rows.append(f"| {role} | {model} | {totals.calls} | {tokens} | {_cost(totals)} |")
    return [*rows, "", "Tokens by kind, as the service reported them."]


def _foot(report: Report) -> list[str]:
    return [
        "---",
        "",
        "Outcome and success criteria were computed by pevsite from checked evidence; no model can raise them.",
        f"Written {_time(timezone.now())}.",
    ]


def _cost(totals: Totals) -> str:
    """USD; unpriced calls are said as such, and a sum that may be more begins with “at least”."""
    if totals.unpriced and totals.unpriced == totals.calls:
        return "unpriced"
    amount = f"${totals.cost.quantize(Decimal('0.0001')):,}"
    least = "at least " if totals.lower_bounds or totals.unpriced else ""
    more = f", {totals.unpriced} calls unpriced" if totals.unpriced else ""
    return f"{least}{amount}{more}"


def _time(moment: datetime | None) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S %Z}" if moment else ""
