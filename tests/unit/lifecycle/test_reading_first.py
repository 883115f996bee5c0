"""Documents are read before there is a plan of theirs, whoever makes it, and not while something else goes on."""

import pytest

from runs.enums import PlanStatus, RunStatus
from runs.lifecycle.moves import AskForPlan, OpenPlanGate, ReadDocuments, Snapshot, due
from tests.unit.lifecycle.test_moves import POLICY


@pytest.mark.parametrize("plan", [None, PlanStatus.PROPOSED, PlanStatus.REJECTED])
def test_documents_are_read_before_a_plan_is_made_or_asked_about(plan: PlanStatus | None) -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY, plan, unread=True)) == [ReadDocuments()]


def test_once_they_are_read_planning_goes_on() -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY)) == [AskForPlan()]
    assert due(Snapshot(RunStatus.PLANNING, POLICY, PlanStatus.PROPOSED)) == [OpenPlanGate()]


@pytest.mark.parametrize(("busy", "paused"), [(True, False), (False, True)])
def test_nothing_is_read_while_something_goes_on_or_nothing_may(busy: bool, paused: bool) -> None:
    assert due(Snapshot(RunStatus.PLANNING, POLICY, unread=True, busy=busy, paused=paused)) == []


@pytest.mark.parametrize("status", [RunStatus.AWAITING_APPROVAL, RunStatus.FINISHED])
def test_who_waits_or_has_ended_reads_nothing(status: RunStatus) -> None:
    assert due(Snapshot(status, POLICY, PlanStatus.APPROVED, unread=True)) == []
