"""The gate of a call that acts outside the run: may exactly this be sent?"""

from runs.contracts.ports import ToolUse
from runs.enums import GateKind, Verb
from runs.errors import ApprovalAwaited
from runs.lifecycle import effects
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Decision, GateType, Subject, Wording, hold, open_gate, step_of
from runs.models import Gate, Run, User, WorkItem
from runs.store.journal import CallPlace


class ToolGate(GateType):
    kind = GateKind.TOOL
    label = "Call"
    subject = Subject.CALL
    template = "gates/gate_call.html"
    wording = Wording(
        "Let it go",
        "Refuse",
        "Why not?",
        "Exactly this is sent, once. The AI gets your words where you refuse, and goes on without the call.",
        default=False,
    )
    for_second_person = True
    unattended = Verb.REJECT
    heading = "A call would act outside this run. Let it go?"

    def follow(self, gate: Gate, user: User, decision: Decision) -> None:
        effects.resume_suspended(gate.run)

    def title(self, gate: Gate, unpassed: str = "") -> str:
        return f"Let the AI call {_name_of(gate)}?"

    def short_question(self, gate: Gate) -> str:
        return gate.question

    def about(self, gate: Gate, step: str) -> str:
        return f"the call {_name_of(gate)}"

    def about_in_history(self, gate: Gate, step: str) -> str:
        return f"a call of {step} that acts outside"


GATE = ToolGate()


def ask(work: WorkItem, awaited: ApprovalAwaited) -> None:
    """Hold the work until a person has approved the call, or refused it."""
    hold(work)
    question = f"Let the AI call {awaited.name}? It acts outside this run."
    if awaited.again:
        question = (
            f"Let the AI call {awaited.name} again? The process ended in the middle of this call, so that it may have "
            "been carried out already."
        )
    call = {"name": awaited.name, "arguments": dict(awaited.arguments)}
    open_gate(work.run, GATE, question, awaited.digest, work=work, step=step_of(work), call=call)


def call_digest(work: WorkItem, place: CallPlace, use: ToolUse, number: int) -> str:
    """What approving a call that acts outside is bound to: this call at its place in this work, byte for byte.

    `number` is how often it may have been carried out before.
    """
    return fingerprint.digest_of(["call", work.pk, place.generation, place.ordinal, use.name, use.input, number])


def latest_gate(work: WorkItem, digest: str) -> Gate | None:
    """The last time that a person was asked about this call."""
    gates = work.gates.filter(kind=GATE.kind, digest=digest).select_related("decided_by")
    return gates.order_by("-pk").first()


def calls_asked(run: Run) -> int:
    """The number of different calls of the run about which people were asked."""
    return run.gates.filter(kind=GATE.kind).values("digest").distinct().count()


def _name_of(gate: Gate) -> str:
    return str(gate.call["name"]) if gate.call else ""
