"""Leases on work items: claim, heartbeat, commit, release (D2). The row decides who owns an item.

A claim is a compare-and-set, and each claim raises the epoch. While a lease is valid, no other worker can claim the
item; once it was not extended for `LEASE_SECONDS`, anybody can. An owner that was only slow may still believe that it
holds the lease. Taking an item over therefore records an event: the old owner's next commit finds that the run has
changed, reads its item again and is refused.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from runs.engine import process_registry
from runs.enums import AuditKind, WorkStatus
from runs.errors import LeaseLost, MoveRefused, Outdated
from runs.events import kinds as events
from runs.lifecycle.transitions import change
from runs.llm.capabilities import capacities
from runs.logs import LogFields, about
from runs.models import WorkItem, clock
from runs.pev.agents import policy_for_agent
from runs.pev.policy import Capacities
from runs.store import audit_trail, event_log, trees

log = logging.getLogger(__name__)
BEAT = 2.0
"""The most seconds between two heartbeats. With short leases it is a third of the lease."""


@dataclass
class Lease:
    """The right to work on an item until `lost` is set. A commit under an older `epoch` is refused.

    `item` is the row as it was read last, with its run and its attempt. `current` is true until it turns out that
    others have written to the run since then. `committing` is held during a commit.
    """

    item: WorkItem
    epoch: int
    lost: threading.Event = field(default_factory=threading.Event)
    current: bool = True
    committing: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raises LeaseLost if someone else owns the item or it was cancelled. Reads no rows."""
        if self.lost.is_set():
            raise LeaseLost("The lease of this work is gone.")

    @property
    def about(self) -> dict[str, LogFields]:
        """The fields of its log lines."""
        of = LogFields(run=self.item.run_id, work=self.item.pk, epoch=self.epoch)
        if attempt := self.item.attempt:
            of["step"], of["attempt"] = attempt.step.key, attempt.number
        return about(**of)


def due() -> Q:
    """Items that may be claimed: ready and due, or with an expired lease."""
    now = clock.now()
    ready = Q(status=WorkStatus.READY.value, due_at__lte=now)
    return ready | Q(status=WorkStatus.LEASED.value, lease_until__lt=now)


def claim(work_id: int) -> Lease | None:
    """The lease; None if the item cannot be claimed, or if this process takes no new work."""
    if process_registry.draining.is_set():
        return None
    work = _read(Q(pk=work_id) & due())
    lease = _take(work) if work else None
    if work and lease:
        attempt = work.attempt
        trees.load_readings([work.run.inputs, attempt.base if attempt else work.run.head])
    return lease


def _take(work: WorkItem) -> Lease | None:
    """The lease; None if the item has changed since it was read."""
    # Every claim raises the epoch and every heartbeat moves the end of the lease, so that these two show any change.
    as_read = {"epoch": work.epoch, "lease_until": work.lease_until}
    until = clock.after(timedelta(seconds=settings.LEASE_SECONDS))
    taken_over = work.status == WorkStatus.LEASED
    losses = work.losses + 1 if taken_over else work.losses  # counted first: the work may end this process as well
    capabilities = work.capacities or _capacities_of(work)
    claimed = {"epoch": work.epoch + 1, "losses": losses, "lease_owner": process_registry.owner(), "lease_until": until}
    try:
        with event_log.writing(work.run if taken_over else None):
            change(work, WorkStatus.LEASED, where=as_read, capacities=capabilities, **claimed)
            if taken_over:
                event_log.record(work.run_id, events.Recovered(work=work.kind))
    except (MoveRefused, Outdated):  # another worker was faster, or the run changed: the sweeper tries again
        return None
    lease = Lease(work, work.epoch)
    log.info("taken over" if taken_over else "claimed", extra=lease.about)
    return lease


def _capacities_of(work: WorkItem) -> Capacities:
    """What the models of this work can be shown, according to what is known now."""
    if work.attempt is None:
        return capacities(work.run.policy)
    policy = policy_for_agent(work.run.policy, work.attempt.agent)
    others = {name: policy_for_agent(policy, one) for name, one in work.attempt.subagents.items()}
    known = {name: capacities(own).executor for name, own in others.items()}
    return capacities(policy).model_copy(update={"subagents": known})


_RELATED = ("run__inputs", "run__head__root", "attempt__step__plan", "attempt__base__root")
_TREES = ("run__inputs", "run__head", "run__head__root", "attempt__base", "attempt__base__root")
_LARGE = ("attempt__step__plan__estimate", *(f"{tree}__changes" for tree in _TREES))
"""Columns that grow with the plan or the folder and that no work needs: files of trees are cached by digest."""


def _read(which: Q) -> WorkItem | None:
    rows = WorkItem.objects.select_related(*_RELATED).defer(*_LARGE)
    work = next(iter(rows.order_by().filter(which)), None)  # at most one row, so there is nothing to sort
    if work is None:
        return None
    if work.attempt:
        work.attempt.step.plan.run = work.run
    return work


def commit[Value](lease: Lease, write: Callable[[WorkItem], Value], *, calls_only: bool = False) -> Value:
    """Call `write` in one transaction under a living lease, and return its result.

    Raises LeaseLost, and then nothing is written. `write` may be called several times: if the run has changed, it is
    rolled back and called again with fresh rows. With `calls_only`, for rows of calls, which depend on no other rows,
    only the lease and the number of the newest event are read again.
    """
    # The first try trusts the item as it was read last, so that a run in which nothing else happens needs no SELECT.
    with lease.committing:
        lease.check()  # under the lock: a lease that is given back is marked as lost before
        if lease.current:
            try:
                with event_log.writing(lease.item.run):
                    return write(lease.item)
            except (Outdated, MoveRefused):  # a changed status can be noticed before the number of events is
                lease.current = False
        while True:
            try:
                with event_log.writing():
                    _refresh(lease, calls_only=calls_only)
                    value = write(lease.item)
                lease.current = not calls_only
                return value
            except Outdated:  # calls alone lock no rows, so that others may write in between
                continue


def _refresh(lease: Lease, *, calls_only: bool) -> None:
    """Read the item again. Raises LeaseLost."""
    mine = Q(pk=lease.item.pk, epoch=lease.epoch, status=WorkStatus.LEASED.value)
    if calls_only:
        number = WorkItem.objects.filter(mine).values_list("run__event_count", flat=True).first()
        found = None if number is None else lease.item
        lease.item.run.event_count = number or 0
    else:
        event_log.lock_rows(WorkItem.objects.filter(mine).select_related("run").only("run__id"), "self", "run")
        found = _read(mine)
    if found is None:
        lease.lost.set()
        raise LeaseLost("The lease of this work is gone.")
    lease.item = found
    event_log.trust(found.run)


def finish(work: WorkItem) -> None:
    change(work, WorkStatus.DONE, lease_until=None)


def postpone(work: WorkItem, until: datetime, **fields: Any) -> None:
    """Give the item back until a time, and set other columns. No thread waits: the sweeper notifies a worker then."""
    wait = until - timezone.now()
    change(work, WorkStatus.READY, lease_until=None, due_at=clock.after(wait), losses=0, **fields)


def give_back(lease: Lease) -> None:
    """End a lease of this process, so that another process can claim the item at once."""
    # Marked first: the worker's next commit is refused. A commit in progress ends before the item is given back.
    lease.lost.set()
    with lease.committing, event_log.writing(), suppress(MoveRefused):
        change(lease.item, WorkStatus.READY, where={"epoch": lease.epoch}, lease_until=None)


def hurry(work_id: int, by: str) -> bool:
    """Carry out an item now that waits for its time. False if it does not wait."""
    waits = Q(pk=work_id, status=WorkStatus.READY.value, due_at__gt=clock.now())
    return _operate(waits, f"{by} had the work tried again at once.", "tried again at once", due_at=clock.now())


def release(work_id: int, by: str) -> bool:
    """End the lease on an item, so that another process takes it over. False if there is no lease.

    If the owner is alive, it notices at its next heartbeat or commit, and writes nothing more.
    """
    held = Q(pk=work_id, status=WorkStatus.LEASED.value)
    over = clock.after(-timedelta(seconds=1))
    note = f"{by} took the work from the process that held it."
    return _operate(held, note, "taken from its process", lease_until=over)


def _operate(which: Q, note: str, what: str, **changes: Any) -> bool:
    """Change an item, with a note in the history and a line of the audit trail."""
    with event_log.writing():
        item = WorkItem.objects.filter(which).values_list("pk", "run_id").first()
        if item is None or not WorkItem.objects.filter(which).update(**changes):
            return False
        number, run_id = item
        event_log.record(run_id, events.Note(text=note))
        audit_trail.record(AuditKind.OPERATED, run_id=run_id, subject=f"work {number}", name=what)
    return True


class Heartbeat:
    """A thread that extends all leases of this process."""

    def __init__(self) -> None:
        self._held: dict[int, Lease] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, lease: Lease) -> Iterator[None]:
        """Extend this lease until the block is left."""
        with self._lock:
            self._held[lease.item.pk] = lease
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease.item.pk, None)

    def _beat(self) -> None:
        while not self._stop.wait(min(settings.LEASE_SECONDS / 3, BEAT)):
            failed: Exception | None = None
            for lease in self._leases():
                try:
                    self.extend(lease)
                except Exception as error:  # of this one: another process may have been writing for long
                    failed = error
            if failed:
                log.error("leases could not be extended; it is tried again before they expire", exc_info=failed)
            connection.close()  # not kept open: it is used only every two seconds

    def _leases(self) -> list[Lease]:
        # A copy: extending waits for the database, and meanwhile work must be able to begin and end.
        with self._lock:
            return list(self._held.values())

    def give_back(self) -> None:
        """End all leases of this process, for a quick stop. Other processes can claim the items at once."""
        for lease in self._leases():
            give_back(lease)

    @staticmethod
    def extend(lease: Lease) -> None:
        """Extend a lease. If that is not possible, it is marked as lost, so that its worker stops soon (D6)."""
        until = clock.after(timedelta(seconds=settings.LEASE_SECONDS))
        mine = WorkItem.objects.filter(pk=lease.item.pk, epoch=lease.epoch, status=WorkStatus.LEASED.value)
        with event_log.writing():
            extended = mine.update(lease_until=until)
        if extended != 1:
            lease.lost.set()


heartbeat = Heartbeat()
