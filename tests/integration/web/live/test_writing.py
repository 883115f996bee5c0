"""Sockets of a run show what its models write, as long as they may: bounded, newest first, never after a sign-out."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
from typing import Any

import pytest
from autobahn.exception import Disconnected

from runs.models import Run
from runs.store import broadcast
from runs.web.live import subscribers
from runs.web.live.access import SocketIdentity
from runs.web.live.news import News
from runs.web.live.subscribers import NO_LONGER_ALLOWED, Subscriber, from_database
from tests import factories
from tests.integration.web.live.pauses import Pauses
from tests.integration.web.talking import Socket, communicator, talk, update

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def writing(step: int | None, text: str) -> str:
    return json.dumps({"writing": {"step": step, "text": text}})


async def shown(run: Run, *texts: str, step: int | None = 1) -> None:
    """As from a worker thread of this process."""
    broadcast.serve_from(asyncio.get_running_loop())
    for text in texts:
        await asyncio.to_thread(broadcast.show, run.pk, step, writing(step, text))
    await asyncio.sleep(0.05)


async def seen_all(socket: Socket, run: Run) -> None:
    """What it had not seen is sent, and so it has been heard."""
    await socket.send_to(json.dumps({"seen": run.event_count - 1}))
    await update(socket)


async def text(socket: Socket) -> Any:
    return json.loads(await socket.receive_from())["writing"]["text"]


def test_who_may_see_the_run_is_shown_what_is_written() -> None:
    run = factories.executing()

    async def what(socket: Socket) -> Any:
        await seen_all(socket, run)
        await shown(run, "The NDA says")
        return await text(socket)

    assert talk(run.pk, factories.bob(), what, "overview") == "The NDA says"


@pytest.mark.slow
def test_another_run_is_not_shown() -> None:
    run, other = factories.executing(), factories.executing()

    async def what(socket: Socket) -> Any:
        await seen_all(socket, run)
        broadcast.follow(other.pk)
        await shown(other, "The NDA says")
        broadcast.unfollow(other.pk)
        return await socket.receive_nothing(timeout=0.3)

    assert talk(run.pk, factories.alice(), what, "overview")


@pytest.mark.slow
def test_a_slow_browser_gets_the_newest_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    run, pauses = factories.executing(), Pauses(monkeypatch)

    async def what(socket: Socket) -> list[Any]:
        await seen_all(socket, run)
        await shown(run, "a1")
        texts = [await text(socket)]
        for step, words in ((1, "a2"), (1, "a3"), (2, "b1"), (2, "b2")):
            broadcast.show(run.pk, step, writing(step, words))
        for _ in range(100):  # turns of the loop, in which all of them are heard
            await asyncio.sleep(0)
        assert await socket.receive_nothing(timeout=0.1)
        pauses.over.set()
        texts += [await text(socket) for _ in range(2)]
        assert await socket.receive_nothing(timeout=0.1)
        return texts

    assert talk(run.pk, factories.alice(), what, "overview") == ["a1", "a3", "b2"]


def test_the_end_of_a_call_is_shown_after_the_news_that_a_slow_reader_is_still_at() -> None:
    async def what() -> list[str]:
        sent, may_read = [], asyncio.Event()

        async def send(words: str) -> None:
            await may_read.wait()
            sent.append(words)

        async def close(code: int) -> None:
            raise AssertionError(code)

        watcher = Subscriber(SocketIdentity("session", 1), 1, send, close)
        watcher.seen = 1
        watcher.tell(News(2, "news"), lambda: None)
        await asyncio.sleep(0)
        watcher.show(None, "planner writes")
        watcher.show(None, "planner is done")
        watcher.show(1, "executor writes")
        may_read.set()
        await asyncio.sleep(0.05)
        return sent

    assert asyncio.run(what()) == ["news", "planner is done", "executor writes"]


@pytest.mark.parametrize("first", ["draft", "news"])
def test_a_browser_that_has_just_gone_is_sent_nothing_more_and_no_task_fails(first: str) -> None:
    sent, failures = list[str](), list[str]()

    async def send(words: str) -> None:
        sent.append(words)
        raise Disconnected("Attempt to send on a closed protocol")

    async def close(code: int) -> None:
        raise AssertionError(code)

    async def follow() -> None:
        watcher = Subscriber(SocketIdentity("session", 1), 1, send, close)
        watcher.seen = 1
        if first == "news":
            watcher.tell(News(2, "news"), lambda: failures.append("told"))
        watcher.show(1, "draft")
        for _ in range(10):  # turns of the loop, in which everything is sent that can be
            await asyncio.sleep(0)

    async def what() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: failures.append(context["message"]))
        await follow()
        gc.collect()  # then asyncio reports the tasks that have failed

    asyncio.run(what())
    assert (sent, failures) == ([first], [])


@pytest.mark.slow
def test_nothing_is_shown_before_the_browser_says_what_it_has_seen_or_after_it_may_no_longer_see() -> None:
    run = factories.executing()
    bob = factories.bob()

    async def what(socket: Socket) -> Any:
        await shown(run, "too early")
        assert await socket.receive_nothing(timeout=0.3)
        await seen_all(socket, run)
        await shown(run, "just right")
        assert await text(socket) == "just right"
        await from_database(lambda: run.shares.filter(user=bob).delete())
        await asyncio.to_thread(broadcast.recheck, bob.pk)
        await asyncio.sleep(0.02)
        await shown(run, "too late")
        return await socket.receive_output()

    assert talk(run.pk, bob, what, "overview") == {"type": "websocket.close", "code": NO_LONGER_ALLOWED}


def test_who_may_no_longer_see_is_found_out_without_a_message_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be lost while Redis is away."""
    monkeypatch.setattr(subscribers, "STANDING_SECONDS", 0.1)
    run = factories.executing()
    bob = factories.bob()

    async def what(socket: Socket) -> Any:
        await seen_all(socket, run)
        await from_database(lambda: run.shares.filter(user=bob).delete())
        return await socket.receive_output()

    assert talk(run.pk, bob, what, "overview") == {"type": "websocket.close", "code": NO_LONGER_ALLOWED}


def test_a_run_is_followed_for_as_long_as_a_socket_is_open() -> None:
    run = factories.executing()
    alice = factories.alice()

    async def all_of_it() -> list[bool]:
        found = [broadcast.is_followed(run.pk)]
        sockets = [communicator(run.pk, alice, "overview") for _ in range(2)]
        for socket in sockets:
            await socket.connect()
        for socket in sockets:
            found.append(broadcast.is_followed(run.pk))
            await socket.disconnect()
        await asyncio.sleep(0.05)
        return [*found, broadcast.is_followed(run.pk)]

    assert asyncio.run(all_of_it()) == [False, True, True, False]


def test_one_who_was_refused_follows_nothing() -> None:
    run = factories.executing()
    charlie = factories.charlie()

    async def all_of_it() -> bool:
        socket = communicator(run.pk, charlie, "overview")
        await socket.connect()
        return broadcast.is_followed(run.pk)

    assert asyncio.run(all_of_it()) is False


def test_a_process_that_serves_no_one_does_nothing() -> None:
    broadcast.follow(1)
    thread = threading.Thread(target=broadcast.show, args=(1, None, "{}"))
    thread.start()
    thread.join(60)
    broadcast.unfollow(1)
    assert not thread.is_alive()
