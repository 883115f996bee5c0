"""A column that holds a contract lets in what the contract takes, and hands out nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import models, transaction
from pydantic import ValidationError

from runs.enums import WorkKind
from runs.errors import FromLaterVersion
from runs.models import Run, ToolCall, Tree
from runs.pev.policy import Policy
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]
UNKNOWN: Any = {**made.policy().model_dump(mode="json"), "attempt": 3}


def test_what_is_saved_is_read_as_the_contract() -> None:
    run = made.planning()
    assert Run.objects.values_list("policy", flat=True).get() == run.policy
    assert isinstance(Run.objects.get().policy, Policy)


def test_a_dictionary_that_fits_may_be_given_too() -> None:
    run = made.planning()
    fits: Any = made.policy(attempts=7).model_dump(mode="json")
    Run.objects.filter(pk=run.pk).update(policy=fits)
    assert Run.objects.get().policy == made.policy(attempts=7)


def test_save_and_update_store_nothing_that_the_contract_refuses() -> None:
    run = made.planning()
    before = run.policy
    run.policy = UNKNOWN
    with pytest.raises(ValidationError), transaction.atomic():
        run.save()
    with pytest.raises(ValidationError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(policy=UNKNOWN)
    assert Run.objects.get().policy == before


def test_a_row_that_the_contract_refuses_cannot_be_read_as_one() -> None:
    made.planning()
    stored = models.Value(UNKNOWN, output_field=models.JSONField())
    Run.objects.update(policy=stored)
    later = "A later version of pevsite has written something that this one does not know (policy at attempt)."
    with pytest.raises(FromLaterVersion) as error:
        Run.objects.get()
    assert str(error.value) == later
    with pytest.raises(FromLaterVersion):
        Run.objects.values_list("policy", flat=True).get()


def test_a_key_inside_is_looked_up_as_in_any_json() -> None:
    made.planning()
    assert (
        Run.objects.filter(policy__attempts=made.policy().attempts).values_list("policy__attempts", flat=True).get()
        == 3
    )
    assert not Run.objects.filter(policy__attempts=7).exists()


def test_migrations_see_json_and_no_contract() -> None:
    _, path, args, options = Run._meta.get_field("policy").deconstruct()
    assert (path, args, options) == ("django.db.models.JSONField", [], {})


def test_the_journal_is_read_as_it_was_written() -> None:
    """Keys in their order, numbers with their digits, any character: what a model was told is told again (D3)."""
    said = {"zeta": 1.0, "a": 1e22, "inner": {"b": [1, 2.50], "aa": "\0 and \ud800"}}
    with made.working(made.planning(), WorkKind.PLAN) as item:
        made.tool(item, 1, "list_files", said, "none")
    arguments = ToolCall.objects.get().arguments
    assert json.dumps(arguments) == json.dumps(said)


def test_the_order_of_a_contract_stays() -> None:
    paths = ["longer/than/the.next", "b", "a"]
    made.planning()
    Tree.objects.update(changes=dict.fromkeys(paths))
    assert [list(changes) for changes in Tree.objects.values_list("changes", flat=True)] == [paths]
