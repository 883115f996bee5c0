"""Measures what it costs to follow a run: bytes per event, processor time per message and for each further watcher.

An audience is asked to tell of one event after the other, by the very code of `serve`. Its sockets compress and frame
what they are given, as those of the server do, and drop it.
"""

from __future__ import annotations

import asyncio
import os
import time
import zlib
from statistics import median
from typing import NamedTuple

from django.test import Client

from runs.events.kinds import AttemptStarted, EventData, ModelCalled, ToolCalled
from runs.models import Run, User
from runs.store import event_log
from runs.web.live import subscribers
from runs.web.live.access import SocketIdentity
from runs.web.live.news import TABS
from runs.web.live.subscribers import Channel, Subscriber, from_database
from runs.web.server.web_server import WINDOW_BITS
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import fresh_database
from tests.factories import many_steps, person, share

MAX_BYTES, MAX_MS, MAX_FURTHER_MS = 1_000, 20.0, 0.3
EVENTS: tuple[EventData, ...] = (
    AttemptStarted(step="s2", attempt=2),
    ModelCalled(role="executor", model="claude-sonnet-5-5", ms=1_500, stop="tool_use", step="s2", attempt=2),
    ToolCalled(tool="read_file", error=False, path="contracts/lease.md", step="s2", attempt=2),
)


class Measured(NamedTuple):
    bytes_per_event: float
    ms_per_message: float


class Sink:
    """A browser's end: counts what comes, after doing what the server does with it."""

    def __init__(self) -> None:
        self.bytes = self.messages = 0
        self._packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -WINDOW_BITS, 5)

    async def send(self, text: str) -> None:
        data = text.encode()
        self.bytes += len(data)
        self.messages += 1
        self._packer.compress(data)
        self._packer.flush(zlib.Z_SYNC_FLUSH)

    async def close(self, code: int) -> None:
        raise ShapeBroken(f"A watcher was closed with {code}.")


def measure(*, short: bool) -> list[Figure]:
    sizes, crowds, times = ((2, 6), (1, 3), 3) if short else ((4, 40), (1, 10, 100), 40)
    os.environ["ANTHROPIC_API_KEY"] = "nobody's"  # any task can be submitted; no model is asked
    fresh_database()
    people = [person(f"watcher-{number}") for number in range(max(crowds))]
    seats = [_seat(one) for one in people]
    figures = []
    for steps in sizes:
        run = many_steps(steps)
        share(run, *people)
        for tab in TABS:
            alone = asyncio.run(_follow(run.pk, tab, seats[:1], times))
            name = f"{steps} steps, {tab}"
            figures.append(Figure(f"{name}: bytes per event", alone.bytes_per_event, "B", max=MAX_BYTES))
            figures.append(Figure(f"{name}: processor per message", alone.ms_per_message, "ms", max=MAX_MS))
        for count in crowds[1:]:
            many = asyncio.run(_follow(run.pk, "overview", seats[:count], times))
            one = next(
                figure.value for figure in figures if figure.name == f"{steps} steps, overview: processor per message"
            )
            further = max(0.0, many.ms_per_message - one) / (count - 1)
            figures.append(Figure(f"{steps} steps, {count} watchers: per message", many.ms_per_message, "ms"))
            figures.append(
                Figure(f"{steps} steps, {count} watchers: for each further one", further, "ms", max=MAX_FURTHER_MS)
            )
    return figures


def _seat(who: User) -> SocketIdentity:
    client = Client()
    client.force_login(who)
    return SocketIdentity(client.session.session_key, who.pk)


async def _follow(run_id: int, tab: str, seats: list[SocketIdentity], times: int) -> Measured:
    """Tell these watchers of so many events, one message each."""
    newest = await from_database(lambda: Run.objects.values_list("event_count", flat=True).get(pk=run_id))
    told, sinks, watchers = Channel(run_id, tab), [Sink() for _ in seats], []
    for seat, sink in zip(seats, sinks, strict=True):
        watchers.append(Subscriber(seat, seat.person or 0, sink.send, sink.close))
        await told.join(watchers[-1])
        watchers[-1].seen = newest
    subscribers.MIN_DELAY = 0.0
    taken = []
    for number in range(times + 1):  # the first one has all parts of the header, and compiles templates
        event = EVENTS[number % len(EVENTS)]
        await from_database(lambda event=event: event_log.record(run_id, event))  # type: ignore[misc]
        newest += 1
        began = time.process_time()
        told.wake()
        while any(watcher.seen != newest for watcher in watchers):
            await asyncio.sleep(0.005)  # to look again and again would be measured too
        taken.append((time.process_time() - began) * 1_000)
        if not number:
            for sink in sinks:
                sink.bytes = 0
    for watcher in watchers:
        told.leave(watcher)
    await asyncio.sleep(0.05)
    return Measured(sinks[0].bytes / times, median(taken[1:]))
