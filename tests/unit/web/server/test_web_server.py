"""The server: so many requests are answered at once, others wait, or are told to; what is sent may be long."""

from __future__ import annotations

import asyncio
import json
from io import BytesIO
from typing import Any
from unittest.mock import MagicMock

import pytest

from runs.web.server import web_server
from runs.web.server.web_server import Message, Receive, Send, Server, Socket


class Pages:
    """Answers in two parts; between them it waits to be let go on."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.at_work = 0
        self.start, self.end = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.at_work += 1
        body = b""
        while (message := await receive())["body"]:
            body += message["body"]
        self.bodies.append(body)
        await self.start.wait()
        await send({"type": "http.response.start", "status": 200})
        await self.end.wait()
        await send({"type": "http.response.body", "body": b"done"})


@pytest.fixture(autouse=True)
def _one_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "MAX_AT_ONCE", 1)


async def _last() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def ask(site: Server, body: bytes, sent: list[Any], path: str = "/") -> asyncio.Task[None]:
    async def send(message: Message) -> None:
        sent.append(message.get("status") or message["body"])

    scope = {"type": "http", "path": path, "pevsite.body": BytesIO(body)}
    return asyncio.create_task(site._answer(scope, _last, send))


async def settled() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_a_turn_ends_when_the_answer_begins() -> None:
    async def all_of_it() -> None:
        pages = Pages()
        site = Server(pages, max_files=1_000, endpoints=["tcp:0"])
        first: list[Any] = []
        second: list[Any] = []
        tasks = [ask(site, b"one" * 50_000, first), ask(site, b"two", second)]
        await settled()
        assert pages.at_work == 1
        pages.start.set()
        await settled()
        assert (first, second, pages.at_work) == ([200], [200], 2)
        pages.end.set()
        await asyncio.gather(*tasks)
        assert (first, second) == ([200, b"done"], [200, b"done"])
        assert pages.bodies == [b"one" * 50_000, b"two"]

    asyncio.run(all_of_it())


def test_whoever_waits_for_too_long_is_told_that_the_site_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "MAX_WAIT", 0.01)

    async def all_of_it() -> None:
        pages = Pages()
        site = Server(pages, max_files=1_000, endpoints=["tcp:0"])
        late: list[Any] = []
        program: list[Any] = []
        first = ask(site, b"", [])
        await settled()
        await asyncio.wait_for(ask(site, b"", late), 60)
        assert late == [503, b"The site is busy. Nothing was changed. Try again in a moment.\n"]
        await asyncio.wait_for(ask(site, b"", program, "/api/v1/runs"), 60)
        status, problem = program[0], json.loads(program[1])
        assert (status, problem["status"]) == (503, 503)
        assert problem["detail"] == "The site is busy. Nothing was changed. Try again in a moment."
        pages.start.set()
        pages.end.set()
        await first

    asyncio.run(all_of_it())


def test_what_a_browser_is_sent_may_be_longer_than_what_it_may_send(monkeypatch: pytest.MonkeyPatch) -> None:
    socket, frames = Socket(), list[bytes]()
    attributes = {
        "maxMessagePayloadSize": 4_000,
        "autoFragmentSize": 0,
        "state": Socket.STATE_OPEN,
        "trackedTimings": None,
        "trafficStats": MagicMock(),
        "_perMessageCompress": None,
        "sendFrame": lambda payload, **options: frames.append(payload),
    }
    for name, value in attributes.items():  # what a handshake sets
        monkeypatch.setattr(socket, name, value, raising=False)
    socket.sendMessage(b"x" * 5_000)
    assert (frames, socket.maxMessagePayloadSize) == ([b"x" * 5_000], 4_000)
