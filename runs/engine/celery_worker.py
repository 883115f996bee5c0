"""The Celery worker inside `manage.py worker`: threads that carry out what comes through Redis."""

from __future__ import annotations

import logging
import os
import socket
import threading
from typing import Any

from celery.worker import state
from celery.worker.consumer import Consumer
from kombu import compression

from pevsite.celery import app
from runs.engine import celery_backend

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
