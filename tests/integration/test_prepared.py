"""A statement that is built once stores what the ORM stores."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError
from django.db.models import F, Model

from runs.models import Event, ModelCall, Run, Step, Verdict
from runs.models.prepared import insert, next_number
from tests import factories as made

pytestmark = pytest.mark.django_db


def stored(row: Model) -> dict[str, Any]:
    """Every column as it is in the database."""
    fresh = type(row)._default_manager.get(pk=row.pk)
    return {field.name: getattr(fresh, field.attname) for field in row._meta.concrete_fields}


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


def test_a_number_grows_by_one_in_its_row_alone() -> None:
    run, other = made.planning(), made.planning()
    Run.objects.filter(pk=run.pk).update(event_count=F("event_count") + 5)
    before = other.event_count
    assert [next_number(Run, run.pk, "event_count") for _ in range(2)] == [run.event_count + 6, run.event_count + 7]
    assert Run.objects.get(pk=other.pk).event_count == before
    assert not Event.objects.filter(run=run, seq__gt=run.event_count).exists()
