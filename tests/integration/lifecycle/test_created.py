"""Work that was just created: its rows are in hand for the claim, each item with its own."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from runs.enums import WorkKind, WorkStatus
from runs.lifecycle import created
from runs.models import Run, WorkItem
from tests import factories as made


def attempts_under_way(run: Run) -> list[WorkItem]:
    return list(WorkItem.objects.filter(run=run, kind=WorkKind.ATTEMPT, status=WorkStatus.READY).order_by("pk"))


@pytest.mark.django_db(transaction=True)
def test_an_item_is_given_out_once_as_it_was_committed() -> None:
    run = made.executing()
    [item] = attempts_under_way(run)
    with CaptureQueriesContext(connection) as sent:
        work = created.take(item.pk)
        assert work is not None
        assert work.attempt is not None
        step = work.attempt.step
        assert (step.key, step.spec, step.plan.version) == ("inventory", made.inventory_step(), 1)
        assert step.plan.run is work.run
    assert len(sent) == 0
    assert work.run.event_count == Run.objects.get(pk=run.pk).event_count
    assert created.take(item.pk) is None


@pytest.mark.django_db(transaction=True)
def test_what_was_deferred_of_a_step_is_read_when_it_is_asked_for() -> None:
    [item] = attempts_under_way(made.executing())
    work = created.take(item.pk)
    assert work is not None
    assert work.attempt is not None
    with CaptureQueriesContext(connection) as sent:
        assert (work.attempt.step.status, work.attempt.step.tries) == ("running", 1)
    assert len(sent) == 2


@pytest.mark.django_db(transaction=True)
def test_items_of_one_transaction_share_no_row_that_changes() -> None:
    run = made.executing(made.plan(*(made.plan_step(key, f"Write {key}") for key in ("one", "two"))))
    items = [created.take(item.pk) for item in attempts_under_way(run)]
    assert len(items) == 2
    for rows in (
        [item.run for item in items if item],
        [item.attempt.step for item in items if item and item.attempt],
        [item.attempt.step.plan for item in items if item and item.attempt],
    ):
        assert len({id(row) for row in rows}) == len(items)


@pytest.mark.django_db(transaction=True)
def test_what_was_rolled_back_is_not_remembered() -> None:
    run = made.planning()
    [item] = WorkItem.objects.filter(run=run)
    created.reset()
    with transaction.atomic():
        created.remember(item)
        transaction.set_rollback(True)
    assert created.take(item.pk) is None


@pytest.mark.django_db(transaction=True)
def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(created, "MAX_REMEMBERED", 1)
    items = [WorkItem.objects.get(run=made.planning()) for _ in range(2)]
    assert [created.take(item.pk) for item in items] == [None, items[1]]
