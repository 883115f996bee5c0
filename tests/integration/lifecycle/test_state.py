"""How a run stands in a transaction: read once, changed in memory, saved once, remembered while nothing happens."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.enums import StepStatus
from runs.errors import MoveRefused
from runs.events.kinds import Note
from runs.lifecycle import outcomes
from runs.lifecycle import state as states
from runs.lifecycle.transitions import change
from runs.models import Run, Step
from runs.store import event_log
from tests import factories as made

pytestmark = pytest.mark.services


def reads_of_steps(run: Run) -> int:
    """How often the steps are read to say how this run stands."""
    with CaptureQueriesContext(connection) as sent, event_log.writing():
        states.of(event_log.locked(run.pk))
        states.of(event_log.locked(run.pk))
    return sum('FROM "runs_step"' in query["sql"] for query in sent)


@pytest.mark.django_db
def test_steps_are_changed_in_memory_and_saved_with_one_statement() -> None:
    run = made.executing()
    with event_log.writing():
        state = states.of(event_log.locked(run.pk))
        state.change("inventory", StepStatus.JUDGED, failures=1)
        state.change("inventory", StepStatus.PENDING)
        assert (state.steps["inventory"].status, state.steps["inventory"].failures) == (StepStatus.PENDING, 1)
        assert Step.objects.get(key="inventory").status == StepStatus.RUNNING
        with CaptureQueriesContext(connection) as sent:
            state.save()
        event_log.record(run.pk, Note(text="x"))
    assert len(sent) == 1
    step = Step.objects.get(key="inventory")
    assert (step.status, step.failures) == (StepStatus.PENDING, 1)


@pytest.mark.django_db
def test_an_illegal_change_is_refused_at_once_and_a_lost_race_when_it_is_saved() -> None:
    run = made.executing()
    with pytest.raises(MoveRefused, match="cannot become passed"), event_log.writing():
        states.of(event_log.locked(run.pk)).change("inventory", StepStatus.PASSED)
    with event_log.writing():
        state = states.of(event_log.locked(run.pk))
        state.change("inventory", StepStatus.JUDGED)
        Step.objects.filter(key="inventory").update(status=StepStatus.DROPPED)
        with pytest.raises(MoveRefused, match="is not in a state from which"):
            state.save()


@pytest.mark.django_db(transaction=True)
def test_the_steps_are_remembered_until_something_happens() -> None:
    run = made.executing()
    states.reset_memory()
    assert [reads_of_steps(run), reads_of_steps(run)] == [1, 0]
    event_log.record(run.pk, Note(text="Something happened."))
    assert [reads_of_steps(run), reads_of_steps(run)] == [1, 0]


@pytest.mark.django_db(transaction=True)
def test_a_new_version_of_the_plan_is_in_hand_when_it_was_written() -> None:
    run = made.planning()
    with event_log.writing():
        plan = outcomes.propose_plan(run, made.plan(), reason="Because.", estimate=None)
        with CaptureQueriesContext(connection) as sent:
            state = states.of(event_log.locked(run.pk))
        assert (state.plan, len(sent)) == (plan, 0)
    written = [(step.key, step.pk, step.status) for step in plan.steps.all()]
    assert [(step.key, step.id, step.status) for step in state.steps.values()] == written


@pytest.mark.django_db(transaction=True)
def test_whoever_asks_after_rows_were_changed_past_the_state_reads_them() -> None:
    run = made.executing()
    with event_log.writing():
        states.of(event_log.locked(run.pk)).change("inventory", StepStatus.JUDGED)
        states.end(run)
        assert Step.objects.get(key="inventory").status == StepStatus.JUDGED
        change(Step.objects.get(key="inventory"), StepStatus.DROPPED)
        event_log.record(run.pk, Note(text="Something happened."))
        assert states.of(event_log.locked(run.pk)).steps["inventory"].status == StepStatus.DROPPED
