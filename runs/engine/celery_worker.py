"""The Celery worker inside `manage.py worker`: threads that carry out what comes through Redis.

A notification may have been lost, so due work that no worker has claimed is sent again (`Resender`).
"""

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
"""Seconds between two tries to reach Redis. Celery would wait up to 30, in which no work is done."""
_WAKE_INTERVAL = 0.05
"""Seconds between two checks of Celery's loop for a free thread. Nothing wakes the loop; its own timeout is one."""


def _refuse(body: bytes) -> bytes:
    raise ValueError("A compressed message is not one of ours; it is not unpacked.")


for _name in compression.encoders():  # unpacking a hostile message could take all memory of the machine
    compression.register(compression.get_encoder(_name)[0], _refuse, _name)


class PatientConsumer(Consumer):
    """Celery's consumer. It reconnects to Redis at short intervals and logs that only once.

    It accepts our one task, and none of Celery's own.
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
            without_mingle=True,  # workers need not know each other
            without_gossip=True,
            without_heartbeat=True,
        )
        self._worker.timer.call_repeatedly(_WAKE_INTERVAL, lambda: None)
        threading.Thread(target=self._worker.start, name="celery", daemon=True).start()

    def stop(self) -> None:
        """Start nothing more. Running tasks are not waited for: their leases are given back, and the process ends."""
        celery_backend.stopped.set()
        state.should_stop = os.EX_OK


SEEN_TWICE = 0.25
"""Seconds, less than between two polls. An item that a poll sees for the first time has just been sent."""
FIRST_WAIT, MAX_WAIT = 5.0, 120.0
"""Seconds until an item is sent again. The wait doubles each time, or the queue would grow while workers are busy."""


class Resender:
    """Sends due items again. The sweepers of all Celery workers call it; one process at a time sends."""

    def __init__(self) -> None:
        # As long as a lease, so that both end at the same time when their process is killed.
        self._turn = HeldLock("notify", lasts=timedelta(seconds=settings.LEASE_SECONDS))
        self._next: dict[int, tuple[float, float]] = {}

    def __call__(self, due: Sequence[int]) -> None:
        if not self._turn.is_mine():
            self._next.clear()
            return
        now = time.monotonic()
        if sender.is_away and due:  # one item tests the connection; all are sent at the next poll
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
