"""What a later version has written, met by a worker of this one: left to the others, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs.engine import perform as room
from runs.engine.perform import perform
from runs.enums import WorkStatus
from runs.models import Event, Gate, Run, Step, User, WorkItem
from tests import later
from tests.factories import Submit, answer, drain
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.services]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """The next test's work items may have the same numbers."""
    room._left.clear()
    yield
    room._left.clear()


def ready(submitted: Submit, alice: User) -> tuple[Run, WorkItem]:
    run = submitted()
    drain(run)
    answer(run, alice)
    return run, WorkItem.objects.filter(run=run, status=WorkStatus.READY)[0]


def state(run: Run) -> list[Any]:
    return [
        list(
            WorkItem.objects.filter(run=run).order_by("pk").values_list("status", "epoch", "due_at", "tries", "losses")
        ),
        Event.objects.filter(run=run).count(),
        list(Gate.objects.filter(run=run).order_by("pk").values_list("status", flat=True)),
    ]


@pytest.mark.parametrize("write", [later.later_status, later.later_policy, later.later_check])
def test_work_that_it_cannot_read_is_not_claimed(
    api: FakeAnthropic, submitted: Submit, alice: User, write: Callable[[Run], None]
) -> None:
    api.script(Team(plan=plan(step("one"))))
    run, item = ready(submitted, alice)
    write(run)
    before = state(run)
    perform(item.pk)
    perform(item.pk)
    assert state(run) == before


@pytest.mark.slow
def test_work_under_way_is_given_back_where_it_meets_something_of_a_later_version(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    api.script(Team(plan=plan(step("one"), step("two"))))
    run, item = ready(submitted, alice)
    assert item.attempt is not None
    other = Step.objects.filter(plan__run=run).exclude(pk=item.attempt.step_id)[0]
    before = Gate.objects.count()
    later.write(other, "status", "delegated")
    perform(item.pk)
    item = WorkItem.objects.only("status", "lease_until", "epoch").get(pk=item.pk)
    assert (item.status, item.lease_until, item.epoch) == (WorkStatus.READY, None, 1)
    assert Gate.objects.count() == before, "nobody is asked about an error"
    perform(item.pk)
    assert WorkItem.objects.values_list("epoch", flat=True).get(pk=item.pk) == 1, "it is left alone for a while"
    room._left.clear()
    later.write(other, "status", "pending")
    drain(run)
    assert run.outcome == "succeeded"
