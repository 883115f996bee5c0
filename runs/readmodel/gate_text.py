"""What an open question is about, as lines of text: the terminal and the REST API show the same as the page."""

from collections.abc import Iterable, Iterator

from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.gates.tool_gate import call_of, reasons_for
from runs.lifecycle.supplied_files import missing_at
from runs.models import Gate
from runs.pev.contracts import Criterion
from runs.pev.outcome import OpenPoint
from runs.readmodel.gate_details import ErrorGateWords, held_at
from runs.readmodel.plan_view import AttemptReading, PlanReading, StepReading
from runs.readmodel.run_view import RunReading, reading_of
from runs.readmodel.status_words import check_in_words
from runs.text.diff import DiffPiece
from runs.text.visible import visible_text

MAX_FILES = 200
MAX_FINDINGS = 30
"""Lines of findings that are shown. The page and the report have all of them."""


def about(gate: Gate, run: RunReading | None = None) -> list[str]:
    """The question, and what it is about: the plan with what its steps write, or an attempt with its files. `run`: what
    was read of its run, if it was.
    """
    run = run or reading_of(gate.run)
    lines = []
    for line in (gate.question, *_subject(run.row_of(gate), run)):
        text = visible_text(line)
        indent = text[: len(text) - len(text.lstrip(" "))]
        lines.append(indent + " ".join(text.split()))  # a line break in a text must not begin a line like ours
    return lines


def _subject(gate: Gate, run: RunReading) -> Iterator[str]:
    yield from (f"{number}. {choice}" for number, choice in enumerate(gate.choices, 1))
    if gate.call:
        yield from call_of(gate).lines(reasons_for(gate))
    gate_type, plan = type_of(gate), run.plan
    if held := held_at([gate], plan).get(gate.pk):
        yield from _error(held)
    if plan is None:
        return
    if gate_type.makes_requests:
        for one in run.requests:
            yield f"request {one.number} of {one.gate.decider}, {one.state}: {one.sentence}"
            yield from (f"    the plan: {place}" for place in one.planned)
    missing = [f"! not among the files: {path}" for path in missing_at(gate)] if gate_type.takes_files else []
    if gate_type.subject is Subject.PLAN:
        yield from missing
        yield from _plan(plan)
    for step in plan.steps:
        if gate_type.subject is Subject.START and step.row.pk == gate.step_id:
            yield from _step(step)
            yield f"    may read: {', '.join(step.row.spec.inputs) or 'all of your files'}"
            if cost := step.estimate:
                yield f"Estimated cost: ${cost.low:.2f} to ${cost.high:.2f}"
        for attempt in step.attempts:
            if attempt.row.pk == gate.attempt_id:
                if gate_type.subject is Subject.UNPASSED:
                    yield from _unmet(step.open_point)
                    yield from missing
                yield from _attempt(attempt)


def _plan(plan: PlanReading) -> Iterator[str]:
    yield f"Goal: {plan.row.header.goal}"
    yield from (f"! {one.whose} {one.said}" for one in plan.lost_edits)
    yield from (f"! not as agreed: {sentence}" for sentence in plan.row.relaxed)
    if plan.before:
        yield f"Since version {plan.before.row.version}: {' · '.join(one.words for one in plan.news)}"
    for step in plan.steps:
        yield from _step(step)
    yield from (f"{who}: {what}" for who, what in plan.judging)
    if plan.sources_needed and plan.unsourced:
        yield f"! not compared with {plan.sources}: {plan.unsourced_words}"
    yield from (f"! {sentence}" for sentence in plan.not_read)
    yield "Done when"
    yield from _criteria(plan.row.header.success_criteria)
    yield from [f"! {plan.effect}"] if plan.effect else []
    if cost := plan.estimate:
        yield f"Estimated cost: ${cost.low:.2f} to ${cost.high:.2f}; based on {cost.basis.words}"


def _step(step: StepReading) -> Iterator[str]:
    spec = step.row.spec
    after = f" after {', '.join(spec.dependencies)}" if spec.dependencies else ""
    news = f", {step.news}" if step.news else ""
    yield f"- {spec.step_id} ({spec.estimated_complexity}{news}){after}: {spec.name}"
    yield f"    {spec.description}"
    yield from _criteria(spec.acceptance_criteria)
    yield f"    writes: {', '.join(spec.outputs) or 'no files'}"
    if spec.tools:
        yield f"    may use: {', '.join(spec.tools)}"
    if agent := step.agent:
        yield f"    agent: {agent.name}{f': {agent.definition.purpose}' if agent.definition else ''}"
    for agent in filter(None, [step.agent, *step.subagents]):
        yield from [f"!   {agent.problem}"] if agent.problem else []
        yield from (f"!   {one.what}: {' '.join(map(_word_diff, one.pieces))}" for one in agent.changes)
    yield from (f"!   {effect}" for effect in step.effects)
    yield from (f"    uses {action.tool}: {action.purpose}" for action in spec.actions)


def _word_diff(piece: DiffPiece) -> str:
    """A word diff in the notation of git."""
    match piece.kind:
        case "removed":
            return f"[-{piece.text}-]"
        case "added":
            return f"{{+{piece.text}+}}"
        case "same":
            return piece.text


def _error(held: ErrorGateWords) -> Iterator[str]:
    """An error: what helps, what was tried, and what the answers lead to."""
    if held.cause:
        yield f"! what helps: {held.cause.helps}"
    yield from (f"! {sentence}" for sentence in [held.tried] if sentence)
    yield f"approve: {held.again}"
    yield f"reject: {held.changes or 'There is no plan yet that could be changed.'}"


def _criteria(criteria: Iterable[Criterion]) -> Iterator[str]:
    for one in criteria:
        check = f" [check: {check_in_words(one.check)}]" if one.check else ""
        yield f"    must hold ({one.topic}): {one.text}{check}"


def _unmet(point: OpenPoint) -> Iterator[str]:
    """A step that did not pass: the criteria that were not met, then the attempts."""
    yield from (f"! {'not judged' if one.status == 'not judged' else 'not met'}: {one.sentence}" for one in point.unmet)
    if point.severity:
        yield f"! {point.severity.words}"
    for one in point.reviews:
        who = f", {one.by}" if one.by else ""
        yield f"! attempt {one.attempt}{who}: {one.said or one.status}"


def _attempt(attempt: AttemptReading) -> Iterator[str]:
    """An attempt, as on its page: files, deviations from the plan, verdict, findings."""
    for path, info in attempt.written[:MAX_FILES]:
        yield f"wrote {path} ({info.size:,} bytes)" if info else f"removed {path}"
    if len(attempt.written) > MAX_FILES:
        yield f"and {len(attempt.written) - MAX_FILES:,} more files"
    yield from (f"! differs from the plan: {sentence}" for sentence in attempt.deviations)
    if verdict := attempt.verdict:
        for one in attempt.results:  # with who decided, what the evidence rests on, and whether it is doubtful
            basis = "; ".join([one.decided, *([", ".join(one.rests_on)] if one.met and one.rests_on else [])])
            doubt = "; its evidence is doubtful" if one.weak else ""
            yield f"{'met' if one.met else 'NOT MET'}: {one.text} ({basis}){doubt}"
            if said := one.overruled:
                yield f"  {said.words}: {said.reason}"
        yield from (f"note: {note}" for note in verdict.remarks)
        yield from (f"critique: {line}" for line in verdict.feedback.splitlines())
    if attempt.output:
        lines = attempt.output.findings.splitlines()
        yield from (f"| {line}" for line in lines[:MAX_FINDINGS])
        if len(lines) > MAX_FINDINGS:
            yield f"… {len(lines) - MAX_FINDINGS} more lines"
