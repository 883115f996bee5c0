"""The engine inside a process: threads that perform work items, and the sweeper that finds what is due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.conf import settings

from runs.engine import probes
from runs.engine.claim import heartbeat
from runs.engine.database import database
from runs.engine.embedded_backend import pool
from runs.engine.perform import enqueue, notifications
from runs.engine.process_registry import Presence
from runs.engine.sweeper import Sweeper

if TYPE_CHECKING:
    from runs.engine.celery_worker import Resender, Threads


class Engine:
    """Starts and stops everything that works in this process; there is at most one.

    `only_run` limits the sweeper to one run, for the command line. A process that only serves has no `workers`.
    """

    def __init__(self, workers: int | None = None, only_run: int | None = None, *, serves: bool = False) -> None:
        self._workers = settings.WORKERS if workers is None else workers
        self._celery: tuple[Threads, Resender] | None = None
        if self._workers and settings.ENGINE == "celery" and only_run is None:
            # Celery is an optional extra.
            from runs.engine.celery_worker import Resender, Threads

            self._celery = Threads(), Resender()
        notify = self._celery[1] if self._celery else _enqueue_all
        present = Presence(serves=serves, threads=self._workers) if only_run is None else None
        self._sweeper = Sweeper(notify if self._workers else None, only_run, present)

    def start(self) -> None:
        """Take part in the work of this installation from now on."""
        database.start()
        database.call(probes.load)  # before anything is asked
        if self._celery:
            self._celery[0].start(self._workers)
        elif self._workers:
            pool.start(self._workers)
            notifications.start()
        self._sweeper.start()

    def stop(self) -> None:
        """Take no new work and give back what is under way: it continues in another process, or after a start."""
        # In this order: nothing new is found, nothing waiting begins, then leases end, and the database comes last.
        self._sweeper.stop()
        pool.stop()
        notifications.stop()
        if self._celery:
            self._celery[0].stop()
        heartbeat.give_back()
        if self._celery:
            self._celery[1].stop()
        database.stop()


def _enqueue_all(due: Sequence[int]) -> None:
    for work_id in due:
        enqueue(work_id)
