"""The sweeper: it notifies of what is due, announces what is new, and outlives a database that is away."""

from __future__ import annotations

import threading
import time
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from runs.engine import sweeper as sweeping
from runs.engine.sweeper import Sweeper
from runs.events.kinds import Note
from runs.models import Discarded, Draft, Event, IdempotencyKey, User, WorkItem
from runs.store import broadcast
from tests.factories import Submit, recorded

pytestmark = pytest.mark.services


@pytest.mark.django_db
def test_it_rings_for_what_is_due_and_tells_what_is_new_since_it_began(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submitted()
    notified: list[int] = []
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(broadcast, "announce", lambda run_id, seq: told.append((run_id, seq)))
    sweeper = Sweeper(notified.extend)
    sweeper.poll()
    assert (notified, told) == ([WorkItem.objects.get().pk], [])
    recorded(run.pk, Note(text="x"))
    newest = recorded(run.pk, Note(text="x"))
    sweeper.poll()
    sweeper.poll()
    assert told == [(run.pk, newest)]


@pytest.mark.django_db(transaction=True)
def test_it_outlives_a_database_that_is_away_at_first(submitted: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    submitted()
    monkeypatch.setattr(sweeping, "POLL_INTERVAL", 0.01)
    notified: list[int] = []
    sweeper = Sweeper(notified.extend)
    away = [True]

    def once_away(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if away:
            away.clear()
            raise OperationalError("database is locked")
        sweeper.stop()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(once_away):
        sweeper._sweep()
    assert notified == [WorkItem.objects.get().pk]


@pytest.mark.django_db(transaction=True)
def test_stopping_waits_for_the_poll_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    sweeper = Sweeper(lambda _: None)
    begun, ended = threading.Event(), threading.Event()

    def poll() -> None:
        begun.set()
        sweeper._stop.wait()
        time.sleep(0.05)
        ended.set()

    monkeypatch.setattr(sweeper, "poll", poll)
    sweeper.start()
    begun.wait()
    sweeper.stop()
    assert ended.is_set()


@pytest.mark.django_db
def test_it_deletes_drafts_that_have_expired_now_and_then(alice: User) -> None:
    def expired() -> None:
        Draft.objects.create(token=uuid.uuid4(), owner=alice, expires_at=timezone.now())

    sweeper = Sweeper(lambda _: None)
    for left in (0, 1):
        expired()
        sweeper.poll()
        assert Draft.objects.count() == left


@pytest.mark.django_db
def test_it_deletes_old_answers_to_programs_now_and_then(alice: User) -> None:
    for key, age in (("new", timedelta(hours=23)), ("old", timedelta(hours=24))):
        IdempotencyKey.objects.create(user=alice, key=key, status=200, created_at=timezone.now() - age)
    Sweeper(lambda _: None).poll()
    assert [one.key for one in IdempotencyKey.objects.all()] == ["new"]


@pytest.mark.django_db
def test_it_deletes_files_of_deleted_runs_but_not_for_a_single_run(alice: User) -> None:
    def discarded() -> None:
        Discarded.objects.create(sha256="0" * 64, due_at=timezone.now())

    discarded()
    Sweeper(lambda _: None, only_run=1).poll()
    assert Discarded.objects.count() == 1
    Sweeper(lambda _: None).poll()
    assert Discarded.objects.count() == 0


@pytest.mark.django_db
def test_an_event_that_is_committed_after_one_with_a_higher_id_is_told_too(
    submitted: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL gives ids out in the order in which rows are written, and not in that of the commits."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(broadcast, "announce", lambda run_id, seq: told.append((run_id, seq)))
    late, early = submitted(), submitted()
    sweeper = Sweeper(lambda _: None)
    sweeper.poll()
    newest = Event.objects.latest("id").pk
    for event_id, run in ((newest + 2, early), (newest + 1, late)):
        Event.objects.create(id=event_id, run=run, seq=100, kind=Note(text="x").kind, at=timezone.now())
        sweeper.poll()
    assert told == [(early.pk, 100), (late.pk, 100)]
