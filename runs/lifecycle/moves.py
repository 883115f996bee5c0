"""What is due in a run: from a snapshot of it to moves. A pure function, which reads and changes nothing.

`due` is called again after each fact (a plan was proposed, an attempt judged, a gate decided) until it returns no
move. Then work is under way, a person is asked, or the run is finished.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from runs.enums import (
    SETTLED_STEPS,
    TERMINAL_STEPS,
    Action,
    Complexity,
    Exhausted,
    PlanStatus,
    RunStatus,
    StepMoment,
    StepStatus,
)
from runs.pev.policy import Policy


class StepState(NamedTuple):
    """The state of a step. `id` is the primary key of its row.

    * `failures` counts attempts that did not pass, `tries` all that were started.
    * `last_action` is what the latest verdict asked for, `fingerprint` the digest of the settled result.
    * `unproved`: it could not be proved that a person's request was met, so a person has to look (T7).
    * `cleared`: a person approved its start.
    * `refused`: a person asked for another plan instead of its start, or instead of another try after an error, and the
      planner has not been asked since.
    """

    key: str
    status: StepStatus
    depends_on: frozenset[str]
    complexity: Complexity
    failures: int = 0
    last_action: Action | None = None
    tries: int = 0
    fingerprint: str = ""
    id: int = 0
    unproved: bool = False
    cleared: bool = False
    refused: bool = False


@dataclass(frozen=True)
class Snapshot:
    """Everything that a decision depends on. `steps` are those of the newest plan, empty before there is one.

    * `agreed`: an earlier version of the plan was approved. `relaxes`: the newest asks for less than that one did.
    * `bound`: what was approved is still what would run (G1).
    * `busy`: work on planning or finalising exists, or waits at an error gate.
    * `asked`: people were asked about the newest plan, so that no policy approves it.
    * `unread`: documents among the files wait to be read. That comes before any plan, which has to know their texts,
      and before anything else starts once a person has given more of them. `reading`: work on that exists.
    * `final`: the verdict on the success criteria, None until they are judged.
    * `repeated`: the planner was asked for another plan and had nothing new.
    * `guarded`: the installation demands a person for what is high-risk, whatever the policy says.
    """

    status: RunStatus
    policy: Policy
    plan: PlanStatus | None = None
    agreed: bool = False
    relaxes: bool = False
    bound: bool = True
    steps: tuple[StepState, ...] = ()
    busy: bool = False
    asked: bool = False
    unread: bool = False
    reading: bool = False
    paused: bool = False
    replans: int = 0
    final: Action | None = None
    repeated: bool = False
    guarded: bool = False

    def guards(self, step: StepState) -> bool:
        return self.guarded and step.complexity is Complexity.HIGH

    @property
    def may_replan(self) -> bool:
        return self.replans < self.policy.replans and not self.repeated


@dataclass(frozen=True)
class ReadDocuments:
    pass


@dataclass(frozen=True)
class AskForPlan:
    pass


@dataclass(frozen=True)
class OpenPlanGate:
    pass


@dataclass(frozen=True)
class ApprovePlan:
    """By policy: no person is asked."""


@dataclass(frozen=True)
class OpenStartGate:
    key: str


@dataclass(frozen=True)
class StartAttempt:
    key: str


@dataclass(frozen=True)
class OpenStepGate:
    key: str


@dataclass(frozen=True)
class PassStep:
    key: str


@dataclass(frozen=True)
class OpenExhaustedGate:
    key: str


@dataclass(frozen=True)
class AcceptStep:
    key: str


@dataclass(frozen=True)
class FailStep:
    key: str


@dataclass(frozen=True)
class Replan:
    """`key` is the step that could not be done, or that a person refused; empty if the success criteria are not met."""

    key: str


@dataclass(frozen=True)
class StartFinalise:
    pass


@dataclass(frozen=True)
class Finish:
    pass


type Move = (
    ReadDocuments
    | AskForPlan
    | OpenPlanGate
    | ApprovePlan
    | OpenStartGate
    | StartAttempt
    | OpenStepGate
    | PassStep
    | OpenExhaustedGate
    | AcceptStep
    | FailStep
    | Replan
    | StartFinalise
    | Finish
)


def due(run: Snapshot) -> list[Move]:
    """The moves that are due now. Empty if work is under way, a person is asked, or the run is paused or finished."""
    if run.paused or run.busy:
        return []
    match run.status:
        case RunStatus.PLANNING:
            return _planning(run)
        case RunStatus.EXECUTING:
            return _executing(run)
        case RunStatus.FINALISING:
            return _finalising(run)
        case RunStatus.AWAITING_APPROVAL | RunStatus.FINISHED:
            return []


def _planning(run: Snapshot) -> list[Move]:
    if run.unread:
        return [ReadDocuments()]
    if run.plan is not PlanStatus.PROPOSED:
        return [AskForPlan()]
    waits = run.asked or run.policy.plan_waits(agreed=run.agreed, relaxes=run.relaxes)
    waits = waits or any(run.guards(step) for step in run.steps if step.status not in SETTLED_STEPS)
    return [OpenPlanGate() if waits else ApprovePlan()]


def _executing(run: Snapshot) -> list[Move]:
    if run.unread and not run.reading:
        return [ReadDocuments()]
    judged = [_after_verdict(run, step) for step in run.steps if step.status is StepStatus.JUDGED]
    refused = [Replan(step.key) for step in run.steps if step.refused]
    replans = refused + [move for move in judged if isinstance(move, Replan)]
    moves: list[Move] = [move for move in judged if not isinstance(move, Replan)]
    if run.unread or not run.bound:
        moves = [move for move in moves if not isinstance(move, StartAttempt)]
    if moves:  # a verdict is dealt with before anything new begins
        return moves
    if run.unread:
        return []
    statuses = {step.status for step in run.steps}
    failed = StepStatus.FAILED in statuses
    # Another plan, or another approval, drops unfinished steps: it waits until no step is running or being decided on.
    if not statuses & {StepStatus.RUNNING, StepStatus.WAITING}:
        if not run.bound:
            return [OpenPlanGate()]
        if replans:
            return [replans[0]]
        if failed:
            return [Finish()]
        if statuses <= TERMINAL_STEPS:
            return [StartFinalise()]
    if replans or failed or not run.bound:
        return []
    ready = ready_to_start(run.steps)
    asking = [s for s in ready if not s.cleared and run.policy.step_waits(s.complexity, StepMoment.BEFORE)]
    starting = [s for s in ready if s not in asking][: free_places(run.steps, run.policy)]
    return [*(OpenStartGate(step.key) for step in asking), *(StartAttempt(step.key) for step in starting)]


def _after_verdict(run: Snapshot, step: StepState) -> Move:
    if step.last_action is Action.PASS:
        waits = step.unproved or run.policy.step_waits(step.complexity)
        waits = waits or (run.guards(step) and not step.cleared)  # cleared: a person has agreed to it before
        return OpenStepGate(step.key) if waits else PassStep(step.key)
    if step.last_action is Action.RETRY and step.failures < run.policy.attempts:
        return StartAttempt(step.key)
    if run.may_replan:
        return Replan(step.key)
    match Exhausted.ASK if run.guards(step) else run.policy.exhausted:
        case Exhausted.ASK:
            return OpenExhaustedGate(step.key)
        case Exhausted.ACCEPT:
            return AcceptStep(step.key)
        case Exhausted.FAIL:
            return FailStep(step.key)


def ready_to_start(steps: Collection[StepState]) -> list[StepState]:
    """The pending steps whose dependencies are settled."""
    settled = {step.key for step in steps if step.status in SETTLED_STEPS}
    return [step for step in steps if step.status is StepStatus.PENDING and step.depends_on <= settled]


def free_places(steps: Collection[StepState], policy: Policy) -> int:
    """How many more steps may run at the same time."""
    return max(0, policy.parallel - sum(1 for step in steps if step.status is StepStatus.RUNNING))


def _finalising(run: Snapshot) -> list[Move]:
    if run.final is None:
        return [StartFinalise()]
    if run.final not in {Action.PASS, Action.CANNOT} and run.may_replan:
        return [Replan("")]
    return [Finish()]
