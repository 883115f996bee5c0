"""An error that holds work, as a person who has to decide is told of it: what was tried, and what each answer does."""

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
    """What the work had asked models for. `failed`: calls in a row without a reply up to the error, `begun` when the
    first of them ended and `ended` the last; `answers`: the replies that it goes on from when it is tried again;
    `unusable`: those that it does not. `who`: the role and model of the last call.
    """

    failed: int = 0
    begun: datetime | None = None
    ended: datetime | None = None
    answers: int = 0
    unusable: int = 0
    who: str = ""

    @property
    def sentence(self) -> str:
        """Empty where the work had not come to ask a model."""
        if self.failed and self.begun and self.ended:
            minutes = round((self.ended - self.begun).total_seconds() / 60)
            time = f" within {pluralize(minutes, 'minute')}" if minutes else ""
            return f"{self.who} was asked {pluralize(self.failed, 'time')}{time} and gave no answer."
        if self.unusable:
            return f"{self.who} answered {pluralize(self.unusable, 'time')}, and no answer could be used."
        return f"{self.who} had answered {pluralize(self.answers, 'time')} before." if self.answers else ""


@dataclass(frozen=True)
class ErrorGateWords:
    """What a person is told at an error: `again` and `changes` say what these two answers lead to; `cause`: what more
    is known of it.
    """

    tried: str
    again: str
    changes: str
    cause: Cause | None = None


def held_at(gates: Iterable[Gate], plan: PlanReading | None) -> Mapping[int, ErrorGateWords]:
    """By the key of the gate, of those about errors; `plan` is the newest version. One query for any number of them."""
    found = [gate for gate in gates if type_of(gate).subject is Subject.ERROR]
    tried = _tried(found) if found else {}
    return {gate.pk: _held(gate, tried.get(gate.work_id or 0, FailedCalls()), plan) for gate in found}


def _tried(gates: Iterable[Gate]) -> dict[int, FailedCalls]:
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


def _held(gate: Gate, tried: FailedCalls, plan: PlanReading | None) -> ErrorGateWords:
    return ErrorGateWords(tried.sentence, _again(gate, tried, plan), _changes(gate, plan), cause_of(gate.cause))


def _again(gate: Gate, tried: FailedCalls, plan: PlanReading | None) -> str:
    attempts = plan.rows.attempts.get(gate.step_id or 0, ()) if plan else ()
    work = gate.work.attempt_id if gate.work else None
    number = next((one.number for one in attempts if one.pk == work), 0)
    return what_trying_again_does(gate, tried.answers, number)


def _changes(gate: Gate, plan: PlanReading | None) -> str:
    if plan is None:
        return ""
    policy, row = plan.rows.run.policy, plan.row
    waits = policy.plan_waits(agreed=row.status == PlanStatus.APPROVED, relaxes=False)
    approve = "for approval" if waits else "and goes on, unless it asks for less"
    under_way = {StepStatus.RUNNING, StepStatus.WAITING, StepStatus.JUDGED}
    busy = sum(1 for step in plan.steps if step.row.status in under_way and step.row.pk != gate.step_id)
    first = f", once {pluralize(busy, 'other step')} {word_for(busy, 'has', 'have')} ended" if busy else ""
    return f"The planner gets your words and this error{first}. It writes version {row.version + 1} {approve}."
