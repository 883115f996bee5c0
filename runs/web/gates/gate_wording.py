"""The words on the buttons and the field of each kind of question."""

from dataclasses import dataclass, replace

from runs.enums import GateKind, Verb, WorkKind
from runs.models import Gate


@dataclass(frozen=True)
class Wording:
    """The words of one kind of gate. Without `reject` there is no such button; `reason` labels the text field, which
    has to be filled in to reject where that `needs_reason`. Where there is a `default`, approving is the plain way on.
    `yes` and `no` are what the two buttons do.
    """

    approve: str
    reject: str
    reason: str
    hint: str
    needs_reason: bool = True
    default: bool = True
    yes: Verb = Verb.APPROVE
    no: Verb = Verb.REJECT


_WORDINGS = {
    GateKind.PLAN: Wording(
        "Approve",
        "Request changes",
        "What should be different?",
        "The planner gets these words and writes the next version. With an approval they are only noted.",
    ),
    GateKind.START: Wording(
        "Start",
        "Request changes",
        "What should be different?",
        "Nothing of this step is carried out before you decide. The planner gets these words and writes another plan.",
    ),
    GateKind.STEP: Wording(
        "Approve",
        "Request changes",
        "What should be different?",
        "The next attempt gets these words. With an approval they are only noted.",
    ),
    GateKind.EXHAUSTED: Wording(
        "Accept with open points",
        "Try again",
        "What should the next attempt do?",
        "The next attempt gets these words and the whole critique.",
        default=False,
    ),
    GateKind.ERROR: Wording(
        "Try again",
        "Request changes",
        "What should be different?",
        "Where trying again cannot help, the planner gets these words and the error, and writes the next version.",
    ),
    GateKind.BUDGET: Wording(
        "Raise and go on",
        "Finish with what is there",
        "A note (optional)",
        "Finishing keeps what has passed; the outcome is partial at most, and nothing more is spent.",
        needs_reason=False,
    ),
    GateKind.QUESTION: Wording(
        "Answer",
        "Let the AI decide",
        "Your answer",
        "The work goes on with these words as a source. Nothing is approved by them.",
        needs_reason=False,
        yes=Verb.ANSWER,
        no=Verb.DELEGATE,
    ),
    GateKind.TOOL: Wording(
        "Let it go",
        "Refuse",
        "Why not?",
        "Exactly this is sent, once. The AI gets your words where you refuse, and goes on without the call.",
        default=False,
    ),
}
PLAN_AGAIN = replace(_WORDINGS[GateKind.ERROR], approve="Plan again")


def wording_of(gate: Gate) -> Wording:
    planning = gate.kind == GateKind.ERROR and gate.work is not None and gate.work.kind == WorkKind.PLAN
    return PLAN_AGAIN if planning else _WORDINGS[GateKind(gate.kind)]
