"""Opening and withdrawing gates, and holding work while a gate is open (G1, G6)."""

from typing import Any

from runs.enums import StepStatus, WorkStatus
from runs.events import kinds as events
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import GateType
from runs.lifecycle.state import State
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Run, Step, WorkItem
from runs.store.event_log import record


def open_gate(run: Run, gate_type: GateType, question: str, digest: str, **on: Any) -> Gate:
    """Ask a person. The gate holds no worker, thread, connection or lease (G6)."""
    second_person = gate_type.for_second_person and run.policy.second_person
    gate = Gate(run=run, kind=gate_type.kind.value, question=question, digest=digest, second_person=second_person, **on)
    gate.save(force_insert=True)
    step = gate.step.key if gate.step else ""
    record(run.pk, events.GateOpened(gate=gate.pk, gate_kind=gate.kind, question=question, step=step))
    return gate


def open_result_gate(state: State, key: str, gate_type: GateType, question: str) -> None:
    """Ask for the latest result of a step; the answer is bound to exactly this result."""
    attempt = Attempt.objects.select_related("step", "tree").filter(step=state.steps[key].id).latest("number")
    state.change(key, StepStatus.WAITING)
    open_gate(state.run, gate_type, question, fingerprint.attempt_digest(attempt), step=attempt.step, attempt=attempt)


def hold(work: WorkItem) -> None:
    """Suspend work until a person has answered. It gives back what it had reserved."""
    change(work, WorkStatus.SUSPENDED, lease_until=None, reserved_usd=0, reserved_uses={})


def step_of(work: WorkItem) -> Step | None:
    return work.attempt.step if work.attempt else None
