"""The loop of a run: apply the moves that `moves.due` says are due, until a worker or a person has to do something."""

from typing import assert_never

from runs.enums import StepStatus
from runs.lifecycle import effects, gate_opening, moves
from runs.lifecycle import state as states
from runs.lifecycle.state import State
from runs.store import event_log


def advance(run_id: int) -> None:
    """Apply every move that is due. Called in the transaction of the fact that made them due."""
    with event_log.writing():
        state = states.of(event_log.locked(run_id))
        while due := moves.due(state.snapshot()):
            for move in due:
                _apply(state, move)


def _apply(state: State, move: moves.Move) -> None:
    match move:
        case moves.ReadDocuments() | moves.AskForPlan() | moves.OpenPlanGate() | moves.ApprovePlan():
            _apply_to_plan(state, move)
        case moves.OpenStartGate(key):
            gate_opening.open_start_gate(state, key)
        case moves.StartAttempt(key):
            effects.start_attempt(state, key)
        case moves.OpenStepGate(key):
            gate_opening.open_step_gate(state, key)
        case moves.PassStep(key):
            effects.settle(state, key, StepStatus.PASSED)
        case moves.OpenExhaustedGate(key):
            gate_opening.open_exhausted_gate(state, key)
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
            # An unhandled move would be due again for ever, with the run's row locked.
            assert_never(move)


def _apply_to_plan(
    state: State, move: moves.ReadDocuments | moves.AskForPlan | moves.OpenPlanGate | moves.ApprovePlan
) -> None:
    match move:
        case moves.ReadDocuments():
            effects.read_documents(state)
        case moves.AskForPlan():
            effects.ask_for_plan(state)
        case moves.OpenPlanGate():
            gate_opening.open_plan_gate(state)
        case moves.ApprovePlan():
            assert state.plan is not None
            effects.approve_plan(state.run, state.plan, by=state.run.owner, how="policy")
