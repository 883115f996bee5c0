"""The backend of tasks: it runs any task, says what became of it, and keeps nothing where no engine runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.tasks import TaskContext, TaskResult, TaskResultStatus, task, task_backends
from django.tasks.exceptions import InvalidTask, TaskResultDoesNotExist, TaskResultMismatch
from django.tasks.signals import task_enqueued, task_finished, task_started

from runs.engine import embedded_backend
from runs.engine.embedded_backend import EmbeddedBackend, pool
from runs.engine.perform import Notifications
from tests.waiting import wait_until

WAIT = 60.0
go_on = threading.Event()


@task
def add(a: int, *, b: int) -> dict[str, int]:
    return {"sum": a + b}


@task
def stumble() -> None:
    raise LookupError("there is no such thing")


@task
def wait() -> str:
    assert go_on.wait(WAIT)
    return "waited"


@task
async def later(word: str) -> str:
    return word * 2


@task(takes_context=True)
def which_attempt(context: TaskContext[[], int]) -> int:
    return context.attempt


@task
def nothing_json_knows() -> object:
    return object()


@pytest.fixture
def threads() -> Iterator[None]:
    go_on.clear()
    pool.start(2)
    yield
    go_on.set()
    pool.stop()


@pytest.fixture
def heard() -> Iterator[list[tuple[str, str]]]:
    """The signals that were sent, each with the status of its result."""
    signals: list[tuple[str, str]] = []
    listeners = {}
    for name, signal in (("enqueued", task_enqueued), ("started", task_started), ("finished", task_finished)):

        def listen(sender: Any, task_result: TaskResult[Any, Any], *, name: str = name, **more: Any) -> None:
            assert sender is EmbeddedBackend
            signals.append((name, str(task_result.status)))

        signal.connect(listen, weak=False)
        listeners[signal] = listen
    yield signals
    for signal, listener in listeners.items():
        signal.disconnect(listener)


def finished(result: TaskResult[Any, Any]) -> TaskResult[Any, Any]:
    def is_finished() -> bool:
        result.refresh()
        return result.is_finished

    wait_until(is_finished)
    return result


@pytest.mark.usefixtures("threads")
def test_a_task_is_run_with_what_it_was_given(heard: list[tuple[str, str]]) -> None:
    result = add.enqueue(2, b=3)
    assert (result.status, result.args, result.kwargs) == (TaskResultStatus.READY, [2], {"b": 3})
    finished(result)
    wait_until(lambda: len(heard) == 3)
    assert (result.status, result.return_value, result.errors) == (TaskResultStatus.SUCCESSFUL, {"sum": 5}, [])
    assert result.attempts == 1
    times = [result.enqueued_at, result.started_at, result.last_attempted_at, result.finished_at]
    moments = [moment for moment in times if isinstance(moment, datetime)]
    assert moments == sorted(moments)
    assert len(moments) == 4
    assert heard == [("enqueued", "READY"), ("started", "RUNNING"), ("finished", "SUCCESSFUL")]


@pytest.mark.usefixtures("threads")
def test_what_a_task_raises_is_told(heard: list[tuple[str, str]]) -> None:
    result = finished(stumble.enqueue())
    wait_until(lambda: len(heard) == 3)
    assert result.status == TaskResultStatus.FAILED
    assert [error.exception_class for error in result.errors] == [LookupError]
    assert "there is no such thing" in result.errors[0].traceback
    assert result.finished_at is not None
    assert heard == [("enqueued", "READY"), ("started", "RUNNING"), ("finished", "FAILED")]


@pytest.mark.usefixtures("threads")
def test_a_result_that_is_no_json_is_a_failure() -> None:
    assert [error.exception_class for error in finished(nothing_json_knows.enqueue()).errors] == [TypeError]


@pytest.mark.allow_hosts(["127.0.0.1"])  # a loop of asyncio talks to itself
@pytest.mark.usefixtures("threads")
def test_a_task_may_be_a_coroutine_and_may_ask_for_its_context() -> None:
    assert finished(later.enqueue("ho")).return_value == "hoho"
    assert finished(which_attempt.enqueue()).return_value == 1


@pytest.mark.usefixtures("threads")
def test_a_result_is_found_by_its_task_and_by_no_other() -> None:
    result = wait.enqueue()
    wait_until(lambda: wait.get_result(result.id).status == TaskResultStatus.RUNNING)
    with pytest.raises(TaskResultMismatch):
        add.get_result(result.id)
    with pytest.raises(TaskResultDoesNotExist):
        wait.get_result("of another process")
    go_on.set()
    assert finished(result).return_value == "waited"


@pytest.mark.usefixtures("threads")
def test_of_finished_tasks_only_the_newest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_backend, "MAX_RESULTS", 2)
    ids = [finished(add.enqueue(n, b=0)).id for n in range(3)]
    with pytest.raises(TaskResultDoesNotExist):
        add.get_result(ids[0])
    assert [add.get_result(one).return_value for one in ids[1:]] == [{"sum": 1}, {"sum": 2}]


def test_where_no_engine_runs_a_task_stays_ready_and_nothing_keeps_it(heard: list[tuple[str, str]]) -> None:
    result = add.enqueue(2, b=3)
    assert (result.status, result.enqueued_at) == (TaskResultStatus.READY, None)
    with pytest.raises(TaskResultDoesNotExist):
        result.refresh()
    assert heard == []


def test_stopping_forgets_what_waits() -> None:
    go_on.clear()
    pool.start(1)
    running = wait.enqueue()
    wait_until(lambda: wait.get_result(running.id).status == TaskResultStatus.RUNNING)
    waiting = add.enqueue(2, b=3)
    pool.stop()
    go_on.set()
    assert finished(running).return_value == "waited"
    with pytest.raises(TaskResultDoesNotExist):
        waiting.refresh()


def test_a_process_has_one_pool() -> None:
    pool.start(1)
    try:
        with pytest.raises(RuntimeError):
            pool.start(1)
    finally:
        pool.stop()


def test_it_says_what_it_cannot_do() -> None:
    backend = task_backends["default"]
    flags = ("supports_defer", "supports_async_task", "supports_get_result", "supports_priority")
    assert [getattr(backend, flag) for flag in flags] == [False, True, False, False]
    with pytest.raises(InvalidTask):
        add.using(priority=7)


def test_a_second_notification_of_an_item_under_way_is_dropped() -> None:
    notifications = Notifications()
    assert [notifications.is_first(7), notifications.is_first(7)] == [True, True]
    notifications.start()
    assert [notifications.is_first(7), notifications.is_first(7), notifications.is_first(8)] == [True, False, True]
    notifications.done(7)
    assert [notifications.is_first(7), notifications.is_first(8)] == [True, False]
    notifications.stop()
    notifications.start()
    assert notifications.is_first(8)
