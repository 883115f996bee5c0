"""A thousand browsers over two processes that serve: how late they hear of an event after its commit."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Sequence
from statistics import median

from asgiref.sync import sync_to_async
from django.test import Client

from runs.events.kinds import ToolCalled
from runs.management.commands.worker import tell_browsers
from runs.models import Run, User
from runs.store import event_log
from tests.bench.figures import Figure, ShapeBroken
from tests.factories import many_steps, person, share
from tests.services.cluster import Cluster

EACH = 25
"""Sockets of one person: pevsite takes 30 at most."""
EVERY = 2.0
"""Seconds between two events of a run: each has reached everybody when the next one comes."""


_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
"""Kinds of frames."""


class Browser:
    """Follows a run by a socket, and notes how late each message came. It offers no compression."""

    def __init__(self, port: int, run: Run, cookie: str) -> None:
        self._port, self._run, self._cookie = port, run, cookie
        self.late: list[float] = []

    async def follow(self, committed: dict[int, float], ready: asyncio.Event) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET /ws/runs/{self._run.pk}/?tab=overview HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            f"Origin: http://127.0.0.1:{self._port}\r\nCookie: {self._cookie}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head:
            raise ShapeBroken(f"A socket was refused: {head[:80]!r}")
        said = b'{"seen": %d}' % self._run.event_count
        writer.write(_frame(_TEXT, said))
        ready.set()
        while True:
            kind, length = await reader.readexactly(2)
            if length >= 126:
                length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8))
            content = await reader.readexactly(length)
            if kind & 0x0F == _PING:  # who does not answer is taken for gone
                writer.write(_frame(_PONG, content))
            if kind & 0x0F == _TEXT and self._run.pk in committed:
                self.late.append(time.monotonic() - committed[self._run.pk])
            if kind & 0x0F == _CLOSE:
                raise ShapeBroken("A socket was closed.")


def _frame(kind: int, content: bytes) -> bytes:
    """Short enough for a length of seven bits."""
    mask = os.urandom(4)
    masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))
    return bytes([0x80 | kind, 0x80 | len(content)]) + mask + masked


def measure(cluster: Cluster, *, short: bool) -> list[Figure]:
    with cluster.resting():  # what workers do to the runs would be news, too
        return _measured([*cluster.webs], *((2, 2) if short else (40, 15)))


def _measured(ports: Sequence[int], people: int, times: int) -> list[Figure]:
    tell_browsers()  # through Redis, as workers do
    visitors = [person(f"watcher-{number}") for number in range(people)]
    runs = []
    for visitor in visitors:
        run = many_steps(4)
        share(run, visitor)
        runs.append(Run.objects.get(pk=run.pk))
    cookies = [_cookie(visitor) for visitor in visitors]
    browsers = [
        Browser(ports[number % len(ports)], run, cookie)
        for run, cookie in zip(runs, cookies, strict=True)
        for number in range(EACH)
    ]
    asyncio.run(_follow(browsers, runs, times))
    late = sorted(one for browser in browsers for one in browser.late)
    if len(late) != len(browsers) * times:
        raise ShapeBroken(f"{len(late)} messages came, not {len(browsers) * times}.")
    name = f"{len(browsers)} sockets, {len(runs) / EVERY:g} events a second"
    return [
        Figure(f"{name}: commit to browser, half of them", 1_000 * median(late), "ms"),
        Figure(f"{name}: commit to browser, 99 of 100", 1_000 * late[len(late) * 99 // 100], "ms", max=500),
    ]


def _cookie(who: User) -> str:
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(who)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())


async def _follow(browsers: list[Browser], runs: list[Run], times: int) -> None:
    committed: dict[int, float] = {}
    following = []
    for browser in browsers:
        ready = asyncio.Event()
        following.append(asyncio.create_task(browser.follow(committed, ready)))
        waits = asyncio.create_task(ready.wait())
        await asyncio.wait([waits, following[-1]], return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(3)
    for _ in range(times):
        for run in runs:
            await sync_to_async(_record)(run.pk)
            committed[run.pk] = time.monotonic()
            await asyncio.sleep(EVERY / len(runs))
    await asyncio.sleep(3)
    for task in following:
        if task.done():
            task.result()  # raises what ended it
        task.cancel()


def _record(run_id: int) -> None:
    with event_log.writing():
        event_log.record(run_id, ToolCalled(tool="read_file", error=False, path="a.md", step="s2", attempt=1))
