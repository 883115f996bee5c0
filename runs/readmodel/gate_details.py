"""What a gate shows about the error that holds work."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

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
            return f"{self.who} was asked {pluralize(self.failed, 'time')}{time}, each time without an answer."
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
