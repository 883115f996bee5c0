"""A statement that is built once gives and stores what the ORM does, for whatever values and in whatever thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.db.models import F, Model
from django.utils import timezone

from runs.enums import WorkStatus
from runs.models import Event, ModelCall, Run, Step, Verdict, WorkItem
from runs.models.prepared import Select, insert, next_number, update
from tests import factories as made

pytestmark = pytest.mark.django_db

WORK = WorkItem.objects.select_related("run", "attempt__step__plan")
work_of = Select(lambda pk: WORK.filter(pk=pk))
steps_of = Select(
    lambda plan, *keys: Step.objects.filter(plan=plan, key__in=keys).order_by("position").values_list("key", "spec")
)


def stored(row: Model) -> dict[str, Any]:
    """Every column as it is in the database."""
    fresh = type(row)._default_manager.get(pk=row.pk)
    return {field.name: getattr(fresh, field.attname) for field in row._meta.concrete_fields}


def test_a_row_comes_with_its_relations_as_from_the_orm(django_assert_num_queries: Any) -> None:
    made.failed_attempt()
    made.planning()
    rows = list(WORK)
    assert len(rows) > 4
    for row in rows:
        with django_assert_num_queries(1):
            (found,) = work_of.rows(row.pk)
            assert vars(found) | {"_state": 0} == vars(row) | {"_state": 0}
            assert (found.run, found.attempt) == (row.run, row.attempt)
            if found.attempt and row.attempt:
                assert found.attempt.step.plan.header == row.attempt.step.plan.header
    assert work_of.first(987_654) is None


def test_values_may_be_texts_and_of_any_number() -> None:
    one, other = (made.executing().plans.get() for _ in range(2))
    made.review_step()
    expected = list(other.steps.order_by("position").values_list("key", "spec"))
    assert steps_of.rows(other.pk, "review", "inventory") == expected[:2]
    assert steps_of.rows(other.pk, "notices") == expected[2:]
    assert steps_of.rows(one.pk, "inventory", "review", "notices") == expected
    assert steps_of.rows(one.pk, "' OR 1=1 --") == []


@pytest.mark.django_db(transaction=True)
def test_every_thread_asks_through_its_own_connection() -> None:
    item = made.open_work(made.planning(), made.WorkKind.PLAN)

    def asked(_: int) -> list[WorkItem]:
        try:
            return work_of.rows(item.pk)
        finally:
            connection.close()

    assert asked(0) == [item]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(asked, range(4))) == 4 * [[item]]


def test_a_row_is_stored_as_the_orm_stores_it() -> None:
    work = made.open_work(made.executing(), made.WorkKind.ATTEMPT)
    values = {
        "run": work.run,
        "work": work,
        "attempt": work.attempt,
        "generation": 0,
        "live": False,
        "role": "executor",
        "model": "ä",
        "question": "q",
        "content": [{"type": "text", "text": "”"}],
        "cost_usd": Decimal("0.00012345"),
        "duration_ms": 7,
    }
    by_hand = insert(ModelCall, ordinal=1, **values)
    by_orm = ModelCall.objects.create(ordinal=1, **values)
    times = {"id": 0, "created_at": 0}
    assert stored(by_hand) | times == stored(by_orm) | times
    assert by_hand.created_at <= by_orm.created_at
    by_hand.model = "changed"
    by_hand.save()
    assert list(ModelCall.objects.filter(role="executor").values_list("model", flat=True)) == ["changed", "ä"]


def test_constraints_hold() -> None:
    run = made.executing()
    attempt = Step.objects.filter(attempts__isnull=False).get(plan__run=run).attempts.get()
    with pytest.raises(IntegrityError):
        insert(Verdict, attempt=attempt, stage="model", passed=True, action="pass", severity="minor", criteria=0)


def test_a_row_is_changed_only_where_it_is_as_expected() -> None:
    first, _ = (made.open_work(made.planning(), made.WorkKind.PLAN) for _ in range(2))
    now = timezone.now()
    values = {"trouble": "gone", "due_at": now, "tries": 3}
    assert not update(WorkItem, first.pk, values, status=[WorkStatus.DONE, WorkStatus.PARKED])
    assert not update(WorkItem, first.pk, values, status=[WorkStatus.READY], epoch=[1])
    assert not update(WorkItem, 987_654, values)
    assert not WorkItem.objects.filter(trouble="gone").exists()
    assert update(WorkItem, first.pk, values, status=[WorkStatus.PARKED, WorkStatus.READY], epoch=[0])
    assert list(WorkItem.objects.filter(trouble="gone", due_at=now, tries=3)) == [first]


def test_a_relation_is_set_by_its_row() -> None:
    run, other = made.planning(), made.finished_succeeded()
    assert update(Run, run.pk, {"head": other.head})
    assert Run.objects.get(pk=run.pk).head == other.head


def test_a_number_grows_by_one_in_its_row_alone() -> None:
    run, other = made.planning(), made.planning()
    Run.objects.filter(pk=run.pk).update(event_count=F("event_count") + 5)
    before = other.event_count
    assert [next_number(Run, run.pk, "event_count") for _ in range(2)] == [run.event_count + 6, run.event_count + 7]
    assert Run.objects.get(pk=other.pk).event_count == before
    assert not Event.objects.filter(run=run, seq__gt=run.event_count).exists()
