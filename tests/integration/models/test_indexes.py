"""Indexes serve their queries on each database."""

from typing import Any

import pytest
from django.apps import apps
from django.db import connection, models

from runs.enums import Show
from runs.readmodel.run_queries import Filters, Sort, keys_of_list
from tests.factories import alice

pytestmark = pytest.mark.django_db


def test_no_index_has_a_condition_with_a_value_which_sqlite_would_never_use() -> None:
    conditions = {
        index.name: index.condition
        for model in apps.get_app_config("runs").get_models()
        for index in model._meta.indexes
        if index.condition
    }
    assert conditions
    assert {name for name, condition in conditions.items() if not _only_asks_for_null(condition)} == set()


def _only_asks_for_null(condition: Any) -> bool:
    return all(
        _only_asks_for_null(term) if isinstance(term, models.Q) else term[0].endswith("__isnull")
        for term in condition.children
    )


def test_the_inbox_reads_its_decisions_in_order_from_an_index() -> None:
    keys = keys_of_list(alice(), Show.MINE, Filters(), Sort.WAITING, [])[:25]
    steps = keys.explain()
    if connection.vendor == "sqlite":
        assert "USING INDEX gate_waiting (status=?)" in steps
        assert "ORDER BY" not in steps
