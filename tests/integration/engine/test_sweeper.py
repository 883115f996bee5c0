"""The sweeper: it rings for what is due, tells what is new, and outlives a database that is away."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connection

from runs import journal, live
from runs.engine import sweeper as sweeping
from runs.engine.sweeper import Sweeper
from runs.events.kinds import Note
from runs.models import WorkItem
from tests.integration.conftest import Submit


@pytest.mark.django_db
def test_it_rings_for_what_is_due_and_tells_what_is_new_since_it_began(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submitted()
    rung: list[int] = []
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(live, "announce", lambda run_id, seq: told.append((run_id, seq)))
    sweeper = Sweeper(rung.append)
    sweeper.look()
    assert (rung, told) == ([WorkItem.objects.get().pk], [])
    journal.record(run.pk, Note(text="x"))
    newest = journal.record(run.pk, Note(text="x"))
    sweeper.look()
    sweeper.look()
    assert told == [(run.pk, newest)]


@pytest.mark.django_db(transaction=True)
def test_it_outlives_a_database_that_is_away_at_first(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted()
    monkeypatch.setattr(sweeping, "EVERY", 0.01)
    rung: list[int] = []
    sweeper = Sweeper(rung.append)
    away = [True]

    def once_away(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if away:
            away.clear()
            raise OperationalError("database is locked")
        sweeper.stop()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(once_away):
        sweeper._sweep()
    assert rung == [WorkItem.objects.get().pk]
