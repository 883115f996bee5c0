"""What follows a decision, and a run that is stopped or paused."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from runs.enums import (
    AttemptStatus,
    EventKind,
    GateKind,
    GateStatus,
    Outcome,
    RunStatus,
    StepStatus,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.errors import DecisionRefused
from runs.lifecycle.gate_decisions import cancel, pause
from runs.models import Attempt, Event, Run, WorkItem
from runs.store import trees
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, kinds, say
from tests.integration.lifecycle.small import exhausted, waiting

pytestmark = pytest.mark.django_db


# ---- what follows -------------------------------------------------------------------------------------------------


def test_an_approved_plan_starts_and_tells_it_in_order() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert kinds(run, run.event_count) == ["gate_decided", "plan_approved", "attempt_started"]
    decided = Event.objects.get(run=run, kind=EventKind.GATE_DECIDED)
    assert (decided.data["by"], decided.data["decision"], decided.data["how"]) == ("alice", "approved", "person")


def test_a_rejected_plan_is_planned_again_and_the_rejection_costs_no_replan() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.REJECT, "Shorter.")
    assert made.open_work(run, WorkKind.PLAN).status == WorkStatus.READY
    assert fresh(run).replans == 0


def test_an_approved_step_puts_its_files_into_the_workspace() -> None:
    run = waiting()
    assert "a.md" not in trees.files_of(run.head)
    made.decide(run, GateKind.STEP, Verb.APPROVE)
    assert "a.md" in trees.files_of(fresh(run).head)


def test_a_rejected_step_is_tried_again_on_the_old_workspace_and_costs_no_failure() -> None:
    run = waiting()
    made.decide(run, GateKind.STEP, Verb.REJECT, "Name the clause.")
    step = run.plans.get().steps.get(key="a")
    attempts = list(step.attempts.values_list("number", "status"))
    assert attempts == [(1, AttemptStatus.REJECTED), (2, AttemptStatus.EXECUTING)]
    assert (step.status, step.failures, fresh(run).head_id) == (StepStatus.RUNNING, 0, run.head_id)


def test_going_on_with_a_gap_accepts_the_step_and_never_passes_it() -> None:
    run = exhausted()
    made.decide(run, GateKind.EXHAUSTED, Verb.APPROVE)
    assert run.plans.get().steps.get(key="a").status == StepStatus.ACCEPTED


def test_no_gap_wanted_gives_one_more_attempt_with_the_words_of_the_person() -> None:
    run = exhausted()
    made.decide(run, GateKind.EXHAUSTED, Verb.REJECT, "Look at clause 7.2.")
    step = run.plans.get().steps.get(key="a")
    assert (step.status, step.attempts.count()) == (StepStatus.RUNNING, 2)


def test_after_an_error_trying_again_makes_the_work_due_at_once() -> None:
    run = made.error_gate()
    made.decide(run, GateKind.ERROR, Verb.APPROVE)
    item = WorkItem.objects.get(run=run)
    assert (item.status, item.tries, item.lease_until) == (WorkStatus.READY, 0, None)
    assert item.due_at <= timezone.now()


def test_after_an_error_giving_up_fails_the_run_and_says_why() -> None:
    run = made.error_gate()
    made.decide(run, GateKind.ERROR, Verb.GIVE_UP, "Nobody is there.")
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.FAILED)
    assert run.failure.startswith("Given up after: The model's service (api.anthropic.com) refused the API key (401).")


@pytest.mark.parametrize("state_", [made.awaiting_plan, waiting, exhausted, made.error_gate])
def test_stopping_at_any_gate_cancels_the_run_and_leaves_nothing_open(state_: Any) -> None:
    run = state_()
    gate = run.gates.get(status=GateStatus.OPEN)
    say(gate, Verb.STOP)
    run.refresh_from_db()
    gate.refresh_from_db()
    assert (run.outcome, gate.status, gate.decided_by) == (Outcome.CANCELLED, GateStatus.STOPPED, made.alice())
    nothing_open(run)


def nothing_open(run: Run) -> None:
    assert not run.gates.filter(status=GateStatus.OPEN).exists()
    assert not run.work.filter(status__in=["ready", "leased", "suspended"]).exists()
    assert not Attempt.objects.filter(step__plan__run=run, status__in=["executing", "verifying"]).exists()
    statuses = {status for plan in run.plans.all() for status in plan.steps.values_list("status", flat=True)}
    assert statuses <= {StepStatus.PASSED, StepStatus.ACCEPTED, StepStatus.FAILED, StepStatus.DROPPED}


@pytest.mark.parametrize("state_", [made.awaiting_plan, waiting, exhausted])
def test_a_waiting_gate_holds_no_work_and_no_lease(state_: Any) -> None:
    run = state_()
    assert not run.work.filter(status__in=["ready", "leased", "suspended"]).exists()
    assert not run.work.exclude(lease_until=None).exists()


# ---- stopping and pausing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("state_", [made.planning, made.awaiting_plan, made.executing, waiting, made.error_gate])
def test_a_run_can_be_stopped_in_every_state(state_: Any) -> None:
    run = state_()
    cancel(run.pk, made.bob(), "Wrong folder.")
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.CANCELLED)
    assert Event.objects.get(run=run, kind=EventKind.NOTE).data["reason"] == "Wrong folder."
    nothing_open(run)


def test_what_is_finished_can_neither_be_stopped_nor_paused() -> None:
    run = made.stopped()
    with pytest.raises(DecisionRefused, match=r"^This run is already finished\.$"):
        cancel(run.pk, made.alice())
    with pytest.raises(DecisionRefused):
        pause(run.pk, made.alice(), paused=True)


def test_a_paused_run_starts_nothing_until_it_is_released() -> None:
    run = made.awaiting_plan()
    pause(run.pk, made.bob(), paused=True)
    made.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert not Attempt.objects.exists()
    pause(run.pk, made.bob(), paused=False)
    assert Attempt.objects.count() == 1
    assert [kind for kind in kinds(run, run.event_count) if kind in {"paused", "resumed"}] == ["paused", "resumed"]


@pytest.mark.parametrize("paused", [True, False])
def test_pausing_twice_is_refused_the_second_time(paused: bool) -> None:
    run = made.awaiting_plan()
    if not paused:
        pause(run.pk, made.alice(), paused=True)
    pause(run.pk, made.alice(), paused=paused)
    with pytest.raises(DecisionRefused, match=r"^The run is already in that state, or finished\.$"):
        pause(run.pk, made.bob(), paused=paused)
