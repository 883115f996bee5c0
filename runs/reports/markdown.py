"""The report as a Markdown file, written from one reading of the run."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from django.utils import timezone

from runs.accounting.costs import CostLine
from runs.accounting.totals import Totals
from runs.characters import printable
from runs.enums import Severity
from runs.models import Gate, Run, Verdict
from runs.pev.evidence.results import CriterionResult, Evidence
from runs.reading.attempts import AttemptReading
from runs.reading.citations import cited_in
from runs.reading.escaping import block, code, line
from runs.reading.plans import PlanReading, StepReading
from runs.reading.run import RunReading, reading_of
from runs.reports.citing import in_words


def as_markdown(run: Run) -> str:
    """The report of a run as of now."""
    return render(reading_of(run))


def render(report: RunReading) -> str:
    """UTF-8 text ending in a newline. Text of models, files and people is quoted: never structure, and no terminal
    obeys it.
    """
    parts: list[str] = []
    first = (_head, _answer, _criteria, _requests, _inputs, _files, _plans, _decisions)
    for section in (*first, _uncited, _costs, _calls, _figures, _foot):
        parts += [*section(report), ""]
    return printable("\n".join(parts).rstrip() + "\n")


def _head(report: RunReading) -> list[str]:
    run = report.run
    rows = [f"# {report.verdict_word + ': ' if report.verdict_word else ''}{line(report.run.title)}", ""]
    if report.gaps:
        rows += ["**What is missing**", "", *(f"- {line(gap)}" for gap in report.gaps), ""]
    rows += _citations(report)
    if report.rollback:
        rows += [f"**What the plan says to do with the results now**: {line(report.rollback)}", ""]
    if report.no_sources:
        rows += [line(report.no_sources), ""]
    if report.same_model:
        rows += [
            f"One model judged its own work: executor and verifier are both {code(report.same_model)}, by policy.",
            "",
        ]
    if report.no_ai:
        rows += ["No AI was involved: offline rules did this work.", ""]
    met = f"{report.met} of {len(report.criteria)} met, each by evidence that the server checked"
    rows += [
        f"- Run: {run.pk}, submitted by {line(run.owner)}",
        f"- Outcome: {run.outcome or f'none yet ({run.status})'}",
        f"- Success criteria: {met if report.criteria else 'not judged'}",
        f"- Submitted: {_time(run.created_at)}",
        f"- Finished: {_time(run.finished_at) or 'not yet'}",
        f"- Input files: {run.inputs.file_count}, {run.inputs.total_size:,} bytes, tree {code(run.inputs.digest)}",
        f"- Cost: {_cost(report.totals)}",
        "",
        "## Request",
        "",
        *block(run.request),
    ]
    return rows


def _citations(report: RunReading) -> list[str]:
    """How many there are, and each that is not where it says: files of an archive are as they were written."""
    found = report.citations
    listed = [f"- Broken: {line(sentence)}" for sentence in found.broken]
    listed += [f"- Corrected: {line(sentence)}" for sentence in found.corrected]
    return (
        [f"**{found.sentence}**", "", *([*listed, ""] if listed else [])]
        if found.all or found.broken or found.rest
        else []
    )


def _answer(report: RunReading) -> list[str]:
    answer = in_words(report.answer, cited_in(report.answer, report.run))
    return ["## Final answer", "", *(block(answer) if answer else ["There is no final answer."])]


def _uncited(report: RunReading) -> list[str]:
    rows = [
        f"- {line(document.name)}, line {one.first_line}: {line(one.text)}"
        for document in report.citations.documents
        for one in document.uncited
    ]
    return ["## Paragraphs that state facts without a citation", "", *rows] if rows else []


def _criteria(report: RunReading) -> list[str]:
    rows = ["## Success criteria", ""]
    if not report.criteria:
        return [*rows, "They have not been judged."]
    for criterion in report.criteria:
        rows += _criterion(criterion, "")
    return rows


def _criterion(criterion: CriterionResult, indent: str) -> list[str]:
    state = "met" if criterion.met else "NOT MET"
    rows = [f"{indent}- **{state}**: {line(criterion.text)} ({criterion.decided})"]
    if criterion.feedback and not criterion.met:
        rows.append(f"{indent}  - Feedback: {line(criterion.feedback)}")
    return rows + [f"{indent}  - {_proof(proof)}" for proof in criterion.evidence]


def _proof(proof: Evidence) -> str:
    kind = "Evidence" if proof.verified else "Not accepted as evidence"
    basis = f", {proof.rests_on}" if proof.verified and proof.rests_on else ""
    sha = f" (SHA-256 {code(proof.sha256)})" if proof.sha256 else ""
    statement = f" It supports “{line(proof.statement)}” in {line(proof.statement_where)}." if proof.statement else ""
    weak = f" Doubtful: {line(proof.weak)}." if proof.weak else ""
    return f"{kind}{basis}: {line(proof.sentence)}{sha}{statement}{weak}"


def _inputs(report: RunReading) -> list[str]:
    found = report.coverage
    if found is None or not found.files:
        return []
    return ["## What was read of the input files", "", *(f"- {line(sentence)}" for sentence in found.summary)]


def _requests(report: RunReading) -> list[str]:
    """What people asked for with a rejection; nothing for a run in which nothing was rejected."""
    rows = ["## What people asked for", ""] if report.requests else []
    for one in report.requests:
        gate = one.gate
        rows.append(f"- {one.number}. **{line(one.state)}**: {line(one.words)}")
        rows.append(f"  - {line(gate.decided_by)}, {_time(gate.decided_at)}, of {line(one.about)}")
        rows += [f"  - Feedback: {line(one.result.feedback)}"] if one.result and one.result.feedback else []
        rows += [f"  - The plan: {line(place)}" for place in one.planned]
    return rows


def _files(report: RunReading) -> list[str]:
    rows = ["## Files made", ""]
    if not report.made:
        return [*rows, "The run made and changed no files."]
    rows += ["| File | | Bytes | SHA-256 |", "|---|---|---:|---|"]
    return rows + [
        f"| {line(file.path)} | {file.change} | {file.info.size:,} | {file.info.sha256} |" for file in report.made
    ]


def _plans(report: RunReading) -> list[str]:
    rows = ["## Plans and steps"]
    if not report.plans:
        return [*rows, "", "There is no plan."]
    for plan in report.plans:
        rows += ["", *_plan(plan)]
    return rows


def _plan(reading: PlanReading) -> list[str]:
    plan = reading.row
    rows = [f"### Plan version {plan.version} ({plan.status})", "", f"- Goal: {line(plan.header.goal)}"]
    if plan.reason:
        rows.append(f"- Why this version: {line(plan.reason)}")
    if reading.dropped:
        rows.append(f"- Steps dropped from the version before: {line(', '.join(reading.dropped))}")
    rows += [f"- Asks for less than what was agreed: {line(sentence)}" for sentence in plan.relaxed]
    rows.append(f"- Digest: {code(plan.digest)}")
    if plan.approved_how:
        rows.append(f"- Approved: {line(plan.approved_by)}, {_time(reading.approved_at)}, by {line(plan.approved_how)}")
    rows += [_decision(one) for one in reading.decisions]
    for step in reading.tried_steps:
        rows += ["", *_step(step)]
    return rows


def _step(step: StepReading) -> list[str]:
    rows = [f"#### {line(step.name)} ({code(step.row.key)}): {step.row.status}", ""]
    rows += [f"Complexity {step.row.complexity}. {line(step.row.spec.description)}", ""]
    if step.kept_from:
        rows.append(f"- Kept from version {step.kept_from}: definition and inputs are unchanged.")
    if step.shown:
        rows.append(f"- Read of the input files: {line('; '.join(step.shown))}")
    for attempt in step.own_attempts:
        rows += _attempt(attempt)
    return rows


def _attempt(attempt: AttemptReading) -> list[str]:
    row, verdict, source = attempt.row, attempt.verdict, attempt.row.reused_from
    sure = "" if attempt.confidence is None else f", confidence {attempt.confidence:.0%}"
    rows = [f"- Attempt {row.number}: **{row.status}**{sure}, {_time(row.created_at)}"]
    if source:
        place = f"run {source.step.plan.run_id}, attempt {source.number}"
        rows.append(f"  - Result taken over from {place}; it cost nothing here.")
    for criterion in verdict.results if verdict else []:
        rows += _criterion(criterion, "  ")
    if verdict and not verdict.passed:
        rows.append(f"  - {_severity(verdict)}; the verdict asks for: {verdict.action}")
    if verdict and verdict.feedback:
        rows += ["  - Critique:", "", *block(in_words(verdict.feedback, cited_in(verdict.feedback, row)), "    "), ""]
    rows += [f"  - Note: {line(note)}" for note in (verdict.notes if verdict else [])]
    rows += [f"  - Differs from the plan: {line(one)}" for one in attempt.deviations]
    return rows + [f"  {_decision(one)}" for one in attempt.decisions]


def _severity(verdict: Verdict) -> str:
    return f"{verdict.severity.capitalize()}: {Severity(verdict.severity).meaning}"


def _decision(one: Gate) -> str:
    reason = f" Reason: {line(one.reason)}" if one.reason else ""
    return f"- {line(one.decided_by)} {one.status} it, {_time(one.decided_at)}, by {line(one.decided_how)}.{reason}"


def _decisions(report: RunReading) -> list[str]:
    if not report.other_decisions:
        return []
    return ["## Other decisions", "", *(f"{_decision(one)} {line(one.question)}" for one in report.other_decisions)]


def _costs(report: RunReading) -> list[str]:
    costs = report.costs
    rows = ["## Estimate against actual", ""]
    if costs is None:
        return [*rows, "There is no plan, so nothing was estimated."]
    basis = f" The estimate rests on {line(costs.basis)}." if costs.basis else " Nothing was estimated for it."
    rows += [f"Of version {costs.version} of the plan, without the results that it keeps.{basis}", ""]
    rows += ["| Part | Estimated | Actual | | Tokens estimated | Tokens used |", "|---|---:|---:|---|---:|---:|"]
    beside = [costs.planning, *([costs.earlier] if costs.earlier else [])]
    rows += [_cost_row(one) for one in (*costs.steps, *costs.roles, costs.planned, *beside)]
    return [*rows, f"| All of the run | | {_cost(costs.total)} | | | {costs.total.tokens:,} |"]


def _cost_row(one: CostLine) -> str:
    guess = one.guess
    note = "; ".join(filter(None, (one.standing, one.note)))
    money, tokens = "not estimated", ""
    if guess:
        known = guess.low is not None and guess.high is not None
        money = f"{'at least ' if guess.partly else ''}{_usd(guess.low)} to {_usd(guess.high)}" if known else "unpriced"
        tokens = f"{guess.tokens[0]:,} to {guess.tokens[1]:,}" if guess.tokens else ""
    used = _cost(one.actual) if one.actual.calls else "nothing"
    return f"| {line(one.name)} | {money} | {used} | {note} | {tokens} | {one.actual.tokens:,} |"


def _calls(report: RunReading) -> list[str]:
    rows = ["## Model calls", ""]
    if not report.roles:
        return [*rows, "No model was called."]
    rows += [
        "| Role | Model | Calls | Input | Output | From cache | To cache, 5 min | To cache, 1 h | Cost |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    named = [(one.role, line(one.model), one.totals) for one in report.roles]
    for role, model, totals in [*named, ("all", "", report.totals)]:
        figures = (
            totals.input_tokens,
            totals.output_tokens,
            totals.cache_read_tokens,
            totals.cache_write_5m_tokens,
            totals.cache_write_1h_tokens,
        )
        tokens = " | ".join(f"{figure:,}" for figure in figures)
        rows.append(f"| {role} | {model} | {totals.calls} | {tokens} | {_cost(totals)} |")
    return [*rows, "", "Tokens by kind, as the service reported them."]


def _figures(report: RunReading) -> list[str]:
    found = report.figures
    steps, attempts = found.steps, found.attempts
    rows = [
        "## Figures",
        "",
        f"- Steps attempted: {steps.attempted}; {steps.passed} passed, {steps.accepted} accepted with issues, "
        f"{steps.failed} failed, {steps.dropped} dropped; {steps.reused} more took over an earlier result",
        f"- First-pass yield: {_share(steps.first_pass, steps.ended)}{f'. {found.doubt}' if found.doubt else ''}",
        f"- Pass rate: {_share(steps.passed, steps.ended)}",
        f"- Attempts judged: {attempts.judged}; {attempts.passed} passed, {attempts.sent_back} of them sent back by "
        f"a person; {attempts.retries} retries",
        f"- Steps that were retried after a failure: {steps.retried}; {steps.recovered} of them passed",
        f"- Replans: {found.runs.replans}; plans rejected by a person: {found.runs.rejected}",
        f"- Verdicts with unsupported claims: {attempts.unsupported}",
        f"- Time from submission to the end: {_seconds(found.runs.wall.total_ms) or 'not finished'}",
        f"- Waiting at {found.waited.count} gates: {_seconds(found.waited.total_ms) or 'none'}",
    ]
    rows += [
        f"- {phase.name.capitalize()}: {_seconds(phase.model_ms) or 'no time'} in {phase.calls} model calls"
        + (f", {_seconds(phase.tool_ms)} in tools" if phase.tool_ms else "")
        for phase in found.phases
    ]
    for who, buckets, what in (
        ("The executor", found.executor, "passed"),
        ("The verifier", found.verifier, "had evidence"),
    ):
        rows += [
            f"- {who} said {one.claimed:.0%} on average ({one.label}): {_share(one.held, one.count)} {what}"
            for one in buckets
        ]
    return rows


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%} ({part} of {whole})" if whole else "none has ended"


def _seconds(duration_ms: int) -> str:
    return f"{duration_ms / 1_000:,.1f} s" if duration_ms else ""


def _foot(report: RunReading) -> list[str]:
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
    amount = _usd(totals.cost)
    least = "at least " if totals.lower_bounds or totals.unpriced else ""
    more = f", {totals.unpriced} calls unpriced" if totals.unpriced else ""
    return f"{least}{amount}{more}"


def _usd(amount: Decimal | None) -> str:
    return "unpriced" if amount is None else f"${amount.quantize(Decimal('0.0001')):,}"


def _time(moment: datetime | None) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M:%S %Z}" if moment else ""
