"""The Celery worker inside `manage.py worker`: threads that carry out what comes through Redis."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from celery.worker import state
from celery.worker.consumer import Consumer
from django.conf import settings
from kombu import compression

from pevsite.celery import app
from runs.engine import celery_backend
from runs.engine.celery_backend import sender
from runs.engine.perform import enqueue
from runs.engine.process_registry import HeldLock

log = logging.getLogger(__name__)
RECONNECT_INTERVAL = 1
"""Seconds between two tries to reach Redis. Celery's own become 30, and until then nothing would be carried out."""
_WAKE_INTERVAL = 0.05
"""Seconds after which Celery's loop looks whether a thread is free. Nothing wakes it: by itself it sleeps for one."""


def _refuse(body: bytes) -> bytes:
    raise ValueError("A compressed message is not one of ours; it is not unpacked.")


for _name in compression.encoders():  # one of a megabyte could take the memory of the machine
    compression.register(compression.get_encoder(_name)[0], _refuse, _name)


class PatientConsumer(Consumer):
    """Celery's, which tries to reach Redis again and again at short intervals, and says so once.

    It accepts our one task, and none of those that Celery brings.
    """

    def update_strategies(self) -> None:
        super().update_strategies()
        for name in set(self.strategies) - {celery_backend.carry_out_task.name}:
            del self.strategies[name]

    def ensure_connected(self, conn: Any) -> Any:
        told: list[Exception] = []

        def tell(error: Exception, _: float) -> None:
            if not told:
                told.append(error)
                log.error("Redis does not answer, no new work is begun until it does: %s", error)

        found = conn.ensure_connection(
            tell, interval_start=RECONNECT_INTERVAL, interval_step=0, callback=state.maybe_shutdown
        )
        if told:
            log.info("Redis answers again")
        return found


class Threads:
    """Celery's worker of this process. It can be started once."""

    def start(self, workers: int) -> None:
        """Take tasks from now on, so many at once."""
        self._worker = app.WorkController(
            hostname=f"{os.getpid()}@{socket.gethostname()}",
            pool_cls="threads",
            concurrency=workers,
            without_mingle=True,  # none of them has to know of the others
            without_gossip=True,
            without_heartbeat=True,
        )
        self._worker.timer.call_repeatedly(_WAKE_INTERVAL, lambda: None)
        threading.Thread(target=self._worker.start, name="celery", daemon=True).start()

    def stop(self) -> None:
        """Begin nothing more. What runs is not waited for: its leases are given back, and the process ends."""
        celery_backend.stopped.set()
        state.should_stop = os.EX_OK


SEEN_TWICE = 0.25
"""Seconds, less than between two polls: who has created it has just sent it, so the first poll that sees it waits."""
FIRST_WAIT, MAX_WAIT = 5.0, 120.0
"""Seconds until it is sent once more; each time twice as long."""


class Resender:
    """What the sweepers of Celery workers call with the items that are due. One process at a time sends them."""

    def __init__(self) -> None:
        # as long as a lease: both end together when their process is killed
        self._turn = HeldLock("notify", lasts=timedelta(seconds=settings.LEASE_SECONDS))
        self._next: dict[int, tuple[float, float]] = {}

    def __call__(self, due: Sequence[int]) -> None:
        if not self._turn.is_mine():
            self._next.clear()
            return
        now = time.monotonic()
        if sender.is_away and due:  # one tries whether it answers; when it does, all are sent at the next poll
            self._next = dict.fromkeys(due, (now, FIRST_WAIT))
            enqueue(due[0])
            return
        self._next = {work_id: self._next.get(work_id, (now + SEEN_TWICE, FIRST_WAIT)) for work_id in due}
        for work_id, (at, wait) in self._next.items():
            if now >= at:
                enqueue(work_id)
                self._next[work_id] = (now + wait, min(2 * wait, MAX_WAIT))

    def stop(self) -> None:
        """Another process may begin at once."""
        self._turn.give_up()
