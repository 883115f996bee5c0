"""What a gate shows about the error that holds work, or about the call that a person has to approve."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from runs.enums import PlanStatus, StepStatus
from runs.lifecycle.gates.error_gate import Cause, cause_of, what_trying_again_does
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.models import Gate, ModelCall
from runs.readmodel.plan_view import PlanReading
from runs.text.plural import pluralize, word_for


@dataclass(frozen=True)
class FailedCalls:
    """The model calls of the work before the error.

    `failed` calls in a row had no reply; the first of them ended at `begun`, the last at `ended`. `answers` are replies
    that the work continues from when it is tried again, `unusable` those that it does not use. `who` is the role and
    the model of the last call.
    """

    failed: int = 0
    begun: datetime | None = None
    ended: datetime | None = None
    answers: int = 0
    unusable: int = 0
    who: str = ""

    @property
    def sentence(self) -> str:
        """The calls in words; empty if the work had not asked a model yet."""
        if self.failed and self.begun and self.ended:
            minutes = round((self.ended - self.begun).total_seconds() / 60)
            time = f" within {pluralize(minutes, 'minute')}" if minutes else ""
            return f"{self.who} was asked {pluralize(self.failed, 'time')}{time} and gave no answer."
        if self.unusable:
            return f"{self.who} answered {pluralize(self.unusable, 'time')}, and no answer could be used."
        return f"{self.who} had answered {pluralize(self.answers, 'time')} before." if self.answers else ""


@dataclass(frozen=True)
class ErrorGateWords:
    """The texts at the gate of an error. `again` and `changes` say what these two answers lead to."""

    tried: str
    again: str
    changes: str
    cause: Cause | None = None


def held_at(gates: Iterable[Gate], plan: PlanReading | None) -> Mapping[int, ErrorGateWords]:
    """The words for the gates about errors, by id. `plan` is the newest version. One query for any number of gates."""
    found = [gate for gate in gates if type_of(gate).subject is Subject.ERROR]
    tried = _calls_before(found) if found else {}
    words: dict[int, ErrorGateWords] = {}
    for gate in found:
        calls = tried.get(gate.work_id or 0, FailedCalls())
        attempts = plan.rows.attempts.get(gate.step_id or 0, ()) if plan else ()
        work = gate.work.attempt_id if gate.work else None
        number = next((attempt.number for attempt in attempts if attempt.pk == work), 0)
        again = what_trying_again_does(gate, calls.answers, number)
        words[gate.pk] = ErrorGateWords(calls.sentence, again, _after_rejection(gate, plan), cause_of(gate.cause))
    return words


def _calls_before(gates: Iterable[Gate]) -> dict[int, FailedCalls]:
    generations = {gate.work_id: gate.work.generation for gate in gates if gate.work}
    calls = ModelCall.objects.filter(work__in=generations).order_by("id")
    found: dict[int, FailedCalls] = {}
    for work, generation, error, role, model, at in calls.values_list(
        "work", "generation", "error", "role", "model", "created_at"
    ):
        before, who, counts = found.get(work, FailedCalls()), f"The {role} ({model})", generation == generations[work]
        if error:
            found[work] = FailedCalls(before.failed + 1, before.begun or at, at, before.answers, before.unusable, who)
        else:
            found[work] = FailedCalls(0, None, None, before.answers + counts, before.unusable + (not counts), who)
    return found


def _after_rejection(gate: Gate, plan: PlanReading | None) -> str:
    if plan is None:
        return ""
    policy, row = plan.rows.run.policy, plan.row
    waits = policy.plan_waits(agreed=row.status == PlanStatus.APPROVED, relaxes=False)
    approve = "for approval" if waits else "and goes on, unless it asks for less"
    under_way = {StepStatus.RUNNING, StepStatus.WAITING, StepStatus.JUDGED}
    busy = sum(1 for step in plan.steps if step.row.status in under_way and step.row.pk != gate.step_id)
    first = f", once {pluralize(busy, 'other step')} {word_for(busy, 'has', 'have')} ended" if busy else ""
    return f"The planner gets your words and this error{first}. It writes version {row.version + 1} {approve}."


WHOLE_CHARACTERS, WHOLE_LINES = 700, 10
"""Values up to this size are shown whole."""
HEAD_CHARACTERS, HEAD_LINES = 300, 4
TAIL_CHARACTERS, TAIL_LINES = 200, 2
"""The parts at both ends of a longer value that are shown."""


@dataclass(frozen=True)
class Argument:
    """An argument of a call: name, kind in words, and value. A text is shown as it is, everything else as JSON."""

    name: str
    kind: str
    value: str

    @property
    def length(self) -> str:
        """The length in words. It tells people at once that more is sent than what they see."""
        characters = pluralize(len(self.value), "character")
        lines = self.value.count("\n") + 1
        return f"{characters} in {lines:,} lines" if lines > 1 else characters

    @property
    def head(self) -> str:
        return self._cut[0]

    @property
    def middle(self) -> str:
        """The folded part between head and tail; empty if the value is shown whole."""
        return self._cut[1]

    @property
    def tail(self) -> str:
        return self._cut[2]

    @property
    def left_out(self) -> str:
        lines = self.middle.count("\n")
        return f"{pluralize(len(self.middle), 'character')}{f' in {pluralize(lines, "line")}' if lines else ''}"

    @cached_property
    def _cut(self) -> tuple[str, str, str]:
        value = self.value
        if len(value) <= WHOLE_CHARACTERS and value.count("\n") < WHOLE_LINES:
            return value, "", ""
        start = _end_of_lines(value[:HEAD_CHARACTERS], HEAD_LINES)
        end = len(value) - _end_of_lines(value[: -TAIL_CHARACTERS - 1 : -1], TAIL_LINES)
        end += value.startswith("\n", end)
        return value[:start], value[start:end], value[end:]


def _end_of_lines(text: str, lines: int) -> int:
    """The length of so many lines of the text."""
    return sum(map(len, text.splitlines(keepends=True)[:lines])) if text.count("\n") >= lines else len(text)


def arguments_of(gate: Gate) -> tuple[Argument, ...]:
    """All arguments of a call that acts outside."""
    given = gate.call["arguments"] if gate.call else {}
    return tuple(_argument(name, value) for name, value in given.items())


def _argument(name: str, value: object) -> Argument:
    match value:
        case str():
            return Argument(name, "text" if value else "empty text", value)
        case bool() | None:
            kind = "yes or no" if value is not None else "nothing"
        case int() | float():
            kind = "number"
        case list():
            kind = f"list of {len(value):,}"
        case _:
            kind = "object"
    return Argument(name, kind, json.dumps(value, ensure_ascii=False, indent=2))


def sent_in_lines(gate: Gate) -> Iterator[str]:
    """The arguments for a terminal. Long values are shortened, with a note where to find the rest."""
    for one in arguments_of(gate):
        yield f"{one.name} ({one.kind}, {one.length}):"
        yield from (f"    {line}" for line in one.head.split("\n"))
        if one.middle:
            yield f"    … {one.left_out} more, which the page of the run shows …"
            yield from (f"    {line}" for line in one.tail.split("\n"))
