"""The `django.tasks` backend of `serve` and `run`: a pool of threads in this process.

`ready` and `carry_out` are used by the Celery backend as well.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from traceback import format_exception
from typing import Any
from uuid import uuid4

from django.db import connection
from django.tasks import Task, TaskContext, TaskResult, TaskResultStatus
from django.tasks.backends.base import BaseTaskBackend
from django.tasks.base import TaskError
from django.tasks.exceptions import TaskResultDoesNotExist
from django.tasks.signals import task_enqueued, task_finished, task_started
from django.utils import timezone
from django.utils.json import normalize_json

type Result = TaskResult[Any, Any]


def ready(task: Task[..., Any], args: Any, kwargs: Any, backend: str) -> Result:
    """The result of a task that has not started."""
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
        backend=backend,
        errors=[],
        worker_ids=[],
    )


def carry_out(result: Result, sender: type[BaseTaskBackend], keep: Callable[[Result], object]) -> None:
    """Call the task in this thread, and send the signals that Django's own backends send.

    `keep` gets each state of the result.
    """
    now = timezone.now()
    worker = f"{os.getpid()}/{threading.current_thread().name}"
    status = TaskResultStatus.RUNNING
    running = replace(result, status=status, started_at=now, last_attempted_at=now, worker_ids=[worker])
    keep(running)
    task_started.send(sender, task_result=running)
    try:
        context: tuple[TaskContext[..., Any], ...] = ()
        if running.task.takes_context:
            context = (TaskContext(task_result=running),)
        value = normalize_json(running.task.call(*context, *running.args, **running.kwargs))
    except BaseException as error:  # no code could catch it in this thread
        failed = _finished(running, TaskResultStatus.FAILED, error=error)
        keep(failed)
        # Sent inside the handler, as Django's own backends do: its log takes the traceback of the current exception.
        task_finished.send(sender, task_result=failed)
    else:
        done = _finished(running, TaskResultStatus.SUCCESSFUL, value=value)
        keep(done)
        task_finished.send(sender, task_result=done)
    finally:
        connection.close()


def _finished(
    result: Result, status: TaskResultStatus, *, value: Any = None, error: BaseException | None = None
) -> Result:
    errors = []
    if error:
        path = f"{type(error).__module__}.{type(error).__qualname__}"
        errors.append(TaskError(exception_class_path=path, traceback="".join(format_exception(error))))
    finished = replace(result, status=status, finished_at=timezone.now(), errors=errors)
    object.__setattr__(finished, "_return_value", value)  # the frozen class has no argument for it
    return finished


MAX_RESULTS = 1_000
"""Finished results that are kept; the oldest is dropped first."""


class Pool:
    """The threads of this process and the results of their tasks. It takes no tasks before it is started."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._results: dict[str, Result] = {}
        self._finished: deque[str] = deque()
        self._lock = threading.Lock()

    def start(self, workers: int) -> None:
        """Take tasks from now on. Raises RuntimeError if it is running."""
        with self._lock:
            if self._executor is not None:
                raise RuntimeError("The tasks of this process have their threads already.")
            self._executor = ThreadPoolExecutor(workers, thread_name_prefix="worker")

    def stop(self) -> None:
        """Take no more tasks and forget those that wait. Does not wait for running tasks."""
        with self._lock:
            executor, self._executor = self._executor, None
            self._results = {key: one for key, one in self._results.items() if one.status != TaskResultStatus.READY}
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    @property
    def is_started(self) -> bool:
        return self._executor is not None

    def take(self, result: Result, sender: type[BaseTaskBackend]) -> Result:
        """Let a thread run the task. If the pool is not started, returns the result as it was."""
        executor = self._executor
        if executor is None:
            return result
        taken = self._keep(replace(result, enqueued_at=timezone.now()))
        task_enqueued.send(sender, task_result=taken)
        try:
            executor.submit(self._run, taken, sender)
        except RuntimeError:  # the pool was stopped since the check above
            with self._lock:
                self._results.pop(taken.id, None)
            return result
        return taken

    def result(self, result_id: str) -> Result:
        """The current state of a result. Raises TaskResultDoesNotExist if this process does not know it (any more)."""
        try:
            return self._results[result_id]
        except KeyError:
            raise TaskResultDoesNotExist(result_id) from None

    def _run(self, result: Result, sender: type[BaseTaskBackend]) -> None:
        carry_out(result, sender, self._keep)
        with self._lock:
            self._finished.append(result.id)
            while len(self._finished) > MAX_RESULTS:
                self._results.pop(self._finished.popleft(), None)

    def _keep(self, result: Result) -> Result:
        with self._lock:
            self._results[result.id] = result
        return result


pool = Pool()
"""One for the process, since Django makes a backend for each thread that uses one."""


class EmbeddedBackend(BaseTaskBackend):
    """Runs tasks in the pool of this process. If it is not started, a task stays READY and is not stored.

    `get_result` knows only tasks of this process, so it is not declared as supported.
    """

    supports_async_task = True

    def enqueue[**P, R](self, task: Task[P, R], args: Any, kwargs: Any) -> TaskResult[P, R]:
        self.validate_task(task)
        return pool.take(ready(task, args, kwargs, self.alias), type(self))

    def get_result(self, result_id: str) -> Result:
        return pool.result(result_id)
