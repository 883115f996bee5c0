"""The gate after a step that passed: is its result accepted?"""

from runs.enums import AttemptStatus, Complexity, GateKind, StepStatus, Verb
from runs.lifecycle import effects
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
    step_consequences,
)
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.models import Gate, User, Verdict


class StepGate(GateType):
    kind = GateKind.STEP
    label = "Result"
    together = "Each run keeps its own result of this step, and goes on."
    subject = Subject.RESULT
    template = "gates/gate_result.html"
    wording = Wording(
        "Accept",
        "Request changes",
        "What should be different?",
        "The next attempt gets these words. If you accept, they are only noted.",
    )
    does = {
        Verb.APPROVE: "The files of this result are kept, and the steps after it go on with them. Nothing is sent to "
        "anyone.",
        Verb.REJECT: "Nothing of this result is kept. The step is tried again with your words, and the new result is "
        "verified again.",
    }
    for_second_person = True
    shows_requests = True
    needs_citations = True
    heading = "Accept this result?"
    approved = "accepted {about}"
    approved_in_history = "approved {about}"
    rejected = "requested changes to {about}"

    def digest(self, gate: Gate) -> str:
        return fingerprint.attempt_digest(gate.attempt) if gate.attempt else gate.digest

    def needs_reading(self, gate: Gate) -> str:
        """Only a result without any doubt is approved without being read."""
        if gate.step is not None and gate.step.complexity == Complexity.HIGH:
            return "It is the result of a high-risk step."
        verdict: Verdict | None = getattr(gate.attempt, "verdict", None)
        if verdict is None or not all(one.met for one in verdict.results):
            return "The result has unmet criteria."
        if verdict.uncalibrated:
            return "Not every verifier of the policy has the catch rate that it asks for."
        if any(one.weak for one in verdict.results) or any(one.unproved for one in verdict.requests):
            return "The result has evidence that may prove something else."
        return "The result has figures without a source." if verdict.untraced else ""

    def consequences(self, gate: Gate) -> dict[str, str]:
        return step_consequences(gate)

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        assert gate.step is not None
        assert gate.attempt is not None
        if decision.verb is Verb.APPROVE:
            effects.settle(states.of(gate.run), gate.step.key, StepStatus.PASSED)
        else:
            change(gate.attempt, AttemptStatus.REJECTED)
            states.of(gate.run).change(gate.step.key, StepStatus.PENDING)

    def title(self, gate: Gate) -> str:
        return f"Accept {quoted_step(gate)}?"

    def bound_to(self, gate: Gate, attempt: int) -> str:
        if not attempt:
            return super().bound_to(gate, attempt)
        return f"the step as planned and exactly these results of attempt {attempt}"

    def after_rejection(self, gate: Gate, attempt: int) -> str:
        """Says that a request starts another attempt, if no attempts seem to be left."""
        allowed = gate.run.policy.attempts
        if not attempt or attempt < allowed:
            return ""
        button = self.wording.reject
        return f"“{button}” starts attempt {attempt + 1}: only failed attempts are limited, to {allowed}."

    def about_request(self, gate: Gate) -> str:
        assert gate.attempt is not None
        return f"attempt {gate.attempt.number} at {quoted_step(gate)}"

    def about(self, gate: Gate, step: str) -> str:
        return f"the result of {step}"


GATE = StepGate()


def ask(state: RunState, key: str) -> None:
    spec, step = state.specs[key], state.steps[key]
    why = f"; it is a {step.complexity}-risk step"
    if step.unproved:
        why = ", but nothing plainly proves that what was asked for at an earlier attempt has been done"
        verdict = Verdict.objects.filter(attempt__step=step.id).order_by("attempt__number").last()
        if verdict and verdict.uncalibrated:
            why = ", but not every verifier of the policy has the catch rate that it asks for"
        elif verdict and not any(request.unproved for request in verdict.requests):
            why = ", but some of its evidence may have nothing to do with what it should support"
    question = f"“{spec.name}” has passed verification{why}. Accept its result?"
    open_result_gate(state, key, GATE, question, latest_attempt(state, key))
