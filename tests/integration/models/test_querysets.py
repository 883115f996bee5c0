"""What is asked often means what its name says, over a run in each state that matters."""

from __future__ import annotations

import pytest

from runs.enums import EventKind, GateKind, WorkKind
from runs.lifecycle import gate_decisions
from runs.models import Attempt, Event, Gate, ModelCall, Plan, Run, Step, ToolCall, WorkItem
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def test_a_run_is_finished_or_it_is_not() -> None:
    planning, waiting, partial = made.planning(), made.awaiting_plan(), made.finished_partial()
    assert list(Run.objects.unfinished()) == [waiting, planning]
    assert list(Run.objects.finished()) == [partial]


def test_the_newest_plan_is_the_highest_version_whatever_became_of_it() -> None:
    run = made.awaiting_second_plan()
    newest = run.plans.newest()
    assert newest is not None
    assert [plan.version for plan in run.plans.newest_first()] == [2, 1]
    assert newest.version == 2
    assert [plan.version for plan in run.plans.rejected()] == [1]
    assert Plan.objects.none().newest() is None


def test_a_kept_step_is_settled_and_an_open_one_is_unfinished() -> None:
    run = made.replanned()
    made.planning()
    assert set(Step.objects.of_run(run)) == set(Step.objects.all())
    newest = run.plans.newest()
    assert newest is not None
    assert [step.key for step in newest.steps.settled()] == ["inventory"]
    assert [step.key for step in newest.steps.unfinished()] == ["review-service"]


def test_attempts_are_told_apart() -> None:
    run = made.failed_attempt()
    assert set(Attempt.objects.of_run(run)) == set(Attempt.objects.all())
    assert list(Attempt.objects.of_run(made.planning())) == []
    assert [attempt.step.key for attempt in Attempt.objects.passed()] == ["inventory"]
    review = Step.objects.get(key="review")
    newest = review.attempts.get(number=2)
    assert list(Attempt.objects.reused()) == []
    newest.reused_from = Attempt.objects.passed().get()
    newest.save()
    assert list(Attempt.objects.reused()) == [newest]


def test_a_gate_is_open_or_rejected_or_went_away() -> None:
    run = made.awaiting_second_plan()
    assert [(gate.kind, gate.plan.version) for gate in run.gates.open() if gate.plan] == [(GateKind.PLAN, 2)]
    assert [gate.plan.version for gate in run.gates.rejected() if gate.plan] == [1]
    stopped = made.awaiting_plan()
    gate_decisions.cancel(stopped.pk, made.alice())
    assert [stopped.gates.open().count(), stopped.gates.rejected().count(), stopped.gates.count()] == [0, 0, 1]
    assert Gate.objects.open().count() == 1


def test_work_is_open_until_it_is_done_or_cancelled() -> None:
    suspended, stopped, working = made.error_gate(), made.stopped(), made.executing()
    assert [item.kind for item in suspended.work.open()] == [WorkKind.PLAN]
    assert list(stopped.work.open()) == []
    assert [item.kind for item in working.work.open()] == [WorkKind.ATTEMPT]
    assert WorkItem.objects.open().count() == 2


def test_calls_are_told_apart() -> None:
    made.executing()
    (call,) = ModelCall.objects.live()
    assert list(ModelCall.objects.unpriced()) == []
    ModelCall.objects.update(live=False, error="The connection broke", cost_usd=None)
    assert list(ModelCall.objects.live()) == []
    assert list(ModelCall.objects.unpriced()) == [call]
    made.finished_succeeded()
    assert [refused.name for refused in ToolCall.objects.refused()] == ["read_file"]


def test_events_after_one_that_was_seen() -> None:
    run = made.awaiting_plan()
    made.planning()
    assert [event.seq for event in run.events.after(run.event_count - 2)] == [run.event_count - 1, run.event_count]
    assert Event.objects.after(0).filter(kind=EventKind.SUBMITTED).count() == 2
