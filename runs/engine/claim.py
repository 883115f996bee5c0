"""Leases on work items: claim, heartbeat, commit, release. The row decides; a worker only believes.

A claim is a compare-and-set. While a lease lives no one else may claim; when it is not renewed for `LEASE_SECONDS`
anybody may. Each claim raises the epoch. Taking an item over from an owner that may still believe in it
is told by an event, so that the old owner's next commit finds the run changed, looks, and is refused (D2).
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
from runs.enums import WorkStatus
from runs.errors import LeaseLost, MoveRefused, Outdated
from runs.events import kinds as events
from runs.lifecycle.transitions import change
from runs.llm.capabilities import capacities
from runs.logs import About, about
from runs.models import WorkItem, clock
from runs.pev.agents import policy_for_agent
from runs.pev.policy import Capacities
from runs.store import event_log, trees

log = logging.getLogger(__name__)
BEAT = 2.0
"""Seconds between two heartbeats at most; with short leases a third of the lease."""


@dataclass
class Lease:
    """The right to work on an item until `lost` is set. A commit under an older `epoch` is refused.

    `item` is as it was when it was read last, with its run and its attempt. `current`: nothing that others have
    written to the run since then has come to light. `committing` is held while something is committed.
    """

    item: WorkItem
    epoch: int
    lost: threading.Event = field(default_factory=threading.Event)
    current: bool = True
    committing: threading.Lock = field(default_factory=threading.Lock)

    def check(self) -> None:
        """Raises LeaseLost once somebody else owns the item or it was cancelled. Costs nothing."""
        if self.lost.is_set():
            raise LeaseLost("The lease of this work is gone.")

    @property
    def about(self) -> dict[str, About]:
        """What log lines say of it."""
        of = About(run=self.item.run_id, work=self.item.pk, epoch=self.epoch)
        if attempt := self.item.attempt:
            of["step"], of["attempt"] = attempt.step.key, attempt.number
        return about(**of)


def due() -> Q:
    """Items that may be claimed: ready and due, or leased by somebody who went silent."""
    now = clock.now()
    ready = Q(status=WorkStatus.READY.value, due_at__lte=now)
    return ready | Q(status=WorkStatus.LEASED.value, lease_until__lt=now)


def claim(work_id: int) -> Lease | None:
    """The lease, or None when the item is not to be had, and in a process that takes no new work."""
    if process_registry.draining.is_set():
        return None
    work = _read(Q(pk=work_id) & due())
    lease = _claimed(work) if work else None
    if work and lease:
        attempt = work.attempt
        trees.load_readings([work.run.inputs, attempt.base if attempt else work.run.head])
    return lease


def _claimed(work: WorkItem) -> Lease | None:
    """The lease if the item is still as it is in hand: every claim raises the epoch, every heartbeat the end."""
    as_read = {"epoch": work.epoch, "lease_until": work.lease_until}
    until = clock.after(timedelta(seconds=settings.LEASE_SECONDS))
    taken_over = work.status == WorkStatus.LEASED
    losses = work.losses + 1 if taken_over else work.losses  # counted before anything is carried out again
    capabilities = work.capacities or _able(work)
    claimed = {"epoch": work.epoch + 1, "losses": losses, "lease_owner": process_registry.owner(), "lease_until": until}
    try:
        with event_log.writing(work.run if taken_over else None):
            change(work, WorkStatus.LEASED, where=as_read, capacities=capabilities, **claimed)
            if taken_over:
                event_log.record(work.run_id, events.Recovered(work=work.kind))
    except (MoveRefused, Outdated):  # another worker was first, or something happened: the sweeper comes again
        return None
    lease = Lease(work, work.epoch)
    log.info("taken over" if taken_over else "claimed", extra=lease.about)
    return lease


def _able(work: WorkItem) -> Capacities:
    """What the models that it may ask are shown, as they are known now."""
    if work.attempt is None:
        return capacities(work.run.policy)
    policy = policy_for_agent(work.run.policy, work.attempt.agent)
    others = {name: policy_for_agent(policy, one) for name, one in work.attempt.subagents.items()}
    known = {name: capacities(own).executor for name, own in others.items()}
    return capacities(policy).model_copy(update={"subagents": known})


_RELATED = ("run__inputs", "run__head__root", "attempt__step__plan", "attempt__base__root")
_TREES = ("run__inputs", "run__head", "run__head__root", "attempt__base", "attempt__base__root")
_LARGE = ("attempt__step__plan__estimate", *(f"{tree}__changes" for tree in _TREES))
"""Columns that grow with the plan or the folder, and that no work needs: files of a tree are remembered by digest."""


def _read(which: Q, *, lock: bool = False) -> WorkItem | None:
    rows = WorkItem.objects.select_related(*_RELATED).defer(*_LARGE)
    if lock:
        rows = rows.select_for_update(of=("self", "run"))
    work = next(iter(rows.order_by().filter(which)), None)  # one at most, so there is nothing to sort
    if work is None:
        return None
    if work.attempt:
        work.attempt.step.plan.run = work.run
    return work


def commit[Value](lease: Lease, write: Callable[[WorkItem], Value], *, calls_only: bool = False) -> Value:
    """What `write` returns, done in one transaction under a living lease. Raises LeaseLost, and nothing is written.

    First with the item as it is in hand: in a run where nothing else happens no one has to look again. When the run has
    changed since, `write` is done again on fresh rows. Rows of calls depend on none: for them (`calls_only`)
    the lease is checked and the number of the newest event is read.
    """
    with lease.committing:
        lease.check()  # a lease that is given back is lost first: what is not begun by then is not begun
        if lease.current:
            try:
                with event_log.writing(lease.item.run):
                    return write(lease.item)
            except (Outdated, MoveRefused):  # a status that others have changed shows it before the number does
                lease.current = False
        while True:
            try:
                with event_log.writing():
                    _refresh(lease, calls_only=calls_only)
                    value = write(lease.item)
                lease.current = not calls_only
                return value
            except Outdated:  # only where rows are not locked by reading them: somebody else has got on
                continue


def _refresh(lease: Lease, *, calls_only: bool) -> None:
    """Read what has to be known again. Raises LeaseLost."""
    mine = Q(pk=lease.item.pk, epoch=lease.epoch, status=WorkStatus.LEASED.value)
    if calls_only:
        number = WorkItem.objects.filter(mine).values_list("run__event_count", flat=True).first()
        found = None if number is None else lease.item
        lease.item.run.event_count = number or 0
    else:
        found = _read(mine, lock=True)
    if found is None:
        lease.lost.set()
        raise LeaseLost("The lease of this work is gone.")
    lease.item = found
    event_log.trust(found.run)


def done(work: WorkItem) -> None:
    change(work, WorkStatus.DONE, lease_until=None)


def postpone(work: WorkItem, until: datetime, **fields: Any) -> None:
    """Give the item back, with other columns changed as well; the sweeper notifies a worker at `until`. No thread
    sleeps for it.
    """
    wait = until - timezone.now()
    change(work, WorkStatus.READY, lease_until=None, due_at=clock.after(wait), losses=0, **fields)


def give_back(lease: Lease) -> None:
    """Let another process claim the item at once; its owner has lost it, and nothing else has changed."""
    lease.lost.set()
    with lease.committing, event_log.writing(), suppress(MoveRefused):
        change(lease.item, WorkStatus.READY, where={"epoch": lease.epoch}, lease_until=None)


def hurry(work_id: int, by: str) -> bool:
    """Have an item that waits for its time carried out now; False where it does not wait."""
    waits = Q(pk=work_id, status=WorkStatus.READY.value, due_at__gt=clock.now())
    return _moved(waits, f"{by} had the work tried again at once.", due_at=clock.now())


def release(work_id: int, by: str) -> bool:
    """End the lease of whoever holds the item, so that another process takes it over; False where nobody holds it.

    An owner that is alive finds it lost at its next heartbeat or commit, and writes nothing more.
    """
    held = Q(pk=work_id, status=WorkStatus.LEASED.value)
    over = clock.after(-timedelta(seconds=1))
    return _moved(held, f"{by} took the work from the process that held it.", lease_until=over)


def _moved(which: Q, note: str, **changes: Any) -> bool:
    with event_log.writing():
        run_id = WorkItem.objects.filter(which).values_list("run_id", flat=True).first()
        if run_id is None or not WorkItem.objects.filter(which).update(**changes):
            return False
        event_log.record(run_id, events.Note(text=note))
    return True


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
            try:
                for lease in self._leases():
                    self.extend(lease)
            except Exception:
                log.exception("the leases could not be extended; it is tried again before they expire")
            finally:
                connection.close()  # it is used every two seconds only

    def _leases(self) -> list[Lease]:
        with self._lock:
            return list(self._held.values())

    def give_back(self) -> None:
        """Make everything this process holds claimable at once, for a quick stop. Its workers lose their leases."""
        for lease in self._leases():
            give_back(lease)

    @staticmethod
    def extend(lease: Lease) -> None:
        """One heartbeat. A lease that cannot be extended is marked as lost, so that its worker stops soon (D6)."""
        until = clock.after(timedelta(seconds=settings.LEASE_SECONDS))
        mine = WorkItem.objects.filter(pk=lease.item.pk, epoch=lease.epoch, status=WorkStatus.LEASED.value)
        with event_log.writing():
            extended = mine.update(lease_until=until)
        if extended != 1:
            lease.lost.set()


heartbeat = Heartbeat()
