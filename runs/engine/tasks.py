"""Tasks of `django.tasks`, whoever carries them out: their results before, the call itself, and who is told of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from traceback import format_exception
from typing import Any
from uuid import uuid4

from django.db import close_old_connections
from django.tasks import Task, TaskContext, TaskResult, TaskResultStatus
from django.tasks.backends.base import BaseTaskBackend
from django.tasks.base import TaskError
from django.tasks.signals import task_finished, task_started
from django.utils import timezone
from django.utils.json import normalize_json

type Result = TaskResult[Any, Any]


def ready(task: Task[..., Any], args: Any, kwargs: Any, backend: str) -> Result:
    """The result of a task that nobody has taken yet."""
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
    """Call the task in this thread and tell, as Django's own backends do. `keep` is given each state of its result."""
    now = timezone.now()
    worker = f"{os.getpid()}/{threading.current_thread().name}"
    status = TaskResultStatus.RUNNING
    running = replace(result, status=status, started_at=now, last_attempted_at=now, worker_ids=[worker])
    keep(running)
    task_started.send(sender, task_result=running)
    try:
        value = _called(running)
    except BaseException as error:  # a thread has no one to raise it to
        failed = _finished(running, TaskResultStatus.FAILED, error=error)
        keep(failed)
        # sent from inside the handler, as Django's own backends do: its log takes the traceback from there
        task_finished.send(sender, task_result=failed)
    else:
        done = _finished(running, TaskResultStatus.SUCCESSFUL, value=value)
        keep(done)
        task_finished.send(sender, task_result=done)
    finally:
        close_old_connections()


def _called(result: Result) -> Any:
    """What the task returns, as JSON would keep it."""
    context: tuple[TaskContext[..., Any], ...] = (TaskContext(task_result=result),) if result.task.takes_context else ()
    return normalize_json(result.task.call(*context, *result.args, **result.kwargs))


def _finished(
    result: Result, status: TaskResultStatus, *, value: Any = None, error: BaseException | None = None
) -> Result:
    errors = [_task_error(error)] if error else []
    finished = replace(result, status=status, finished_at=timezone.now(), errors=errors)
    object.__setattr__(finished, "_return_value", value)  # no argument of the class; Django's backends do this too
    return finished


def _task_error(error: BaseException) -> TaskError:
    kind = type(error)
    return TaskError(
        exception_class_path=f"{kind.__module__}.{kind.__qualname__}", traceback="".join(format_exception(error))
    )
