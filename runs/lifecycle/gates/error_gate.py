"""The gate of an error that holds work: try again, or ask for another plan? Known causes come with a remedy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from runs.enums import GateKind, Verb, WorkKind, WorkStatus
from runs.errors import NoVerdict
from runs.lifecycle import effects
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import (
    VERDICTS,
    Decision,
    GateFigures,
    GateType,
    Subject,
    Wording,
    open_gate,
    quoted_step,
    step_of,
)
from runs.lifecycle.transitions import change
from runs.models import Gate, User, WorkItem, clock


@dataclass(frozen=True)
class Cause:
    """`title` is a sentence without full stop, `helps` says who can do what. `waits`: only an administrator can
    remove the cause, so that the person who is asked can only wait.
    """

    title: str
    helps: str
    waits: bool = False


_RESTART = "in the environment of the server and restarts it"
_GOES_ON = "Until then trying again cannot help; after it, the run goes on from here."
_CAUSES: Mapping[str, Cause] = {
    "authentication_error": Cause(
        "The service refused the key", f"An administrator sets the right key {_RESTART}. {_GOES_ON}", waits=True
    ),
    "no_key": Cause(
        "The key for the service is missing", f"An administrator sets it {_RESTART}. {_GOES_ON}", waits=True
    ),
    "no_address": Cause(
        "The address of the service is wrong", f"An administrator sets it {_RESTART}. {_GOES_ON}", waits=True
    ),
    "billing_error": Cause(
        "The account at the service has no credit",
        f"An administrator adds credit to it; no restart is needed. {_GOES_ON}",
        waits=True,
    ),
    "permission_error": Cause(
        "The key may not use this model",
        f"An administrator has the model allowed for this key, or sets another key {_RESTART}. {_GOES_ON}",
        waits=True,
    ),
    "not_found_error": Cause(
        "The service does not know this model",
        "This run is bound to the model: stop it, and choose another under “Run again”. Where the address of the "
        f"service is the mistake, an administrator sets it {_RESTART}, and the run goes on from here.",
    ),
    NoVerdict.kind: Cause(
        "The review failed for a technical reason",
        "The verifier's answers cannot be used. No attempt of the step is used up. The verifier may do better when it "
        "is asked again. If it does not, stop the run, and choose another verifier under “Run again”: steps that "
        "have passed are reused.",
    ),
    "unknown_job": Cause(
        "Offline rules cannot do this", "Stop the run. Once a model is connected, submit the task again."
    ),
}


def cause_of(kind: str) -> Cause | None:
    """The known cause of an error of this kind; None if only its message is known."""
    return _CAUSES.get(kind)


class ErrorGate(GateType):
    kind = GateKind.ERROR
    label = "Error"
    subject = Subject.ERROR
    template = "gates/gate_error.html"
    wording = Wording(
        "Try again",
        "Request changes",
        "What should be different?",
        "Where trying again cannot help, the planner gets these words and the error, and writes the next version.",
        default=False,
    )
    does = {
        Verb.APPROVE: "The work that the error holds is done again. Nothing that has passed is lost.",
        Verb.REJECT: "The work that the error holds is given up. The planner writes another plan with your words, and "
        "you are asked about that one.",
        Verb.GIVE_UP: "The run ends as failed. What has passed is kept.",
    }
    verbs = VERDICTS | {Verb.GIVE_UP}
    unattended = Verb.GIVE_UP
    revises_plan = True
    heading = "An error stopped the work."
    approved = "let {step} be tried again"

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        if decision.verb is Verb.GIVE_UP or gate.work is None:
            effects.finish(gate.run, failure=f"Given up after: {gate.question}")
        elif decision.verb is Verb.REJECT:
            effects.plan_instead(states.of(gate.run), gate.work)
        else:
            change(gate.work, WorkStatus.READY, due_at=clock.now(), tries=0, losses=0)
            effects.notify(gate.work.pk)

    def wording_of(self, gate: Gate, figures: GateFigures | None = None) -> Wording:
        return replace(self.wording, approve="Plan again") if _holds_planning(gate) else self.wording

    def title(self, gate: Gate) -> str:
        if cause := cause_of(gate.cause):
            return cause.title
        return "There is no usable plan" if _holds_planning(gate) else "An error stopped the work"

    def short_question(self, gate: Gate) -> str:
        return f"Try again? {gate.question}"

    def heading_of(self, gate: Gate) -> str:
        cause = cause_of(gate.cause)
        if not cause:
            return self.heading
        return f"{cause.title}. It waits for an administrator." if cause.waits else f"{cause.title}."

    def about(self, gate: Gate, step: str) -> str:
        return f"trying {step} again" if step else "trying again"

    def rejection(self, gate: Gate) -> str:
        return "requested changes to the plan instead of {about}" if gate.request else self.rejected

    def about_request(self, gate: Gate) -> str:
        plan = f"version {gate.plan.version} of the plan" if gate.plan else "the plan"
        step = f" in {quoted_step(gate)}" if gate.step else ""
        return f"{plan} after an error{step}"

    def about_request_for_planner(self, gate: Gate, version: str) -> str:
        return f"{version} after an error{where_of(gate)}"


GATE = ErrorGate()


def ask(work: WorkItem, sentence: str, *, reset: bool, cause: str = "") -> None:
    """Hold the work at an error gate. `cause` is the kind of a ModelError.

    `reset`: when a person says “try again”, the work begins with an empty journal.
    """
    begun: dict[str, Any] = {"generation": work.generation + 1, "capacities": None, "withheld": {}}
    change(work, WorkStatus.SUSPENDED, lease_until=None, error=sentence[:2_000], **(begun if reset else {}))
    digest = fingerprint.digest_of([work.pk, work.epoch, sentence])
    open_gate(work.run, GATE, sentence, digest, work=work, step=step_of(work), cause=cause[:80])


def where_of(gate: Gate) -> str:
    """In which step the error happened, for the planner."""
    return f" in step {gate.step.key}" if gate.step else ""


def what_trying_again_does(gate: Gate, answers: int, attempt: int) -> str:
    """`answers` is the number of recorded replies that the work continues from, `attempt` the number of its attempt."""
    match WorkKind(gate.work.kind) if gate.work else None:
        case WorkKind.READ:
            return "The documents that are left are read."
        case WorkKind.PLAN:
            return "The planner is asked again, with what it was told before."
        case WorkKind.FINALISE if gate.cause == NoVerdict.kind:
            return "The verifier is asked again about the answer, which stays as it is."
        case WorkKind.FINALISE:
            return "The answer of the run is written again."
        case WorkKind.ATTEMPT if gate.cause == NoVerdict.kind:
            return "The verifier is asked again about the same result."
        case _:
            kept = "from where it stopped" if answers else "from its beginning"
            return f"Attempt {attempt} goes on {kept}. That helps only once the cause is gone."


def _holds_planning(gate: Gate) -> bool:
    return gate.work is not None and gate.work.kind == WorkKind.PLAN
