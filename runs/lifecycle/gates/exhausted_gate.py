"""The gate of a step whose attempts did not pass: is it accepted with open points?"""

from runs.enums import Action, AttemptStatus, GateKind, StepStatus, Verb
from runs.lifecycle import effects, overruling
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import (
    Decision,
    GateType,
    Subject,
    Wording,
    latest_attempt,
    open_result_gate,
    quoted_step,
)
from runs.lifecycle.state import RunState
from runs.models import Gate, User
from runs.text.plural import pluralize


class ExhaustedGate(GateType):
    kind = GateKind.EXHAUSTED
    label = "Open points"
    subject = Subject.UNPASSED
    template = "gates/gate_result.html"
    wording = Wording(
        "Accept with open points",
        "Try again",
        "What should the next attempt do?",
        "The next attempt gets these words and the whole critique.",
        default=False,
    )
    does = {
        Verb.APPROVE: "The files of this attempt are kept, and the steps after it go on with them. What is not met "
        "stays an open point, so that the whole result is marked as incomplete. What you tick as met counts as "
        "accepted by you, not as verified.",
        Verb.REJECT: "Nothing of this attempt is kept. The step is tried again with your words and the critique.",
    }
    for_second_person = True
    takes_files = True
    supplied = "{step} is tried again"
    shows_requests = True
    marks_open_points = True
    heading = "A step did not pass. Accept it with open points?"
    approved = "accepted {step} with open points"
    approved_in_history = "accepted the open points of {step}"
    rejected = "requested changes to the result of {step}"

    def digest(self, gate: Gate) -> str:
        return fingerprint.attempt_digest(gate.attempt) if gate.attempt else gate.digest

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        assert gate.step is not None
        if decision.verb is Verb.APPROVE:
            if decision.met:
                assert gate.attempt is not None
                overruling.accept(gate.run, gate.attempt, user, decision.met, decision.why_met)
            effects.settle(states.of(gate.run), gate.step.key, StepStatus.ACCEPTED)
        else:
            states.of(gate.run).change(gate.step.key, StepStatus.PENDING)

    def follow_supply(self, gate: Gate) -> None:
        assert gate.step is not None
        states.of(gate.run).change(gate.step.key, StepStatus.PENDING)

    def title(self, gate: Gate) -> str:
        return gate.question

    def bound_to(self, gate: Gate, attempt: int) -> str:
        if not attempt:
            return super().bound_to(gate, attempt)
        return f"the step as planned and exactly these results of attempt {attempt}"

    def about_request(self, gate: Gate) -> str:
        assert gate.attempt is not None
        return f"attempt {gate.attempt.number} at {quoted_step(gate)}"

    def about(self, gate: Gate, step: str) -> str:
        return f"accepting open points in {step}"


GATE = ExhaustedGate()


def ask(state: RunState, key: str) -> None:
    step, attempt = state.steps[key], latest_attempt(state, key)
    name = f"“{state.specs[key].name}”"
    if attempt.status == AttemptStatus.BLOCKED:
        question = f"{name} cannot be done. Go on without it?"
    else:
        cannot = " The review says that no one can do it." if step.last_action is Action.CANNOT else ""
        question = f"{name} did not pass in {pluralize(step.failures, 'attempt')}.{cannot} Accept it with open points?"
    open_result_gate(state, key, GATE, question, attempt)
