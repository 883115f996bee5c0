"""How a run stands in a transaction: read once, and changed with its rows."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.enums import StepStatus
from runs.errors import MoveRefused
from runs.events.kinds import Note
from runs.lifecycle import outcomes
from runs.lifecycle import state as states
from runs.models import Plan, Step
from runs.store import event_log
from tests import factories as made

pytestmark = [pytest.mark.services, pytest.mark.django_db]


def test_a_change_is_one_conditional_update_and_is_seen_at_once() -> None:
    run = made.executing()
    with event_log.writing():
        state = states.of(event_log.locked(run.pk))
        with CaptureQueriesContext(connection) as sent:
            state.change("inventory", StepStatus.JUDGED, failures=1)
        event_log.record(run.pk, Note(text="x"))
    assert len(sent) == 1
    step = Step.objects.get(key="inventory")
    assert (step.status, step.failures) == (StepStatus.JUDGED, 1)
    assert (state.steps["inventory"].status, state.steps["inventory"].failures) == (StepStatus.JUDGED, 1)


def test_an_illegal_change_and_a_lost_race_are_refused() -> None:
    run = made.executing()
    with pytest.raises(MoveRefused, match="can become passed"), event_log.writing():
        states.of(event_log.locked(run.pk)).change("inventory", StepStatus.PASSED)
    with event_log.writing():
        state = states.of(event_log.locked(run.pk))
        Step.objects.filter(key="inventory").update(status=StepStatus.DROPPED)
        with pytest.raises(MoveRefused, match="is not in a state from which"):
            state.change("inventory", StepStatus.JUDGED)


def test_it_is_read_with_two_statements_once_the_plan_is_known() -> None:
    run = made.executing()
    states.of(run)
    with CaptureQueriesContext(connection) as sent:
        state = states.of(run)
    assert len(sent) == 2
    plan = Plan.objects.get(run=run)
    with CaptureQueriesContext(connection) as sent:
        assert states.of(run, plan).steps == state.steps
    assert len(sent) == 1


def test_the_newest_version_counts() -> None:
    run = made.planning()
    with event_log.writing():
        plan = outcomes.propose_plan(run, made.plan(), reason="Because.", estimate=None)
        state = states.of(event_log.locked(run.pk))
    assert state.plan == plan
    written = [(step.key, step.pk, step.status) for step in plan.steps.all()]
    assert [(step.key, step.id, step.status) for step in state.steps.values()] == written
