"""The engine inside a process: threads that perform work items, and the sweeper that finds what is due."""

from __future__ import annotations

from django.conf import settings

from runs.engine import probes
from runs.engine.database import database
from runs.engine.embedded import pool
from runs.engine.notifications import notifications
from runs.engine.perform import enqueue
from runs.engine.sweeper import Sweeper
from runs.engine.work import heartbeat


class Engine:
    """One at a time in a process. `only_run` limits the sweeper to one run, for the command line; a process that only
    serves has no `workers`.
    """

    def __init__(self, workers: int | None = None, only_run: int | None = None) -> None:
        self._workers = settings.WORKERS if workers is None else workers
        self._sweeper = Sweeper(enqueue if self._workers else None, only_run)

    def start(self) -> None:
        """Take part in the work of this installation from now on."""
        database.start()
        database.call(probes.load)  # before anything is asked
        if self._workers:
            pool.start(self._workers)
            notifications.start()
        self._sweeper.start()

    def stop(self) -> None:
        """Take no new work and give back what is under way: it continues elsewhere, or at the next start."""
        self._sweeper.stop()
        pool.stop()
        notifications.stop()
        heartbeat.give_back()
        database.stop()
