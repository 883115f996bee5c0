"""A call in flight ends soon after it has to, however silent or busy the service is."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from runs.contracts.ports import Ask
from runs.enums import Role
from runs.errors import LeaseLost, ModelError
from runs.http_client import watchdog
from runs.llm import client
from runs.llm.client import Clients
from tests.fakes.anthropic_answers import Answer, Ping, Say, Slow, Stall
from tests.fakes.anthropic_api import FakeAnthropic

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

HELLO: Any = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
ASK = Ask(Role.EXECUTOR, "claude-opus-5-5", "Be brief.", (HELLO,), max_tokens=1_000)
SILENCE = 60.0
SOON = 20.0
"""Seconds: far less than the silence, and enough for a busy machine."""


@pytest.fixture
def api(server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.05)
    yield server
    assert server.violations == []
    ends = time.monotonic() + SOON
    while watchers() and time.monotonic() < ends:
        time.sleep(watchdog.WATCH_INTERVAL)
    assert watchers() == []


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "watch"]


SILENT = pytest.mark.parametrize(
    ("answer", "begun"),
    [(Slow(SILENCE, Say("x")), False), (Stall(SILENCE, Say("x")), True), (Ping(SILENCE, Say("x")), True)],
    ids=["before the first byte", "in the middle", "nothing but pings"],
)


@pytest.mark.slow
@SILENT
def test_a_cancel_ends_a_call_that_says_nothing(
    api: FakeAnthropic, clients: Clients, answer: Answer, begun: bool
) -> None:
    """The call before has left nothing behind that this one could go by."""
    api.replies(Say("Hi."), answer)
    assert clients.ask(ASK).text == "Hi."
    looks = iter([None] * 16)

    def lost() -> None:
        if next(looks, 1):
            raise LeaseLost("gone")

    with pytest.raises(LeaseLost, match=r"^gone$") as caught:
        clients.ask(ASK, lost)
    assert (caught.value.tokens.get("input", 0) > 0) is begun


@pytest.mark.slow
@pytest.mark.exhaustive
@SILENT
def test_a_deadline_ends_a_call_that_says_nothing(
    api: FakeAnthropic, clients: Clients, monkeypatch: pytest.MonkeyPatch, answer: Answer, begun: bool
) -> None:
    monkeypatch.setattr(client, "DEADLINE", 0.8)
    api.replies(answer)
    with pytest.raises(ModelError) as caught:
        clients.ask(ASK)
    assert (caught.value.kind, caught.value.retriable) == ("timeout_error", True)
    assert (caught.value.tokens.get("input", 0) > 0) is begun


@pytest.mark.slow
def test_a_call_that_was_cut_off_harms_no_other(api: FakeAnthropic, clients: Clients) -> None:
    """The calls of several threads share a client; the one before used it too."""
    cancelled, together = threading.Event(), threading.Barrier(2)
    api.script(lambda request: Slow(0.5, Say("Hi.")) if "patient" in request.system else Stall(SILENCE, Say("x")))

    def stop() -> None:
        if cancelled.is_set():
            raise LeaseLost("gone")

    def cut_off() -> None:
        together.wait()
        with pytest.raises(LeaseLost):
            clients.ask(ASK, stop)

    patient = Ask(Role.EXECUTOR, "claude-opus-5-5", "Be patient.", (HELLO,), max_tokens=1_000)
    assert clients.ask(patient).text == "Hi."
    thread = threading.Thread(target=cut_off)
    thread.start()
    together.wait()
    cancelled.set()
    assert clients.ask(patient).text == "Hi."
    thread.join(SOON)
    assert not thread.is_alive()


@pytest.mark.slow
def test_one_thread_watches_all_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.01)
    looked = [threading.Event() for _ in range(5)]
    with ExitStack() as calls:
        for event in looked:
            calls.enter_context(watchdog.Watch(lambda event=event: event.set()))  # type: ignore[misc]
        assert all(event.wait(SOON) for event in looked)
        assert len(watchers()) == 1


def test_what_ends_well_is_not_spoilt_by_a_cut_that_comes_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply is paid for; whoever asked decides what becomes of it."""
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.01)
    looked = threading.Event()

    def lost() -> None:
        looked.set()
        raise LeaseLost("gone")

    with watchdog.Watch(lost):
        assert looked.wait(SOON)


def test_a_connection_that_is_made_after_the_cut_is_cut_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.01)
    ours, theirs = socket.socketpair()
    ours.settimeout(SOON)
    read: list[bytes] = []

    class Connection:
        def get_extra_info(self, name: str) -> socket.socket:
            return {"socket": ours}[name]

    def lost() -> None:
        raise LeaseLost("gone")

    def connect_late() -> None:
        with watchdog.Watch(lost) as watching:
            watching.look()
            watching.traced("connection.connect_tcp.complete", {"return_value": Connection()})
            read.append(ours.recv(1))
            raise ConnectionError

    with ours, theirs, pytest.raises(LeaseLost):
        connect_late()
    assert read == [b""]
