"""The words of pages and exports for statuses, risks and decisions; the code keeps those of the engine."""

from runs.enums import (
    APPROVING_GATES,
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
from runs.models import Gate
from runs.readmodel.gate_words import asked_about

_WORDS: dict[str, str] = {
    RunStatus.AWAITING_APPROVAL: "needs your decision",
    RunStatus.FINALISING: "writing the answer",
    Outcome.CANCELLED: "stopped",
    PlanStatus.SUPERSEDED: "replaced",
    StepStatus.WAITING: "needs your decision",
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


def risk(complexity: str) -> str:
    """What the complexity of a step means to those who answer for it."""
    return f"{Complexity(complexity).value}-risk step"


def decided(gate: Gate) -> str:
    """The status of a gate: where nothing can be changed, a rejection asks for no changes."""
    asks = gate.kind in APPROVING_GATES or gate.request
    declined = gate.status == GateStatus.REJECTED and not asks
    return "declined" if declined else words(decision_mark(gate))


def decision_mark(gate: Gate) -> str:
    """The status of a gate by which pages mark it: a yes to a result with open points is no plain one."""
    kept = gate.kind == GateKind.EXHAUSTED and gate.status == GateStatus.APPROVED and gate.step_id
    return StepStatus.ACCEPTED.value if kept else gate.status


def decision_in_words(gate: Gate) -> str:
    """What was decided at a gate, as the rest of a sentence that begins with who did."""
    about = asked_about(gate)
    match GateStatus(gate.status):
        case GateStatus.REJECTED if gate.kind in {GateKind.PLAN, GateKind.STEP}:
            return f"requested changes to {about}"
        case GateStatus.REJECTED if gate.kind == GateKind.EXHAUSTED and gate.step:
            return f"requested changes to the result of “{gate.step.spec.name}”"
        case GateStatus.REJECTED if gate.kind == GateKind.ERROR and gate.request:
            return f"requested changes to the plan instead of {about}"
        case GateStatus.REJECTED if gate.kind == GateKind.START:
            return f"asked for another plan instead of {about}"
        case GateStatus.REJECTED:
            return f"decided against {about}"
        case GateStatus.STOPPED:
            return f"stopped the run when asked about {about}"
        case GateStatus.APPROVED if gate.kind == GateKind.STEP:
            return f"accepted {about}"
        case GateStatus.APPROVED if gate.kind == GateKind.EXHAUSTED and gate.step:
            return f"accepted “{gate.step.spec.name}” with open points"
        case GateStatus.APPROVED if gate.kind == GateKind.ERROR:
            return f"let “{gate.step.spec.name}” be tried again" if gate.step else "let it be tried again"
        case GateStatus.APPROVED:
            return f"approved {about}"
        case GateStatus.ANSWERED:
            return f"answered {about}"
        case _:
            return f"was asked about {about}"
