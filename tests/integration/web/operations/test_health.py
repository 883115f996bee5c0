"""`/healthz` and `/readyz`: what is well, what is not, and that asking costs little and never hangs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from runs.models import WorkItem, clock
from runs.web.operations import health
from tests.factories import Submit

WELL = ["database: ok", "redis: ok", "files: ok", "engine: ok"]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has just started; parts are asked in this thread, whose rows they are to see."""
    monkeypatch.setattr(health, "health", health.Health())
    monkeypatch.setattr(health, "_ask", lambda part: part())


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are asked in the thread of the test: on SQLite its rows are in no other."""

    class Here:
        def submit(self, ask: Callable[..., None], part: Callable[[], None]) -> Future[None]:
            future: Future[None] = Future()
            try:
                ask(part)
                future.set_result(None)
            except Exception as error:
                future.set_exception(error)
            return future

    monkeypatch.setattr(health, "ThreadPoolExecutor", lambda *_, **__: Here())
    monkeypatch.setattr(health, "health", health.Health())


def parts(monkeypatch: pytest.MonkeyPatch, **changed: Callable[[], None]) -> None:
    monkeypatch.setattr(health, "PARTS", {**dict.fromkeys(health.PARTS, lambda: None), **changed})


def ask(client: Client, path: str = "/readyz") -> tuple[int, list[str]]:
    answer = client.get(path)
    return answer.status_code, answer.text.splitlines()


def test_alive_asks_nothing(client: Client) -> None:
    """Without a mark for the database, a query would fail here."""
    assert ask(client, "/healthz") == (200, ["ok"])


def test_all_is_well(client: Client, db: None, here: None) -> None:
    assert ask(client) == (200, WELL)


def fails() -> None:
    raise OSError("secret-host:5432 refused")


def test_a_part_that_fails_is_named_and_nothing_secret_is_said(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    parts(monkeypatch, database=fails)
    assert ask(client) == (503, ["database: cannot be used", *WELL[1:]])
    assert [record.getMessage() for record in caplog.records] == ["not ready: database: cannot be used (OSError)"]


def test_what_changes_is_logged_once_and_probes_are_not(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(health, "SHARED_FOR", -1.0)
    left = iter([True, True, False, False])
    parts(monkeypatch, files=lambda: fails() if next(left) else None)
    assert [ask(client)[0] for _ in range(4)] == [503, 503, 200, 200]
    assert [record.getMessage() for record in caplog.records] == [
        "not ready: files: cannot be used (OSError)",
        "ready again: files",
    ]


def test_a_part_may_be_left_out(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    parts(monkeypatch, engine=fails)
    assert ask(client)[0] == 503
    assert ask(client, "/readyz?exclude=redis&exclude=engine") == (
        200,
        ["database: ok", "redis: ok (excluded)", "files: ok", "engine: cannot be used (excluded)"],
    )


def test_answers_are_shared(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()
    parts(monkeypatch, files=lambda: asked.append(1))
    monkeypatch.setattr(health, "SHARED_FOR", 1_000)
    monkeypatch.setattr(health, "WITHIN", 60.0)  # a busy machine is late, and that is no other answer
    first, second = ask(client), ask(client)
    assert (first, asked) == (second, [1])


def test_a_part_that_hangs_holds_nobody_up_and_is_asked_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks first waits for it; what others wait is nothing at all."""
    asked, waited = list[str](), list[bool]()

    class Hangs(Future[None]):
        def result(self, timeout: float | None = None) -> None:
            assert timeout is not None
            waited.append(timeout > 0)
            raise TimeoutError

    class Threads:
        def submit(self, ask: Callable[..., None], part: Callable[[], None]) -> Future[None]:
            name = next(name for name, known in health.PARTS.items() if known is part)
            asked.append(name)
            future: Future[None] = Hangs() if name == "redis" else Future()
            if name != "redis":
                future.set_result(None)
            return future

    monkeypatch.setattr(health, "PARTS", {name: lambda: None for name in health.PARTS})
    monkeypatch.setattr(health, "ThreadPoolExecutor", lambda *_, **__: Threads())
    monkeypatch.setattr(health, "WITHIN", 60.0)
    monkeypatch.setattr(health, "SHARED_FOR", 1_000)
    monkeypatch.setattr(health, "health", health.Health())
    assert [ask(client) for _ in range(3)] == [(503, ["database: ok", "redis: does not answer", *WELL[2:]])] * 3
    assert sorted(asked) == sorted(health.PARTS)
    assert waited == [True, False, False]


def test_work_that_nobody_takes_is_said(
    client: Client, submitted: Submit, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submitted()
    assert ask(client) == (200, WELL)
    WorkItem.objects.filter(run=run).update(due_at=clock.after(timedelta(minutes=-2)))
    monkeypatch.setattr(health, "health", health.Health())
    assert ask(client) == (503, [*WELL[:3], "engine: work has been waiting for more than a minute; no worker takes it"])


def test_files_that_cannot_be_written_are_said(
    client: Client, db: None, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    assert ask(client) == (503, [*WELL[:2], "files: files cannot be written", "engine: ok"])


def test_nobody_is_redirected_to_https(client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    parts(monkeypatch)
    settings.SECURE_SSL_REDIRECT = True
    assert [ask(client, path)[0] for path in ("/healthz", "/readyz", "/help/")] == [200, 200, 301]


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_the_host_does_not_matter(client: Client, db: None, here: None, address: str) -> None:
    assert client.get(address, headers={"host": "10.0.0.7:8000"}).status_code == 200
    assert client.post(address, headers={"host": "10.0.0.7:8000"}).status_code == 405
    assert client.get("/", headers={"host": "10.0.0.7:8000"}).status_code == 400
