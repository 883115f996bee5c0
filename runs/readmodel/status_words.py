"""The words of pages and exports for statuses, risks, decisions and checks; the code keeps those of the engine."""

from collections.abc import Iterable, Sequence

from runs.enums import (
    About,
    AttemptStatus,
    Complexity,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepApproval,
    StepMoment,
    StepStatus,
)
from runs.evidence.results import accepted_by, rejected_by
from runs.lifecycle.criteria_ledger import keeps_unpassed
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.overruling import with_people
from runs.lifecycle.toolset import command_lines
from runs.models import Gate, Overruling
from runs.pev.checks.base import Check
from runs.text.plural import list_with_and

_WORDS: dict[str, str] = {
    RunStatus.AWAITING_APPROVAL: "needs a decision",
    RunStatus.FINALISING: "writing the answer",
    Outcome.CANCELLED: "stopped",
    PlanStatus.SUPERSEDED: "replaced",
    StepStatus.WAITING: "needs a decision",
    StepStatus.ACCEPTED: "accepted with open points",
    StepStatus.DROPPED: "skipped",
    StepStatus.NOT_APPLICABLE: "does not apply",
    AttemptStatus.CONFLICT: "conflict, tried again",
    GateKind.EXHAUSTED: "out of attempts",
    GateStatus.REJECTED: "changes requested",
    StepApproval.MEDIUM_AND_HIGH: "medium and high",
    StepMoment.AFTER: "after verification",
    StepMoment.BEFORE: "before execution",
}


def words(status: object) -> str:
    """A status, kind or verb as people say it."""
    return _WORDS.get(str(status), str(status).replace("_", " "))


def step_mark(status: str, asked: bool) -> str:
    """The status by which pages mark a step. One whose work waits for an answer needs a decision, as its result may."""
    return StepStatus.WAITING if asked and status in (StepStatus.RUNNING, StepStatus.JUDGED) else status


def risk(complexity: str) -> str:
    """The complexity of a step in the words of screens: a risk."""
    return f"{Complexity(complexity).value}-risk step"


def compared(about: str) -> str:
    """What a criterion is about, in words: whether the result is compared with anything to decide it."""
    return "compared with your files" if About(about) is About.SOURCES else "not compared with your files"


def decided(gate: Gate) -> str:
    """The status of a gate in words. A rejection that asks for no changes is “declined”."""
    asks = (type_of(gate).for_second_person and type_of(gate).makes_requests) or gate.request
    declined = gate.status == GateStatus.REJECTED and not asks
    return "declined" if declined else words(decision_mark(gate))


def decision_mark(gate: Gate) -> str:
    """The status by which pages mark a gate. A result that was approved with open points is “accepted”."""
    kept = type_of(gate).marks_open_points and gate.status == GateStatus.APPROVED and gate.step_id
    return StepStatus.ACCEPTED.value if kept else gate.status


def judged_by_people(overruled: Sequence[Overruling], decisions: Iterable[Gate]) -> str:
    """Who judges an attempt otherwise than its verdict, such as “accepted by alice”; empty if no one does.

    `overruled` are the overrulings that are in force, and `decisions` those of its gates.
    """
    results = with_people(overruled[0].attempt.verdict.results, overruled) if overruled else []
    if names := accepted_by(results):
        return f"accepted by {list_with_and(names)}"
    if names := rejected_by(results):
        return f"rejected by {list_with_and(names)}"
    return next((f"accepted with open points by {gate.decider}" for gate in decisions if keeps_unpassed(gate)), "")


def about_request(gate: Gate) -> str:
    """What a request was made about."""
    return type_of(gate).about_request(gate)


def decision_in_words(gate: Gate) -> str:
    """What was decided at a gate, as the rest of a sentence that begins with who did."""
    return type_of(gate).decided(gate)


def check_in_words(check: Check) -> str:
    """What a check looks for, as a clause."""
    return check.words(command_lines())
