"""Leases: one owner at a time, taken over when silent, and nothing committed by whoever lost it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.engine import claim
from runs.engine.perform import perform
from runs.enums import EventKind, GateKind, WorkStatus
from runs.errors import LeaseLost
from runs.events.kinds import Note
from runs.lifecycle.gate_decisions import cancel
from runs.models import Run, User, WorkItem
from runs.store import event_log, trees
from tests.factories import Submit, answer, open_gate
from tests.waiting import wait_until

pytestmark = pytest.mark.services


@pytest.fixture
def item(submitted: Submit) -> WorkItem:
    return WorkItem.objects.get(run=submitted())


def silent(item: WorkItem) -> None:
    """The owner stopped its heartbeat long ago."""
    WorkItem.objects.filter(pk=item.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_claimed_item_is_not_to_be_had(item: WorkItem) -> None:
    assert claim.claim(item.pk) is not None
    assert claim.claim(item.pk) is None


@pytest.mark.django_db(transaction=True)
def test_a_claim_reads_the_item_once_changes_it_once_and_reads_what_its_documents_say(submitted: Submit) -> None:
    item = WorkItem.objects.get(run=submitted())
    with CaptureQueriesContext(connection) as sent:
        lease = claim.claim(item.pk)
    assert lease is not None
    assert [query["sql"].split()[0] for query in sent] == ["SELECT", "BEGIN", "UPDATE", "COMMIT", "SELECT"]
    item.refresh_from_db()
    assert (item.status, item.epoch) == (WorkStatus.LEASED, lease.epoch)
    assert item.lease_until is not None


@pytest.mark.django_db(transaction=True)
def test_an_item_of_a_cancelled_run_is_not_to_be_had(submitted: Submit) -> None:
    run = submitted()
    item = WorkItem.objects.get(run=run)
    cancel(run.pk, run.owner)
    assert claim.claim(item.pk) is None


def test_an_item_that_is_not_due_is_not_to_be_had(item: WorkItem) -> None:
    WorkItem.objects.filter(pk=item.pk).update(due_at=timezone.now() + timedelta(seconds=60))
    assert claim.claim(item.pk) is None


def test_a_silent_owner_is_replaced_and_cannot_commit(item: WorkItem) -> None:
    first = claim.claim(item.pk)
    assert first is not None
    silent(item)
    second = claim.claim(item.pk)
    assert second is not None
    assert second.epoch == first.epoch + 1
    with pytest.raises(LeaseLost):
        claim.commit(first, claim.finish)
    claim.commit(second, claim.finish)
    item.refresh_from_db()
    assert (item.status, item.lease_until) == (WorkStatus.DONE, None)


def test_a_heartbeat_extends_only_a_living_lease(item: WorkItem) -> None:
    lease = claim.claim(item.pk)
    assert lease is not None
    silent(item)
    claim.Heartbeat.extend(lease)
    item.refresh_from_db()
    assert item.lease_until is not None
    assert item.lease_until > timezone.now() + timedelta(seconds=settings.LEASE_SECONDS - 5)
    assert not lease.lost.is_set()
    silent(item)
    claim.claim(item.pk)
    claim.Heartbeat.extend(lease)
    assert lease.lost.is_set()
    with pytest.raises(LeaseLost):
        lease.check()


def test_a_cancelled_run_takes_the_lease_away(item: WorkItem) -> None:
    lease = claim.claim(item.pk)
    assert lease is not None
    cancel(item.run_id, item.run.owner)
    claim.Heartbeat.extend(lease)
    assert lease.lost.is_set()
    with pytest.raises(LeaseLost):
        claim.commit(lease, claim.finish)


def test_what_is_given_back_is_claimable_at_once(item: WorkItem) -> None:
    lease = claim.claim(item.pk)
    assert lease is not None
    beating = claim.Heartbeat()
    with beating.keeping(lease):
        beating.give_back()
    assert lease.lost.is_set()
    assert claim.claim(item.pk) is not None


def test_a_notification_for_finished_or_unknown_work_does_nothing(item: WorkItem) -> None:
    cancel(item.run_id, item.run.owner)
    before = Run.objects.get(pk=item.run_id).event_count
    perform(item.pk)
    perform(987_654)
    assert Run.objects.get(pk=item.run_id).event_count == before


@pytest.mark.parametrize("tries", [0, 1])
def test_work_that_is_taken_over_says_so(item: WorkItem, tries: int) -> None:
    claim.claim(item.pk)
    WorkItem.objects.update(tries=tries)
    silent(item)
    perform(item.pk)
    assert item.run.events.filter(kind=EventKind.RECOVERED).count() == 1


def test_a_person_who_says_try_again_ends_a_row_of_losses(item: WorkItem, alice: User) -> None:
    WorkItem.objects.update(losses=settings.MAX_LOSSES)
    perform(item.pk)
    item.refresh_from_db()
    assert (item.status, open_gate(item.run).kind) == (WorkStatus.SUSPENDED, GateKind.ERROR)
    answer(item.run, alice)
    item.refresh_from_db()
    assert (item.status, item.losses) == (WorkStatus.READY, 0)


def test_work_that_was_given_back_is_no_loss(item: WorkItem) -> None:
    lease = claim.claim(item.pk)
    assert lease is not None
    beating = claim.Heartbeat()
    with beating.keeping(lease):
        beating.give_back()
    perform(item.pk)
    assert not item.run.events.filter(kind=EventKind.RECOVERED).exists()


@pytest.mark.django_db(transaction=True)
def test_of_sixteen_who_claim_one_wins(submitted: Submit) -> None:
    item = WorkItem.objects.get(run=submitted())
    won: list[claim.Lease] = []
    barrier = threading.Barrier(16)

    def claim_once() -> None:
        barrier.wait()
        lease = claim.claim(item.pk)
        if lease is not None:
            won.append(lease)
        connection.close()

    threads = [threading.Thread(target=claim_once) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reads", ["the work", "the run"])
def test_who_waited_for_a_run_sees_the_files_it_got_meanwhile(item: WorkItem, reads: str) -> None:
    """A step was merged or a file was given while another step waited to commit: its lease is as good as before."""
    lease = claim.claim(item.pk)
    assert lease is not None
    lease.current = False
    held = threading.Event()
    digests: list[str] = []

    def merge() -> None:
        with event_log.writing():
            run = event_log.locked(item.run_id)
            event_log.record(run.pk, Note(text="merged"))
            held.set()
            wait_until(_somebody_waits, 60)
            tree = trees.make_tree({"new.txt": FileInfo("0" * 64, 1)})
            event_log.keep(run, head=tree, inputs=tree)
        connection.close()

    def head(work: WorkItem) -> None:
        digests.append(work.run.head.digest)

    thread = threading.Thread(target=merge)
    thread.start()
    assert held.wait(60)
    if reads == "the work":
        claim.commit(lease, head)
    else:
        with event_log.writing():
            digests.append(event_log.locked(item.run_id).inputs.digest)
    thread.join()
    assert digests == [Run.objects.get(pk=item.run_id).head.digest]


def _somebody_waits() -> bool:
    if connection.vendor == "sqlite":  # one writer at a time: who waits has read nothing yet
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


def test_a_busy_database_does_not_end_the_heartbeat(settings: Any) -> None:
    """One beat that fails must not leave every later lease of this process without any."""
    settings.LEASE_SECONDS = 0.03
    beats: list[int] = []
    third = threading.Event()

    class Busy(claim.Heartbeat):
        @staticmethod
        def extend(lease: claim.Lease) -> None:
            beats.append(lease.item.pk)
            if len(beats) == 1:
                raise OperationalError("database is locked")
            if len(beats) == 3:
                third.set()

    heartbeat = Busy()
    with heartbeat.keeping(claim.Lease(WorkItem(pk=7), 1)):
        assert third.wait(60)
    heartbeat._stop.set()
