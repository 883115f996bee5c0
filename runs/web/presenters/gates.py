"""Owns how a question to a person is shown, and how its answer is told to whoever comes second."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from runs.enums import GateKind, GateStatus, WorkKind
from runs.lifecycle.gates import needs_second_person
from runs.models import Gate
from runs.web.presenters.plans import PlanView
from runs.web.presenters.rows import Rows
from runs.web.presenters.steps import AttemptView, StepView

MAX_REASON = 20_000


@dataclass(frozen=True)
class Wording:
    """The words of one kind of gate. Without `reject` there is no such button; `reason` labels the text field, which
    has to be filled in to reject where that `needs_reason`.
    """

    heading: str
    approve: str
    reject: str
    reason: str
    hint: str
    needs_reason: bool = True


_WORDINGS = {
    GateKind.PLAN: Wording(
        "Approve the plan?",
        "Approve and start",
        "Reject with feedback",
        "What should be different?",
        "Needed to reject: the planner gets these words and writes the next version. "
        "With an approval they are only noted.",
    ),
    GateKind.STEP: Wording(
        "Keep this result?",
        "Approve the result",
        "Reject with feedback",
        "What should be different?",
        "Needed to reject: the next attempt gets these words. With an approval they are only noted.",
    ),
    GateKind.EXHAUSTED: Wording(
        "Go on with this gap?",
        "Accept with issues",
        "Try again with feedback",
        "What should the next attempt do?",
        "Needed to try again: the next attempt gets these words and the whole critique.",
    ),
    GateKind.ERROR: Wording("Something is in the way", "Try again", "", "", ""),
    GateKind.BUDGET: Wording(
        "Raise the limit?",
        "Raise and go on",
        "Finish with what is there",
        "Note",
        "Finishing keeps what has passed; the outcome is partial at most, and nothing more is spent.",
        needs_reason=False,
    ),
}


_PLAN_AGAIN = replace(_WORDINGS[GateKind.ERROR], heading="There is no usable plan", approve="Plan again")


@dataclass(frozen=True)
class Limit:
    """A limit that can be raised: the field's name and label, what holds now, and what is suggested."""

    name: str
    label: str
    now: Decimal | int
    suggested: Decimal | int


@dataclass(frozen=True)
class GateView:
    """An open gate. `digest` is what an approval binds to; `binds` says in words what that is; `not_by` names who
    cannot approve it, since it takes a second person.
    """

    id: int
    kind: str
    question: str
    digest: str
    binds: str
    opened: datetime
    wording: Wording
    step: StepView | None
    attempt: AttemptView | None
    limits: tuple[Limit, ...]
    not_by: str


@dataclass(frozen=True)
class Decided:
    """Who decided what, when, and why."""

    id: int
    about: str
    status: str
    who: str
    when: datetime | None
    how: str
    reason: str


@dataclass(frozen=True)
class Problem:
    """A decision that was refused: what was wrong, and what the person had written. `gate` is 0 for none."""

    gate: int
    sentence: str
    reason: str


@dataclass(frozen=True)
class GatesView:
    """What is asked now, and the latest answer."""

    open: tuple[GateView, ...]
    last: Decided | None
    plan: PlanView | None

    @property
    def asks_for_plan(self) -> bool:
        return any(gate.kind == GateKind.PLAN for gate in self.open)


def gates_view(rows: Rows, steps: Sequence[StepView], plan: PlanView | None) -> GatesView:
    by_id = {step.id: step for step in steps}
    decided = [gate for gate in rows.gates if gate.decided_at]
    last = max(decided, key=lambda gate: (gate.decided_at, gate.pk), default=None)
    return GatesView(
        open=tuple(_gate_view(gate, by_id) for gate in rows.gates if gate.status == GateStatus.OPEN),
        last=decided_view(last) if last else None,
        plan=plan,
    )


def _gate_view(gate: Gate, steps: dict[int, StepView]) -> GateView:
    step = steps.get(gate.step_id or 0)
    tried = step.attempts if step else ()
    return GateView(
        id=gate.pk,
        kind=gate.kind,
        question=gate.question,
        digest=gate.digest,
        binds=_binds(gate),
        opened=gate.opened_at,
        wording=_wording(gate),
        step=step,
        attempt=next((attempt for attempt in tried if attempt.id == gate.attempt_id), None),
        limits=limits_of(gate),
        not_by=gate.run.owner.get_username() if needs_second_person(gate) else "",
    )


def _wording(gate: Gate) -> Wording:
    planning = gate.kind == GateKind.ERROR and gate.work is not None and gate.work.kind == WorkKind.PLAN
    return _PLAN_AGAIN if planning else _WORDINGS[GateKind(gate.kind)]


def limits_of(gate: Gate) -> tuple[Limit, ...]:
    """The limits that an approval of this gate can raise; twice of what holds now is suggested."""
    if gate.kind != GateKind.BUDGET:
        return ()
    policy = gate.run.policy
    found: list[Limit] = []
    if policy.budget is not None:
        found.append(Limit("budget", "New budget in USD", policy.budget, 2 * policy.budget))
    if policy.time_limit is not None:
        minutes = policy.time_limit // 60
        found.append(Limit("minutes", "New time limit in minutes", minutes, 2 * minutes))
    return tuple(found)


def _binds(gate: Gate) -> str:
    match GateKind(gate.kind):
        case GateKind.PLAN if gate.plan:
            version = f"version {gate.plan.version} of the plan"
            return f"{version}, the input files, the policy, the models and their instructions"
        case GateKind.STEP | GateKind.EXHAUSTED if gate.attempt:
            return f"the step as planned and exactly these results of attempt {gate.attempt.number}"
        case GateKind.BUDGET:
            return "the policy as it is, with the new limit"
        case _:
            return "this very question"


def decided_view(gate: Gate) -> Decided:
    return Decided(
        id=gate.pk,
        about=about(gate),
        status=gate.status,
        who=gate.decided_by.get_username() if gate.decided_by else "",
        when=gate.decided_at,
        how="" if gate.decided_how == "person" else gate.decided_how,
        reason=gate.reason,
    )


def about(gate: Gate) -> str:
    """What a gate asks about, as the object of a sentence."""
    name = gate.step.spec.name if gate.step else ""
    match GateKind(gate.kind):
        case GateKind.PLAN:
            return f"version {gate.plan.version} of the plan" if gate.plan else "the plan"
        case GateKind.STEP:
            return f"the result of “{name}”"
        case GateKind.EXHAUSTED:
            return f"going on with the gap in “{name}”"
        case GateKind.ERROR:
            return f"trying “{name}” again" if name else "trying again"
        case GateKind.BUDGET:
            return "going on beyond the limit"
