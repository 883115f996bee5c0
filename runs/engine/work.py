"""Owns leases on work items: claim, heartbeat, fence, release. The row decides; a worker only believes.

A claim is a compare-and-set. While a lease lives nobody else may claim; when it is not renewed for `LEASE_SECONDS`
anybody may. Each claim raises the epoch, and a commit under an older epoch is refused (D2).
"""

import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from runs.enums import WorkStatus
from runs.errors import LeaseLost, MoveRefused
from runs.lifecycle.transitions import change
from runs.models import WorkItem

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Lease:
    """The right to work on an item until `lost` is set. `epoch` fences what is committed under it.

    `taken_over`: the owner before went silent. `item` is as it was when it was claimed, with its run and its attempt:
    nobody else changes it or its attempt.
    """

    work_id: int
    epoch: int
    item: WorkItem = field(compare=False, repr=False)
    taken_over: bool = False
    lost: threading.Event = field(default_factory=threading.Event, compare=False)

    def check(self) -> None:
        """Raises LeaseLost once somebody else owns the item or it was cancelled. Costs nothing."""
        if self.lost.is_set():
            raise LeaseLost("The lease of this work is gone.")


def due(now: datetime) -> Q:
    """Items that may be claimed: ready and due, or leased by somebody who went silent."""
    ready = Q(status=WorkStatus.READY.value, due_at__lte=now)
    return ready | Q(status=WorkStatus.LEASED.value, lease_until__lt=now)


def claim(work_id: int) -> Lease | None:
    """The lease, or None when the item is not to be had."""
    now = timezone.now()
    wanted = WorkItem.objects.select_related("run", "attempt__step__plan", "attempt__base")
    work = wanted.filter(due(now), pk=work_id).first()
    if work is None:
        return None
    if work.attempt:
        work.attempt.step.plan.run = work.run
    until = now + timedelta(seconds=settings.LEASE_SECONDS)
    fresh = due(now) & Q(epoch=work.epoch)
    taken_over = work.status == WorkStatus.LEASED
    try:
        change(work, WorkStatus.LEASED, where=fresh, epoch=work.epoch + 1, lease_owner=_owner(), lease_until=until)
    except MoveRefused:
        return None
    return Lease(work_id, work.epoch, work, taken_over)


def _owner() -> str:
    return f"{socket.gethostname()[:40]}/{os.getpid()}/{threading.get_ident()}"[:80]


@contextmanager
def fenced(lease: Lease) -> Iterator[WorkItem]:
    """A transaction that commits only under a living lease. Raises LeaseLost, and nothing is written."""
    with transaction.atomic():
        heartbeat.extend(lease)
        lease.check()
        yield lease.item


def done(work: WorkItem) -> None:
    change(work, WorkStatus.DONE, lease_until=None)


def postpone(work: WorkItem, until: datetime) -> None:
    """Give the item back; the sweeper rings for it at `until`. No thread sleeps for it."""
    change(work, WorkStatus.READY, lease_until=None, due_at=until, tries=F("tries") + 1)


class Heartbeat:
    """One thread of a process that extends every lease the process holds."""

    def __init__(self) -> None:
        self._held: dict[int, Lease] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[None]:
        """Extend this lease until the block is left."""
        with self._lock:
            self._held[lease.work_id] = lease
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease.work_id, None)

    def _beat(self) -> None:
        while not self._stop.wait(min(settings.LEASE_SECONDS / 3, 2.0)):
            with self._lock:
                held = list(self._held.values())
            try:
                for lease in held:
                    self.extend(lease)
            except Exception:
                log.exception("the leases could not be extended; it is tried again before they expire")
            finally:
                connection.close()

    def give_back(self) -> None:
        """Make everything this process holds claimable at once, for a quick stop. Its workers lose their leases."""
        with self._lock:
            held = list(self._held.values())
        for lease in held:
            lease.lost.set()
            with suppress(MoveRefused, WorkItem.DoesNotExist):
                row = WorkItem.objects.get(pk=lease.work_id)
                change(row, WorkStatus.READY, where=Q(epoch=lease.epoch), lease_until=None)

    @staticmethod
    def extend(lease: Lease) -> None:
        """One heartbeat. A lease that cannot be extended is marked as lost, so that its worker stops soon (D6)."""
        until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
        mine = WorkItem.objects.filter(pk=lease.work_id, epoch=lease.epoch, status=WorkStatus.LEASED.value)
        if mine.update(lease_until=until) != 1:
            lease.lost.set()


heartbeat = Heartbeat()
