"""Owns the engine inside a process: a pool of threads behind `django.tasks`, and the sweeper that rings again.

`serve` and `run` start it. In every other process enqueueing does nothing: the sweeper of a running engine finds
the row.
"""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.tasks import Task, TaskResult, TaskResultStatus
from django.tasks.backends.base import BaseTaskBackend

from runs.engine.sweeper import Sweeper
from runs.engine.work import heartbeat

log = logging.getLogger(__name__)


class Engine:
    """Threads that perform work items. `only_run` limits the sweeper to one run, for the command line."""

    def __init__(self, workers: int | None = None, only_run: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(workers or settings.WORKERS, thread_name_prefix="worker")
        self._under_way: set[int] = set()
        self._lock = threading.Lock()
        self._sweeper = Sweeper(self.submit, only_run)

    def start(self) -> None:
        """Take part in the work of this installation from now on."""
        _engines.append(self)
        self._sweeper.start()

    def stop(self) -> None:
        """Take no new work and give back what is under way: it continues elsewhere, or at the next start."""
        if self in _engines:
            _engines.remove(self)
        self._sweeper.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)
        heartbeat.give_back()

    def submit(self, work_id: int) -> None:
        """Let a thread try to claim this item. A second bell for the same item is dropped."""
        with self._lock:
            if work_id in self._under_way:
                return
            self._under_way.add(work_id)
        try:
            self._pool.submit(self._perform, work_id)
        except RuntimeError:
            self._forget(work_id)

    def _perform(self, work_id: int) -> None:
        from runs.engine.perform import perform

        try:
            perform(work_id)
        except Exception:
            log.exception("work %s could not be performed; the sweeper will ring for it again", work_id)
        finally:
            self._forget(work_id)

    def _forget(self, work_id: int) -> None:
        with self._lock:
            self._under_way.discard(work_id)


_engines: list[Engine] = []


class EmbeddedBackend(BaseTaskBackend):
    """Hands tasks to the engine of this process, if there is one."""

    def enqueue[**P, R](self, task: Task[P, R], args: Any, kwargs: Any) -> TaskResult[P, R]:
        self.validate_task(task)
        for engine in _engines:
            engine.submit(args[0])
        return TaskResult(
            task=task,
            id=uuid4().hex,
            status=TaskResultStatus.READY,
            enqueued_at=None,
            started_at=None,
            finished_at=None,
            last_attempted_at=None,
            args=list(args),
            kwargs=dict(kwargs),
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
