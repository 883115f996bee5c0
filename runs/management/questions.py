"""Gates in the terminal: a person is shown the same as on the page, and answers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.core.management.base import CommandError

from runs.enums import Verb
from runs.lifecycle.gates.gate_type import Decision, Subject
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.gates.tool_gate import call_of, reasons_for
from runs.lifecycle.run_limits import parse_limits
from runs.lifecycle.supplied_files import asks_for_files, missing_at
from runs.models import Gate
from runs.pev.contracts import Criterion
from runs.pev.outcome import OpenPoint
from runs.readmodel.gate_details import ErrorGateWords, held_at
from runs.readmodel.plan_view import AttemptReading, PlanReading, StepReading
from runs.readmodel.run_view import reading_of
from runs.readmodel.status_words import check_in_words
from runs.text.diff import DiffPiece
from runs.text.normalisation import caseless
from runs.text.paths import base_name
from runs.text.plural import ordinal
from runs.text.truncate import truncate
from runs.text.visible import visible_text

INDENT = "      "
_DECISIONS = {"a": "approve", "r": "reject", "s": "stop"}
_YES = {"y": "yes", "n": "no"}
_YES_OR_AGAIN = "[y]es, or [n]o to be asked again: "
_NUMBER = re.compile(
    r"(?:the\s)?(?:(?:no\.?|number|choice|option|answer)\s?)?[#(\[]?\s*(\d{1,9})(?:st|nd|rd|th)?\s*[.):\]!]?"
    r"(?:\s(?:one|choice|option|answer))?",
    re.IGNORECASE,
)
"""A number that may be the place of a choice: `2`, `#2`, `2nd`, `option 2`, `the 2nd one`."""
_MAX_SHOWN = 200


class NoTerminal(CommandError):
    """There is no terminal, so that no question can be asked."""

    def __init__(self) -> None:
        sentence = "There is no terminal to ask in. Decide in the browser, or use --approve-all."
        super().__init__(sentence, returncode=2)


@dataclass(frozen=True)
class MissingFiles:
    """A file or folder that is given instead of a decision. `name_as`: the missing path that the file takes."""

    path: Path
    name_as: str = ""


def decision_on(gate: Gate) -> Decision | MissingFiles:
    """Ask the person in the terminal to decide about an open gate that was shown before, or for missing files."""
    return _answer_to(gate) if Verb.ANSWER in type_of(gate).verbs else _verdict_on(gate)


def choose(question: str, answers: Mapping[str, str]) -> str:
    """Ask until one of the letters, or its word, is typed. Returns the letter.

    `answers`: the words by their letters, such as `{"y": "yes"}`.
    """
    while True:
        if letter := _letter(typed := line(question), answers):
            return letter
        if typed:
            allowed = " or ".join(f"{letter} ({word})" for letter, word in answers.items())
            question = f"“{truncate(typed, _MAX_SHOWN)}” is not an answer to this. Type {allowed}: "


def line(prompt: str) -> str:
    """Read a line and strip it. Raises NoTerminal."""
    try:
        return input(visible_text(f"{INDENT}{prompt}")).strip()
    except EOFError as error:
        raise NoTerminal from error


def _missing_files(gate: Gate) -> MissingFiles | None:
    """The files that the person names; None for an empty line."""
    if not (typed := line("Path of the missing file, or of a folder: ")):
        return None
    path, missing = Path(typed).expanduser(), missing_at(gate)
    if len(missing) != 1 or base_name(path.name) == base_name(missing[0]) or not path.is_file():
        return MissingFiles(path)
    answer = choose(f"Take it as {missing[0]}? [y]es, or [n]o to keep its name: ", _YES)
    return MissingFiles(path, missing[0] if answer == "y" else "")


def _verdict_on(gate: Gate) -> Decision | MissingFiles:
    words = type_of(gate).wording_of(gate)
    prompt, letters = type_of(gate).terminal_prompt_of(gate), _DECISIONS
    if asks_for_files(gate):
        prompt, letters = prompt.replace("[s]top", "[g]ive a missing file, [s]top"), _DECISIONS | {"g": "give"}
    buttons = {"a": words.approve.casefold(), "r": words.reject.casefold()}
    while True:
        typed = line(prompt)
        letter = _letter(typed, letters) or _letter(typed.replace("'", "’"), buttons)
        if not letter and typed:  # perhaps a request for changes, or the reason of a refusal
            shown = truncate(typed, _MAX_SHOWN)
            meant = "Reject with the feedback" if words.needs_reason else f"“{words.reject}” with the words"
            if choose(f"This decides nothing. {meant} “{shown}”? {_YES_OR_AGAIN}", _YES) == "y":
                return Decision(Verb.REJECT, gate.digest, typed, how="terminal")
        if letter == "a":
            answers = {one.name: line(f"{one.label} (now {one.now})? ") for one in type_of(gate).limits(gate)}
            raised = parse_limits(answers.get("budget", ""), answers.get("minutes", ""))
            return Decision(Verb.APPROVE, gate.digest, how="terminal", **raised)
        if letter == "g" and (given := _missing_files(gate)):
            return given
        if letter == "s":
            return Decision(Verb.STOP, gate.digest, how="terminal")
        if letter == "r" and not words.needs_reason:
            reason = line(f"{words.reason}, or Enter for none: ")
            return Decision(Verb.REJECT, gate.digest, reason, how="terminal")
        if letter == "r" and (reason := line("What should be different? ")):
            return Decision(Verb.REJECT, gate.digest, reason, how="terminal")


def _answer_to(gate: Gate) -> Decision:
    """Ask for an answer. An empty line leaves it to the AI; a number chooses a suggested answer, if confirmed."""
    choices = gate.choices
    while True:
        words = line(type_of(gate).terminal_prompt_of(gate))
        if not words:
            return Decision(Verb.DELEGATE, gate.digest, how="terminal")
        answer = _choice(words, choices)
        if answer is not None:
            return Decision(Verb.ANSWER, gate.digest, answer, how="terminal")


def _choice(words: str, choices: Sequence[str]) -> str | None:
    """The intended answer, or None if the question has to be asked again."""
    own = next((choice for choice in choices if caseless(choice) == caseless(words)), None)
    number = _NUMBER.fullmatch(words)
    if own is not None or number is None or not choices:
        return own or words
    place = int(number[1])
    if not 1 <= place <= len(choices):
        question = f"There is no {ordinal(place)} choice. “{words}” as your own answer? {_YES_OR_AGAIN}"
        return words if choose(question, _YES) == "y" else None
    choice = choices[place - 1]
    shown = truncate(choice, _MAX_SHOWN)
    question = f"{ordinal(place)} choice: “{shown}”? [y]es, [o]wn answer: “{words}”, or [n]o to be asked again: "
    return {"y": choice, "o": words}.get(choose(question, {"y": "yes", "o": "own answer", "n": "no"}))


def _letter(typed: str, answers: Mapping[str, str]) -> str:
    """The typed letter, or the letter of the typed word; empty for anything else."""
    said = typed.strip().casefold()
    return next((letter for letter, word in answers.items() if said in {letter, word}), "")


MAX_FILES = 200
MAX_FINDINGS = 30
"""Lines of findings that are shown. The page and the report have all of them."""


def about(gate: Gate) -> list[str]:
    """The question, and what it is about: the plan with what its steps write, or an attempt with its files."""
    lines = []
    for line in (gate.question, *_subject(gate)):
        text = visible_text(line)
        indent = text[: len(text) - len(text.lstrip(" "))]
        lines.append(indent + " ".join(text.split()))  # a line break in a text must not begin a line like ours
    return lines


def _subject(gate: Gate) -> Iterator[str]:
    yield from (f"{number}. {choice}" for number, choice in enumerate(gate.choices, 1))
    if gate.call:
        yield from call_of(gate).lines(reasons_for(gate))
    run, gate_type = reading_of(gate.run), type_of(gate)
    plan = run.plan
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
        yield from (f"note: {note}" for note in verdict.notes)
        yield from (f"critique: {line}" for line in verdict.feedback.splitlines())
    if attempt.output:
        lines = attempt.output.findings.splitlines()
        yield from (f"| {line}" for line in lines[:MAX_FINDINGS])
        if len(lines) > MAX_FINDINGS:
            yield f"… {len(lines) - MAX_FINDINGS} more lines"
