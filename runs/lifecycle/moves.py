"""The heart: from a snapshot of a run to the moves that are due. Pure; reads nothing, changes nothing.

`due` is asked again after each fact (a plan proposed, an attempt judged, a gate decided) until it has no move.
Then the run works, waits for a person, or is finished.
"""

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
    """How a step stands. `id` is that of its row.

    `failures` counts attempts that did not pass, `tries` all that were started. `last_action` is what the latest
    verdict asked for, `fingerprint` that of the result that was settled. `unproved`: it could not be proved that what a
    person asked for was done, so a person has to see it (T7). `cleared`: a person let it start. `refused`: instead of
    its start, or of another try after an error, a person asked for another plan, and the planner has not been asked
    since.
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
    """All that a decision depends on. `steps` are those of the newest plan, empty before there is one.

    `busy`: planning or finalising work exists (or waits at an error gate). `bound`: what was approved is what
    would run.
    `agreed`: an earlier version was approved. `relaxes`: the newest asks for less than that one did.
    `unread`: documents among its files wait to be read, which comes before any plan of theirs.
    `final`: the verdict on the success criteria, None until they are judged. `repeated`: the planner had nothing new.
    """

    status: RunStatus
    policy: Policy
    plan: PlanStatus | None = None
    agreed: bool = False
    relaxes: bool = False
    bound: bool = True
    steps: tuple[StepState, ...] = ()
    busy: bool = False
    unread: bool = False
    paused: bool = False
    replans: int = 0
    final: Action | None = None
    repeated: bool = False

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
    """`key` names the step that could not be done, or instead of which a person asked for another plan; empty when the
    success criteria are not met.
    """

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
    """The moves that are due now. Empty means: work is under way, a person is asked, it is paused, or it is over."""
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
    waits = run.policy.plan_waits(agreed=run.agreed, relaxes=run.relaxes)
    return [OpenPlanGate() if waits else ApprovePlan()]


def _executing(run: Snapshot) -> list[Move]:
    judged = [_after_verdict(run, step) for step in run.steps if step.status is StepStatus.JUDGED]
    refused = [Replan(step.key) for step in run.steps if step.refused]
    replans = refused + [move for move in judged if isinstance(move, Replan)]
    moves: list[Move] = [move for move in judged if not isinstance(move, Replan)]
    if not run.bound:
        moves = [move for move in moves if not isinstance(move, StartAttempt)]
    if moves:
        return moves
    statuses = {step.status for step in run.steps}
    failed = StepStatus.FAILED in statuses
    if not statuses & {StepStatus.RUNNING, StepStatus.WAITING}:
        if not run.bound:
            return [OpenPlanGate()]
        if replans:
            return [replans[0]]
        if failed:
            return [Finish()]
        if statuses <= TERMINAL_STEPS:
            return [StartFinalise()]
    return [] if replans or failed or not run.bound else _startable(run)


def _after_verdict(run: Snapshot, step: StepState) -> Move:
    if step.last_action is Action.PASS:
        waits = step.unproved or run.policy.step_waits(step.complexity)
        return OpenStepGate(step.key) if waits else PassStep(step.key)
    if step.last_action is Action.RETRY and step.failures < run.policy.attempts:
        return StartAttempt(step.key)
    if run.may_replan:
        return Replan(step.key)
    match run.policy.exhausted:
        case Exhausted.ASK:
            return OpenExhaustedGate(step.key)
        case Exhausted.ACCEPT:
            return AcceptStep(step.key)
        case Exhausted.FAIL:
            return FailStep(step.key)


def _startable(run: Snapshot) -> list[Move]:
    settled = {step.key for step in run.steps if step.status in SETTLED_STEPS}
    free = run.policy.parallel - sum(1 for step in run.steps if step.status is StepStatus.RUNNING)
    ready = [s for s in run.steps if s.status is StepStatus.PENDING and s.depends_on <= settled]
    asking = [s for s in ready if not s.cleared and run.policy.step_waits(s.complexity, StepMoment.BEFORE)]
    starting = [s for s in ready if s not in asking][: max(free, 0)]
    return [*(OpenStartGate(step.key) for step in asking), *(StartAttempt(step.key) for step in starting)]


def _finalising(run: Snapshot) -> list[Move]:
    if run.final is None:
        return [StartFinalise()]
    if run.final not in {Action.PASS, Action.CANNOT} and run.may_replan:
        return [Replan("")]
    return [Finish()]
