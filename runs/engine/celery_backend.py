"""The `django.tasks` backend of PEV_ENGINE=celery: Redis passes each task to one of the Celery workers.

A task may get lost or run twice (D2). If Redis is away, senders neither fail nor wait; the sweeper of a worker sends
lost tasks again (`runs.engine.celery_worker`).
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import Any

from django.tasks import Task, TaskResult
from django.tasks.backends.base import BaseTaskBackend
from django.tasks.exceptions import InvalidTask
from django.tasks.signals import task_enqueued
from django.utils import timezone
from django.utils.json import normalize_json
from django.utils.module_loading import import_string

from pevsite.celery import app
from runs.engine.embedded_backend import carry_out, pool, ready

log = logging.getLogger(__name__)
MAX_WAITING = 10_000
"""Tasks that wait to be sent. If there are more, the oldest is dropped."""
_QUICKLY = {"socket_connect_timeout": 2, "socket_timeout": 5, "max_retries": 0}
"""Timeouts in seconds for senders. A worker waits for Redis as long as it takes."""

type Message = tuple[str, Any, Any]
"""The path of a task, its arguments and its keyword arguments, as JSON values."""
TASKS: dict[str, tuple[type, ...]] = {
    "runs.engine.perform.perform_work": (int,),
    "runs.engine.document_work.read_waiting": (bool,),
    "runs.engine.mcp_listings.list_wanted": (),
    "runs.engine.calibrating.judge_due": (),
}
"""The tasks that a message may name, with the types of their arguments. Nothing else is imported or called, because
someone else may write to this Redis.
"""

stopped = threading.Event()
"""Set when this process is about to end: tasks that Celery has already fetched are not started."""


@app.task(name="pevsite.carry_out", ignore_result=True)  # type: ignore[untyped-decorator]
def carry_out_task(path: str, args: list[Any], kwargs: dict[str, Any]) -> None:
    """The only task that Celery knows. It carries out the task of `django.tasks` at this path, and never raises."""
    if not is_ours(path, args, kwargs):
        log.error(
            "a message in Redis is not one of ours and was dropped: another program writes to this Redis; give it a "
            "password, or a database of its own"
        )
    elif not stopped.is_set():
        result = ready(import_string(path), args, kwargs, "default")
        carry_out(result, CeleryBackend, lambda _: None)


def is_ours(path: object, args: object, kwargs: object) -> bool:
    """Whether `CeleryBackend` could have sent this message."""
    types = TASKS.get(path) if isinstance(path, str) else None
    return types is not None and isinstance(args, list) and tuple(map(type, args)) == types and kwargs == {}


class Sender:
    """Sends tasks in a thread of its own, so that callers do not wait for Redis."""

    def __init__(self) -> None:
        self._waiting: deque[Message] = deque(maxlen=MAX_WAITING)
        self._news = threading.Condition()
        self._thread: threading.Thread | None = None
        self._producer: Any = None
        self.is_away = False
        """Whether the last message could not be sent."""

    def put(self, message: Message) -> None:
        """Send this soon. If Redis does not answer, everything that waits is dropped."""
        with self._news:
            self._waiting.append(message)
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name="sender", daemon=True)
                self._thread.start()
            self._news.notify()

    def _send_all(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._waiting)
                message = self._waiting.popleft()
            try:
                if self._producer is None:
                    self._producer = app.amqp.Producer(
                        app.connection_for_write(transport_options=_QUICKLY), auto_declare=False
                    )
                carry_out_task.apply_async(message, producer=self._producer, retry=False)
            except Exception as error:
                # Drop what waits, and use a new connection for the next message.
                producer, self._producer = self._producer, None
                if producer is not None:
                    producer.connection.collect(socket_timeout=1)
                with self._news:
                    self._waiting.clear()
                if not self.is_away:
                    self.is_away = True
                    log.warning("no worker can be notified of work until Redis answers: %s", error)
            else:
                if self.is_away:
                    self.is_away = False
                    log.info("Redis takes notifications of work again")


sender = Sender()


class CeleryBackend(BaseTaskBackend):
    """Passes tasks to Celery workers; in `manage.py run`, which has threads of its own, to those."""

    supports_async_task = True

    def enqueue[**P, R](self, task: Task[P, R], args: Any, kwargs: Any) -> TaskResult[P, R]:
        self.validate_task(task)
        if not is_ours(task.module_path, normalize_json(list(args)), normalize_json(dict(kwargs))):
            raise InvalidTask(f"{task.module_path} is not among the tasks that workers accept, with these arguments.")
        result = ready(task, args, kwargs, self.alias)
        if pool.is_started:
            return pool.take(result, type(self))
        sender.put((result.task.module_path, normalize_json(result.args), normalize_json(result.kwargs)))
        object.__setattr__(result, "enqueued_at", timezone.now())  # as Django's own backends do
        task_enqueued.send(type(self), task_result=result)
        return result
