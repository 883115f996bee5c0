"""Transactions on runs: events are written together, and a run that has changed since it was read is not written to."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from runs.errors import Outdated
from runs.events.kinds import Note
from runs.models import Event, Run
from runs.store import event_log
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def texts(run: Run) -> list[str]:
    return [event.data["text"] for event in Event.objects.filter(run=run, kind="note").order_by("seq")]


def test_the_events_of_a_transaction_are_numbered_with_one_statement_and_written_with_another() -> None:
    run = made.planning()
    with CaptureQueriesContext(connection) as sent, event_log.writing(run):
        event_log.record(run.pk, Note(text="one"))
        event_log.keep(run, title="Another")
        event_log.record(run.pk, Note(text="two"))
    assert [query["sql"].split()[0] for query in sent if "runs_" in query["sql"]] == ["UPDATE", "INSERT"]
    assert (texts(run), Run.objects.get(pk=run.pk).title) == (["one", "two"], "Another")


def test_a_run_that_has_changed_since_it_was_read_is_not_written_to() -> None:
    run = made.planning()
    mine = Run.objects.get(pk=run.pk)
    event_log.record(run.pk, Note(text="theirs"))
    with pytest.raises(Outdated), event_log.writing(mine):
        event_log.record(run.pk, Note(text="mine"))
    assert texts(run) == ["theirs"]


def test_what_writes_nothing_is_refused_too_when_the_run_has_changed() -> None:
    run = made.planning()
    mine = Run.objects.get(pk=run.pk)
    event_log.record(run.pk, Note(text="theirs"))
    with pytest.raises(Outdated), event_log.writing(mine):
        pass


def test_a_locked_run_is_as_it_is_now_and_read_once() -> None:
    run = made.planning()
    event_log.record(run.pk, Note(text="before"))
    with event_log.writing():
        locked = event_log.locked(run.pk)
        assert event_log.locked(run.pk) is locked
        event_log.record(run.pk, Note(text="after"))
    assert texts(run) == ["before", "after"]
    assert locked.event_count == Run.objects.get(pk=run.pk).event_count


def test_nothing_is_changed_outside_of_a_transaction() -> None:
    run = made.planning()
    with pytest.raises(Exception, match=r"inside of `event_log\.writing`"):
        event_log.keep(run, title="Another")


@pytest.mark.django_db(transaction=True)
def test_a_writer_of_a_run_waits_for_its_turn_and_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    run = made.planning()
    begun, over, failed = threading.Event(), threading.Event(), list[str]()

    def hold() -> None:
        with event_log.writing():
            event_log.locked(run.pk)
            begun.set()
            over.wait(60)
        connection.close()

    def write(patience: float) -> None:
        try:
            with event_log.writing():
                if connection.vendor == "postgresql":
                    connection.cursor().execute(f"SET LOCAL lock_timeout = '{patience}s'")
                event_log.record(run.pk, Note(text="late"))
        except OperationalError as error:
            failed.append(str(error))
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert begun.wait(60)
    monkeypatch.setattr(event_log, "LOCK_TIMEOUT", 0.05)
    impatient = threading.Thread(target=write, args=(0.05,))
    impatient.start()
    impatient.join()
    monkeypatch.setattr(event_log, "LOCK_TIMEOUT", 60.0)
    patient = threading.Thread(target=write, args=(60.0,))
    patient.start()
    over.set()
    patient.join()
    holder.join()
    [said] = failed
    locked = {"sqlite": "another thread has been writing for a minute", "postgresql": "due to lock timeout"}
    assert locked[connection.vendor] in said
    assert texts(run) == ["late"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.needs("PostgreSQL")  # SQLite has one writer, who waits for nobody
def test_of_two_transactions_that_wait_for_each_other_one_is_outdated() -> None:
    runs = [made.planning(), made.planning()]
    both = threading.Barrier(2, timeout=60)
    ended: list[str] = []

    def write(mine: int) -> None:
        try:
            with event_log.writing():
                event_log.locked(runs[mine].pk)
                both.wait()
                event_log.locked(runs[1 - mine].pk)
            ended.append("written")
        except Outdated:
            ended.append("outdated")
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(mine,)) for mine in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == ["outdated", "written"]
