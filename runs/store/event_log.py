"""Transactions on runs, and the only writer of events, which are numbered and written at the end of a transaction.

The number of a run's newest event is the run's version. Every change of a run is recorded by an event in the same
transaction. So a caller that read the run at event N and commits event N + 1 knows that nothing happened in between.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from django.db.models import Model, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from runs.errors import Outdated
from runs.events.kinds import EventData
from runs.models import Event, Run
from runs.store import broadcast

committed = Signal()
"""Sent after each commit, with the `run_id` and its new `entries`."""
LOCK_TIMEOUT = 60.0
"""Seconds after which a waiting writer gives up. Only a transaction that hangs takes so long."""


_CHANGED = "The run has changed since it was read."
_DEADLOCK = "40P01"
"""The code of this error in PostgreSQL."""


class NewEvent(NamedTuple):
    """An event of this transaction. `row` is what it is about, for receivers of the signal; it is not stored."""

    event: EventData
    at: datetime
    row: Model | None = None


@dataclass
class _RunChanges:
    """What one transaction adds to one run.

    `run` is the row, if it was locked in this transaction, or if the caller had read it before. In the second case it
    is `unconfirmed`: it may have changed since. `fields` of the row are written at the end, by name.
    """

    run: Run | None = None
    unconfirmed: bool = False
    events: list[NewEvent] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)


class _Current(threading.local):
    runs: dict[int, _RunChanges] | None = None
    last: list[Callable[[], object]]
    known: Run | None = None


_current = _Current()
_writers = threading.Lock()


@contextmanager
def writing(held: Run | None = None) -> Iterator[None]:
    """A transaction in which events are recorded; within another one, a part of that one.

    `held` is a run that was read before. Raises Outdated, and nothing is written, if the run has changed since, or if
    the database has ended this transaction because of a deadlock.
    """
    if _current.runs is not None:
        yield
        return
    with _turn(), _undone_is_outdated(), transaction.atomic():
        _current.runs = {held.pk: _RunChanges(held, unconfirmed=True)} if held else {}
        _current.last = []
        try:
            yield
            for run_id, changes in list(_current.runs.items()):
                _write(run_id, changes)
            for write in _current.last:
                write()
        finally:
            _current.runs = None


@contextmanager
def only_if_unchanged(known: Run) -> Iterator[None]:
    """Within, the first lock of this run raises Outdated if the run has changed since it was read."""
    _current.known = known
    try:
        yield
    finally:
        _current.known = None


def at_end(write: Callable[[], object]) -> None:
    """Call `write` as the last of this transaction. Outside of `writing` it is called at once, in the transaction of
    the caller or one of its own.
    """
    if _current.runs is not None:
        _current.last.append(write)
    elif connection.in_atomic_block:
        write()
    else:
        with writing():
            write()


@contextmanager
def _undone_is_outdated() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == _DEADLOCK:
            raise Outdated("Another transaction waited for this one, and this one for it.") from error
        raise


@contextmanager
def _turn() -> Iterator[None]:
    """A queue for this process's writers on SQLite. Without it they poll: of two hundred threads some had no turn."""
    if connection.vendor != "sqlite":
        yield
        return
    if not _writers.acquire(timeout=LOCK_TIMEOUT):
        raise OperationalError("database is locked: another thread has been writing for a minute")
    try:
        yield
    finally:
        _writers.release()


def locked(run_id: int) -> Run:
    """The current row of the run, locked until the transaction ends. It is read once per transaction."""
    changes = _changes_of(run_id)
    if changes.run is None:
        lock_rows(Run.objects.filter(pk=run_id).only("id"))
        run = Run.objects.select_related("inputs").defer("inputs__changes").get(pk=run_id)
        if _current.known and _current.known.pk == run_id:
            if _current.known.event_count != run.event_count:
                raise Outdated(_CHANGED)
            _current.known = None
        changes.run = run
    return changes.run


def lock_rows(rows: QuerySet[Any], *of: str, no_key: bool = False) -> None:
    """Lock rows until the transaction ends, before they are read. Databases without row locks are not asked.

    Reading and locking are two statements on purpose. One that waits for a lock gets the newest row of what it locks,
    but other tables as they were when it began to wait: a joined tree that was written meanwhile is missing, and the
    row with it.

    With `no_key`, others may still write rows that refer to these.
    """
    if connection.features.has_select_for_update:
        list(rows.order_by().select_for_update(of=of, no_key=no_key))


def trust(run: Run) -> None:
    """Use this instance as the current row of the run. It must have been read in this transaction."""
    _changes_of(run.pk).run = run


def record(run_id: int, event: EventData, row: Model | None = None) -> None:
    """Append one event, which must not contain a secret (S5). Outside of `writing` it has its own transaction.

    `row` is passed to receivers of the signal `committed`.
    """
    with writing():
        _changes_of(run_id).events.append(NewEvent(event, timezone.now(), row))


def keep(run: Run, **fields: Any) -> None:
    """Set fields of a run with the statement that numbers the events of this transaction. There must be an event."""
    _changes_of(run.pk).fields.update(fields)
    for name, value in fields.items():
        setattr(run, name, value)


def _changes_of(run_id: int) -> _RunChanges:
    if _current.runs is None:
        raise transaction.TransactionManagementError("Runs are changed inside of `event_log.writing`.")
    return _current.runs.setdefault(run_id, _RunChanges())


def _write(run_id: int, changes: _RunChanges) -> None:
    if not (changes.events or changes.unconfirmed):
        return
    run = changes.run or Run.objects.select_for_update().only("event_count").get(pk=run_id)
    known = run.event_count
    newest = known + len(changes.events)
    # The condition fails when someone has committed since the run was read; with a locked row it cannot.
    moved = Run.objects.filter(pk=run_id, event_count=known).update(event_count=newest, **changes.fields)
    if moved != 1:
        raise Outdated(_CHANGED)
    run.event_count = newest
    Event.objects.bulk_create(
        Event(run_id=run_id, seq=seq, kind=entry.event.kind.value, at=entry.at, data=entry.event.data())
        for seq, entry in enumerate(changes.events, known + 1)
    )
    if changes.events:
        transaction.on_commit(partial(broadcast.announce, run_id, newest), robust=True)
        # Robust: a receiver that fails is logged and keeps nothing from being committed or announced.
        transaction.on_commit(partial(committed.send_robust, sender=Event, run_id=run_id, entries=changes.events))
