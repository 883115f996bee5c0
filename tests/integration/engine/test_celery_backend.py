"""The backend of Celery: what is sent, what a worker makes of it, and a Redis that is away."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from django.tasks import Task, TaskResultStatus, task
from django.tasks.exceptions import InvalidTask
from django.test import override_settings
from kombu import compression
from kombu.connection import Connection
from kombu.message import Message
from pytest_django import DjangoCaptureOnCommitCallbacks

import runs
from pevsite.celery import app
from runs.engine import celery_backend
from runs.engine.celery_backend import CeleryBackend, Sender, carry_out_task
from runs.engine.celery_worker import PatientConsumer
from runs.engine.embedded_backend import pool
from runs.engine.perform import enqueue, perform_work
from runs.models import Event, WorkItem
from tests.factories import Submit
from tests.waiting import wait_until

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
BACKEND = CeleryBackend("default", {})
called: list[tuple[int, int]] = []


@task
def add(a: int, b: int) -> int:
    called.append((a, b))
    return a + b


@task
def stumble() -> None:
    raise LookupError("there is no such thing")


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tasks of this module are among those that workers accept."""
    monkeypatch.setitem(celery_backend.TASKS, f"{__name__}.add", (int, int))
    monkeypatch.setitem(celery_backend.TASKS, f"{__name__}.stumble", ())


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[celery_backend.Message]:
    sent: list[celery_backend.Message] = []
    monkeypatch.setattr(celery_backend.sender, "put", sent.append)
    return sent


@pytest.fixture
def nobody_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An address at which no Redis answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody listens: connections are refused
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        monkeypatch.setattr(app, "connection_for_write", lambda **options: Connection(url, **options))
        yield


def by_a_worker(message: celery_backend.Message) -> None:
    """In a thread of its own, as Celery calls it: the connections of a thread are closed after each task."""
    thread = threading.Thread(target=carry_out_task, args=message)
    thread.start()
    thread.join()


def test_a_task_is_sent_as_its_path_and_arguments_and_a_worker_calls_it(sent: list[celery_backend.Message]) -> None:
    result = BACKEND.enqueue(add, [2, 3], {})
    assert (result.status, result.enqueued_at is not None) == (TaskResultStatus.READY, True)
    assert sent == [(f"{__name__}.add", [2, 3], {})]
    called.clear()
    by_a_worker(sent[0])
    assert called == [(2, 3)]


def test_what_a_task_raises_is_logged_and_ends_no_worker(caplog: pytest.LogCaptureFixture) -> None:
    by_a_worker((f"{__name__}.stumble", [], {}))
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert record.name == "django.tasks"
    assert "there is no such thing" in str(record.exc_info)


def test_a_process_with_threads_of_its_own_keeps_its_tasks(sent: list[celery_backend.Message]) -> None:
    """`manage.py run` performs what it submits."""
    called.clear()
    pool.start(1)
    try:
        BACKEND.enqueue(add, [1, 1], {})
        while not called:
            time.sleep(0.002)
    finally:
        pool.stop()
    assert (called, sent) == ([(1, 1)], [])


def test_tasks_that_celery_cannot_carry_out_are_refused() -> None:
    with pytest.raises(InvalidTask):
        BACKEND.enqueue(add.using(priority=5), [1, 1], {})


def test_a_process_that_ends_begins_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = threading.Event()
    ending.set()
    monkeypatch.setattr(celery_backend, "stopped", ending)
    called.clear()
    by_a_worker((f"{__name__}.add", [1, 1], {}))
    assert called == []


@pytest.mark.usefixtures("nobody_there")
def test_a_redis_that_is_away_is_told_once_and_whoever_sends_does_not_wait(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "runs")
    sender = Sender()
    for number in range(3):
        sender.put((f"{__name__}.add", [number, 0], {}))
        while sender._waiting or not sender.is_away:
            time.sleep(0.002)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "no worker can be notified of work until Redis answers"
    ]


@override_settings(TASKS={"default": {"BACKEND": "runs.engine.celery_backend.CeleryBackend"}})
@pytest.mark.usefixtures("nobody_there")
@pytest.mark.services
@pytest.mark.django_db
def test_a_run_is_submitted_while_redis_is_away(
    submitted: Submit, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = submitted()
    assert WorkItem.objects.get(run=run).status == "ready"
    wait_until(lambda: celery_backend.sender.is_away)


@override_settings(TASKS={"default": {"BACKEND": "runs.engine.celery_backend.CeleryBackend"}})
@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_notification_that_comes_twice_is_claimed_once(
    submitted: Submit, sent: list[celery_backend.Message], team: object
) -> None:
    submitted()
    item = WorkItem.objects.get()
    enqueue(item.pk)  # as the commit of the submission has done
    assert sent == [(perform_work.module_path, [item.pk], {})] * 2
    for message in sent:
        by_a_worker(message)
    assert WorkItem.objects.get(pk=item.pk).epoch == 1
    assert Event.objects.filter(kind="recovered").count() == 0


PERFORM = perform_work.module_path
HOSTILE: list[tuple[object, object, object]] = [
    ("os.system", ["id"], {}),
    ("tests.integration.engine.importable.task", [], {}),
    (f"{__name__}.called.append", [(1, 1)], {}),
    (f"{__name__}.unlisted", [], {}),
    ("runs.engine.perform.perform", [1], {}),
    (["runs.engine.perform.perform_work"], [1], {}),
    (None, [1], {}),
    ("", [], {}),
    (PERFORM, [], {}),
    (PERFORM, ["1"], {}),
    (PERFORM, [True], {}),
    (PERFORM, [{"pk__gt": 0}], {}),
    (PERFORM, [1, 2], {}),
    (PERFORM, [], {"work_id": 1}),
    (PERFORM, {"work_id": 1}, {}),
    (PERFORM, [1], None),
]


@task
def unlisted() -> None:
    called.append((0, 0))


@pytest.mark.parametrize("message", HOSTILE)
def test_a_message_that_is_not_ours_imports_and_calls_nothing(
    message: tuple[object, object, object], caplog: pytest.LogCaptureFixture
) -> None:
    called.clear()
    loaded = set(sys.modules)
    by_a_worker(message)  # type: ignore[arg-type]
    assert (called, set(sys.modules) - loaded) == ([], set())
    assert [record.levelname for record in caplog.records if record.name == celery_backend.__name__] == ["ERROR"]


def test_a_task_that_workers_do_not_accept_is_not_sent(sent: list[celery_backend.Message]) -> None:
    with pytest.raises(InvalidTask, match="not among the tasks"):
        BACKEND.enqueue(unlisted, [], {})
    with pytest.raises(InvalidTask):
        BACKEND.enqueue(perform_work, ["1"], {})
    assert sent == []


def test_the_table_has_each_task_of_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    # the last two need optional parts
    others = ("runs.migrations", "runs.management", "runs.agent_sdk", "runs.evaluation.inspect_task")
    for module in pkgutil.walk_packages(runs.__path__, "runs."):
        if not module.name.startswith(others):
            tasks = vars(importlib.import_module(module.name)).values()
            found |= {one.module_path for one in tasks if isinstance(one, Task)}
    assert found == {path for path in celery_backend.TASKS if path.startswith("runs.")}


def test_a_worker_knows_no_task_of_celery() -> None:
    worker = app.WorkController(pool_cls="threads", concurrency=1)
    consumer = PatientConsumer(None, app=app, pool=worker.pool, timer=worker.timer, controller=worker)
    consumer.event_dispatcher = None
    assert "celery.map" in app.tasks
    consumer.update_strategies()
    assert set(consumer.strategies) == {carry_out_task.name}


@pytest.mark.parametrize("name", compression.encoders())
def test_a_compressed_message_is_not_unpacked(name: str) -> None:
    body, content_type = compression.compress(b"[]" * 1_000, name)
    message = Message(body=body, headers={"compression": content_type}, content_type="application/json")
    assert message.body == body
