"""The loop of a run: apply the moves that `moves.due` says are due, until a worker or a person has to do something."""

from typing import assert_never

from runs.enums import PlanStatus, RunStatus, StepStatus
from runs.lifecycle import effects, moves
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates import exhausted_gate, plan_gate, start_gate, step_gate
from runs.lifecycle.state import RunState
from runs.models.gates import guards_high_risk
from runs.store import event_log, trees


def advance(run_id: int) -> None:
    """Apply every move that is due. Called in the transaction of the fact that made the moves due."""
    with event_log.writing():
        go_on(states.of(event_log.locked(run_id)))


def go_on(state: RunState) -> None:
    """Apply every move that is due, beginning with a state that was read in this transaction."""
    while due := moves.due(snapshot(state)):
        for move in due:
            _apply(state, move)


_HAS_WORK = frozenset({RunStatus.PLANNING, RunStatus.FINALISING})
"""The statuses in which a work item of the whole run may be open."""


def snapshot(state: RunState) -> moves.Snapshot:
    """What `moves.due` decides on."""
    run, plan = state.run, state.plan
    unread = _may_have_unread(state) and bool(trees.readings_of(run.inputs).waiting)
    is_proposed = plan is not None and plan.status == PlanStatus.PROPOSED
    return moves.Snapshot(
        status=RunStatus(run.status),
        policy=run.policy,
        plan=PlanStatus(plan.status) if plan else None,
        agreed=plan is not None and is_proposed and plan.version > 1 and run.plans.exclude(approved_how="").exists(),
        relaxes=bool(plan and plan.relaxed),
        bound=plan is None or plan.status != PlanStatus.APPROVED or not fingerprint.differences(plan, run),
        steps=tuple(state.steps.values()),
        asked=bool(plan and is_proposed and run.status == RunStatus.PLANNING and plan_gate.waits_again(plan)),
        unread=unread,
        reading=unread and run.status == RunStatus.EXECUTING and _has_work(state),
        busy=run.status in _HAS_WORK and _has_work(state),
        paused=run.paused,
        replans=run.replans,
        final=run.final.action if run.final else None,
        repeated=run.repeated,
        guarded=guards_high_risk(),
    )


def _may_have_unread(state: RunState) -> bool:
    """Whether documents may wait. While steps are carried out, people give files to steps that were tried before."""
    if state.run.status == RunStatus.EXECUTING:
        return any(step.tries and step.status is StepStatus.PENDING for step in state.steps.values())
    return state.run.status == RunStatus.PLANNING


def _has_work(state: RunState) -> bool:
    """Whether a work item of the whole run is open."""
    return state.run.work.filter(attempt=None).open().exists()


def _apply(state: RunState, move: moves.Move) -> None:
    match move:
        case moves.ReadDocuments() | moves.AskForPlan() | moves.OpenPlanGate() | moves.ApprovePlan():
            _apply_to_plan(state, move)
        case moves.OpenStartGate(key):
            start_gate.ask(state, key)
        case moves.StartAttempt(key):
            effects.start_attempt(state, key)
        case moves.OpenStepGate(key):
            step_gate.ask(state, key)
        case moves.PassStep(key):
            effects.settle(state, key, StepStatus.PASSED)
        case moves.OpenExhaustedGate(key):
            exhausted_gate.ask(state, key)
        case moves.AcceptStep(key):
            effects.settle(state, key, StepStatus.ACCEPTED)
        case moves.FailStep(key):
            effects.fail_step(state, key)
        case moves.Replan(key):
            effects.replan(state, key)
        case moves.StartFinalise():
            effects.start_finalise(state)
        case moves.Finish():
            effects.finish(state.run)
        case _:
            # An unhandled move would be due again for ever, while the run's row is locked.
            assert_never(move)


def _apply_to_plan(
    state: RunState, move: moves.ReadDocuments | moves.AskForPlan | moves.OpenPlanGate | moves.ApprovePlan
) -> None:
    match move:
        case moves.ReadDocuments():
            effects.read_documents(state)
        case moves.AskForPlan():
            effects.ask_for_plan(state)
        case moves.OpenPlanGate():
            plan_gate.ask(state)
        case moves.ApprovePlan():
            assert state.plan is not None
            effects.approve_plan(state.run, state.plan, by=state.run.owner, how="policy")
