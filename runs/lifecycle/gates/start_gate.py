"""The gate before a step: may it start?"""

from runs.enums import Complexity, GateKind, StepStatus, Verb
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import (
    Decision,
    GateFigures,
    GateType,
    Subject,
    Wording,
    open_gate,
    quoted_step,
    step_consequences,
)
from runs.lifecycle.state import RunState
from runs.models import Gate, Step, User


class StartGate(GateType):
    kind = GateKind.START
    label = "Start"
    together = "Each run starts this step with its own files."
    subject = Subject.START
    template = "gates/gate_start.html"
    wording = Wording(
        "Start",
        "Request changes",
        "What should be different?",
        "Nothing of this step is carried out before you decide. The planner gets these words and writes another plan.",
    )
    does = {
        Verb.APPROVE: "The step is carried out, and its result is verified like any other. Calls that act outside are "
        "asked about one by one.",
        Verb.REJECT: "The step is not carried out. The planner writes another plan with your words, and you are asked "
        "about that one.",
    }
    for_second_person = True
    shows_requests = True
    heading = "Start this step?"
    rejected = "asked for another plan instead of {about}"

    def digest(self, gate: Gate) -> str:
        return _digest(states.of(gate.run), gate.step.key) if gate.step else gate.digest

    def needs_reading(self, gate: Gate) -> str:
        return "It is a high-risk step." if gate.step and gate.step.complexity == Complexity.HIGH else ""

    def consequences(self, gate: Gate) -> dict[str, str]:
        return step_consequences(gate)

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        assert gate.step is not None
        answer = {"cleared": True} if decision.verb is Verb.APPROVE else {"refused": True}
        states.of(gate.run).change(gate.step.key, StepStatus.PENDING, **answer)

    def title(self, gate: Gate) -> str:
        return f"Start {quoted_step(gate)}?"

    def facts(self, figures: GateFigures) -> list[str]:
        if not figures.step_number:
            return super().facts(figures)
        risk = f"{Complexity(figures.complexity)}-risk step"
        return [risk, f"step {figures.step_number} of {figures.steps}", figures.cost]

    def bound_to(self, gate: Gate, attempt: int) -> str:
        rests_on = "the step as planned, the results it rests on"
        return f"{rests_on}, the input files, the policy, the models and their instructions"

    def about(self, gate: Gate, step: str) -> str:
        return f"the start of {step}"

    def about_request_for_planner(self, gate: Gate, version: str) -> str:
        return f"the start of step {gate.step.key} of {version}" if gate.step else version


GATE = StartGate()


def ask(state: RunState, key: str) -> None:
    """Ask before a step starts. While it waits, it takes no place among the parallel steps."""
    question = f"Start “{state.specs[key].name}”? It is a {state.steps[key].complexity}-risk step."
    state.change(key, StepStatus.WAITING)
    step = Step.objects.get(pk=state.steps[key].id)
    open_gate(state.run, GATE, question, _digest(state, key), step=step)


def _digest(state: RunState, key: str) -> str:
    """What starting a step is bound to (G1).

    Its definition, everything that the approval of the plan is bound to, and the results that it rests on.
    """
    assert state.plan is not None
    bound = fingerprint.fingerprint_of(state.run, state.plan)
    before = {name: state.steps[name].fingerprint for name in state.steps[key].depends_on}
    return fingerprint.digest_of([state.specs[key], bound, before])
