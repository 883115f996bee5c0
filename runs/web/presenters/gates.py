"""How a question to a person is put: its words and buttons, and what an approval binds to."""

from dataclasses import dataclass, replace

from runs.enums import GateKind, WorkKind
from runs.lifecycle.gates import needs_second_person
from runs.models import Gate
from runs.pev.outcome import OpenPoint
from runs.reading.attempts import AttemptReading
from runs.reading.gates import Limit, limits_of
from runs.reading.plans import PlanReading, StepReading

MAX_REASON = 20_000
"""As long as a request may be: a reason is put before the planner or executor as one."""


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
class Problem:
    """A decision that was refused: what was wrong, and what the person had written. `gate` is 0 for none.

    `no_sources`: they had ticked that none are needed.
    """

    gate: int
    sentence: str
    reason: str
    no_sources: bool = False


@dataclass(frozen=True, eq=False)
class GateView:
    """An open gate, with the step and the attempt that it is about."""

    row: Gate
    step: StepReading | None
    attempt: AttemptReading | None

    @property
    def wording(self) -> Wording:
        work = self.row.work
        planning = self.row.kind == GateKind.ERROR and work is not None and work.kind == WorkKind.PLAN
        return _PLAN_AGAIN if planning else _WORDINGS[GateKind(self.row.kind)]

    @property
    def limits(self) -> tuple[Limit, ...]:
        return limits_of(self.row)

    @property
    def open_point(self) -> OpenPoint | None:
        """What a person who goes on accepts: the criteria that were not met, and what each attempt was told."""
        return self.step.open_point if self.step and self.row.kind == GateKind.EXHAUSTED else None

    @property
    def asks_for_sources(self) -> bool:
        """Whether it can still be said here that no sources are needed: before anything was carried out."""
        run = self.row.run
        return self.row.kind == GateKind.PLAN and run.policy.sources_needed and run.head_id == run.inputs_id

    @property
    def not_by(self) -> str:
        """Who cannot approve it, since it takes a second person."""
        return self.row.run.owner.get_username() if needs_second_person(self.row) else ""

    @property
    def binds(self) -> str:
        """In words, what an approval binds to."""
        match GateKind(self.row.kind):
            case GateKind.PLAN if self.row.plan:
                version = f"version {self.row.plan.version} of the plan"
                return f"{version}, the input files, the policy, the models and their instructions"
            case GateKind.STEP | GateKind.EXHAUSTED if self.attempt:
                return f"the step as planned and exactly these results of attempt {self.attempt.row.number}"
            case GateKind.BUDGET:
                return "the policy as it is, with the new limit"
            case _:
                return "this very question"


def open_gates(gates: list[Gate], plan: PlanReading | None) -> list[GateView]:
    """Those that wait, with what they are about in the newest version of the plan."""
    steps = {step.row.pk: step for step in plan.steps} if plan else {}
    found = []
    for gate in gates:
        step = steps.get(gate.step_id or 0)
        tried = step.attempts if step else ()
        attempt = next((attempt for attempt in tried if attempt.row.pk == gate.attempt_id), None)
        found.append(GateView(gate, step, attempt))
    return found


def latest_decision(gates: list[Gate]) -> Gate | None:
    decided = [gate for gate in gates if gate.decided_at]
    return max(decided, key=lambda gate: (gate.decided_at, gate.pk), default=None)
