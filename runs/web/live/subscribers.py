"""The subscribers of one tab of one run in this process: one reader for all of their sockets, which get the same text.

Messages of the channel layer only wake it; the rows say what has happened (D5). Whoever is behind, or reads too slowly
for the rest, is told by itself what it has missed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from autobahn.exception import Disconnected
from channels.layers import get_channel_layer
from django.db import connection
from django.utils import timezone

from runs.errors import FromLaterVersion
from runs.models import Run
from runs.models.querysets import one_of
from runs.store import broadcast
from runs.web.live.access import Access, SocketIdentity, standing
from runs.web.live.news import News, Shown, news

log = logging.getLogger(__name__)
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; what took longer is counted after the last."""
MIN_DELAY = 0.2
"""Seconds between two reads at least. What happens in between is sent with the next one."""
MIN_DRAFT_DELAY = 0.1
"""Seconds between two updates on what models are writing."""
MAX_CATCH_UPS = 8
"""Different pasts that one read answers. Sockets with others wait for the next one."""
STANDING_SECONDS = 15.0
"""Seconds after which it looks again who may still follow, should the message about that have been lost."""
RENEWAL = 3_600.0
"""Seconds after which it joins its groups again: the channel layer forgets members after a day."""
NO_LONGER_ALLOWED = 4403
"""Close code of our own (4000 to 4999 are free for applications), after HTTP's 403."""
FAILED = 1011
WITH_DRAFTS = frozenset({"overview", "steps"})
"""The tabs that show what models are writing."""


class Latency:
    """Only the event loop fills it; a reader in another thread may miss the newest message."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, happened_at: datetime) -> None:
        """A message has left that tells of this event. Clocks of several machines may differ: never below zero."""
        taken = max(0.0, (timezone.now() - happened_at).total_seconds())
        self.counts[sum(taken > bound for bound in BOUNDS)] += 1
        self.seconds += taken


latency = Latency()
"""Of this process."""


class Subscriber:
    """One socket of an audience. `seen`: the newest event that its page shows; None until the page has said that."""

    def __init__(
        self,
        seat: SocketIdentity,
        person: int,
        send: Callable[[str], Coroutine[Any, Any, None]],
        close: Callable[[int], Coroutine[Any, Any, None]],
    ) -> None:
        self.seat = seat
        self.person = person
        self.seen: int | None = None
        self.ends: float | None = None
        self.busy: asyncio.Task[None] | None = None
        self._draft: asyncio.Task[None] | None = None
        self._late: dict[int | None, str] = {}
        self._is_closing = False
        self._send = send
        self._close = close

    @property
    def can_be_told(self) -> bool:
        return self.seen is not None and self.busy is None

    def tell(self, new: News, then: Callable[[], None], *, counts: bool = False) -> None:
        """Send without waiting for its reader. Until it has read, it is told nothing else, so nothing overtakes.
        `counts`: how late it hears of it says something of this process.
        """

        async def sending(draft: asyncio.Task[None] | None) -> None:
            if draft is not None:
                await asyncio.wait([draft])
            try:
                await self._send(new.text)
            except Disconnected:  # the browser has gone, and `stop` is about to be called
                return
            self.seen = new.seq
            if new.since and counts:
                latency.add(new.since)
            if not self._is_closing:
                self.busy = None
                self._show_late()
                then()

        self.busy = asyncio.create_task(sending(self._draft))

    def show(self, step: int | None, text: str) -> None:
        """Send what a model is writing for this step: at once, or the newest text when its reader is ready again."""
        if self.seen is not None:
            self._late[step] = text  # never dropped for good: the last one says that the call is over
            self._show_late()

    def _show_late(self) -> None:
        if self._late and self.busy is None and (self._draft is None or self._draft.done()):
            self._draft = asyncio.create_task(self._send_late())

    async def _send_late(self) -> None:
        with suppress(Disconnected):  # the browser has gone, and `stop` is about to be called
            while self._late and self.busy is None:
                await self._send(self._late.pop(next(iter(self._late))))

    def stop(self) -> None:
        """The browser has closed the connection."""
        self._is_closing = True
        for task in (self.busy, self._draft):
            if task is not None:
                task.cancel()

    def close(self, code: int) -> None:
        """Send it nothing more. It leaves the subscribers when the browser has closed the connection."""
        if not self._is_closing:
            self._is_closing = True
            self.busy = asyncio.create_task(self._close(code))


@dataclass(frozen=True)
class _Look:
    """`seq`: the run's newest event. `standing`: of those who may stay. `news` by what was seen before."""

    seq: int
    standing: Mapping[SocketIdentity, Access]
    news: Mapping[int, News]


class Channel:
    """Everyone in this process who follows one tab of one run. It lives on the event loop, from the first subscriber to
    the last.
    """

    def __init__(self, run_id: int, tab: str) -> None:
        self._run_id, self._tab = run_id, tab
        self._watchers: set[Subscriber] = set()
        self._seq, self._shown = 0, dict[str, Any]()
        self._is_news, self._is_draft, self._listens = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._drafts: dict[int | None, str] = {}
        self._unsure: dict[int, object] = {}
        self._layer: Any = get_channel_layer()
        self._channel = ""
        self._groups = {broadcast.group(run_id)}
        self.loop = asyncio.get_running_loop()
        self._tasks = [asyncio.create_task(each) for each in (self._listen(), self._follow(), self._show())]
        for task in self._tasks:
            task.add_done_callback(self._close_after_failure)
        self._stop_waking = broadcast.wake_for(run_id, self.wake)

    @property
    def size(self) -> int:
        return len(self._watchers)

    async def join(self, watcher: Subscriber) -> None:
        """From now on no event is missed. Messages begin when the page has said what it shows."""
        self._watchers.add(watcher)  # before anything is waited for, or the audience could end
        if self._tab in WITH_DRAFTS:
            broadcast.follow(self._run_id)
        await self._listens.wait()
        group = broadcast.person_group(watcher.person)
        self._groups.add(group)
        await self._layer.group_add(group, self._channel)

    def leave(self, watcher: Subscriber) -> None:
        if watcher not in self._watchers:
            return
        self._watchers.remove(watcher)
        if self._tab in WITH_DRAFTS:
            broadcast.unfollow(self._run_id)
        if not self._watchers:
            if _audiences.get((self._run_id, self._tab)) is self:
                del _audiences[self._run_id, self._tab]
            self._stop_waking()
            for task in self._tasks:
                task.cancel()

    def _close_after_failure(self, task: asyncio.Task[None]) -> None:
        """A part of it has failed. Browsers connect again and join a new channel."""
        if not task.cancelled() and (error := task.exception()):
            level = logging.WARNING if isinstance(error, FromLaterVersion) else logging.ERROR
            log.log(level, "run %s could not be followed; browsers will connect again", self._run_id, exc_info=error)
            _audiences.pop((self._run_id, self._tab), None)
            for watcher in list(self._watchers):
                watcher.close(FAILED)

    def wake(self) -> None:
        self._is_news.set()

    # ---- what is heard

    async def _listen(self) -> None:
        self._channel = await self._layer.new_channel()
        try:
            for name in self._groups:
                await self._layer.group_add(name, self._channel)
            self._listens.set()
            while True:
                self._take_message(await self._layer.receive(self._channel))
        finally:
            for name in self._groups:
                with suppress(Exception):  # a layer that is away forgets who listens
                    await self._layer.group_discard(name, self._channel)

    def _take_message(self, message: Any) -> None:
        match message["type"]:
            case "new.events" if message["seq"] > self._seq:  # others were told already: the sweeper announces again
                self._is_news.set()
            case "standing.changed":
                self._unsure[message["person"]] = object()
                self._is_news.set()
            case "model.writing":
                self._drafts[message["step"]] = message["text"]
                self._is_draft.set()

    # ---- messages

    async def _follow(self) -> None:
        renew_at = time.monotonic() + RENEWAL
        while True:
            ends = min((watcher.ends for watcher in self._watchers if watcher.ends is not None), default=None)
            seconds = STANDING_SECONDS if ends is None else min(STANDING_SECONDS, max(0.0, ends - time.time()))
            with suppress(TimeoutError):  # then a session may be over, or a message was lost
                await asyncio.wait_for(self._is_news.wait(), seconds)
            self._is_news.clear()
            if time.monotonic() > renew_at:
                renew_at += RENEWAL
                for name in list(self._groups):
                    with suppress(Exception):  # while the layer is away the sweeper of this process wakes us
                        await self._layer.group_add(name, self._channel)
            await self._read_and_tell()
            await asyncio.sleep(MIN_DELAY)

    async def _read_and_tell(self) -> None:
        unsure = dict(self._unsure)
        watchers = list(self._watchers)
        behind = {watcher.seen for watcher in watchers if watcher.can_be_told and watcher.seen is not None}
        seats = {watcher.seat for watcher in watchers}
        looked = await from_database(partial(look, self._run_id, self._tab, seats, behind, self._seq, self._shown))
        for person, since in unsure.items():
            if self._unsure[person] is since:  # else the standing changed again while the rows were read
                del self._unsure[person]
        for watcher in watchers:
            self._tell_subscriber(watcher, looked)
        newest = looked.news.get(self._seq)
        if newest is not None:
            self._shown = dict(newest.shown)
        elif looked.seq != self._seq:
            self._shown = {}
        self._seq = looked.seq
        if any(self._is_behind(watcher) and watcher.busy is None for watcher in self._watchers):
            self._is_news.set()

    def _tell_subscriber(self, watcher: Subscriber, looked: _Look) -> None:
        stands = looked.standing.get(watcher.seat)
        if stands is None:
            watcher.close(NO_LONGER_ALLOWED)
            return
        watcher.ends = stands.ends
        new = looked.news.get(watcher.seen) if watcher.can_be_told and watcher.seen is not None else None
        if new is None:
            return
        if new.text:
            was_there = watcher.seen == self._seq  # else it was away, and hears of what is long over
            watcher.tell(new, partial(self._wake_if_behind, watcher), counts=was_there)
        else:
            watcher.seen = new.seq

    def _is_behind(self, watcher: Subscriber) -> bool:
        return watcher.seen is not None and watcher.seen < self._seq

    def _wake_if_behind(self, watcher: Subscriber) -> None:
        if self._is_behind(watcher):
            self._is_news.set()

    async def _show(self) -> None:
        """Send what models are writing, one step after the other, to everybody who may see the run for certain."""
        while True:
            await self._is_draft.wait()
            step = next(iter(self._drafts))
            text = self._drafts.pop(step)
            if not self._drafts:
                self._is_draft.clear()
            for watcher in list(self._watchers):
                if watcher.person not in self._unsure:
                    watcher.show(step, text)
            await asyncio.sleep(MIN_DRAFT_DELAY)


_audiences: dict[tuple[int, str], Channel] = {}


def channel_of(run_id: int, tab: str) -> Channel:
    """The channel of this process; a new one for the first socket."""
    found = _audiences.get((run_id, tab))
    if found is None or found.loop is not asyncio.get_running_loop():
        found = _audiences[run_id, tab] = Channel(run_id, tab)
    return found


def sockets() -> int:
    """How many follow a run through this process."""
    return sum(audience.size for audience in list(_audiences.values()))


def look(run_id: int, tab: str, seats: set[SocketIdentity], behind: set[int], number: int, shown: Shown) -> _Look:
    """The messages to send. `number`: the event up to which pages show the small parts `shown`."""
    light = Run.objects.select_related("head").defer("request", "answer", "final", "head__changes")
    run = one_of(light.filter(pk=run_id))
    stands = standing(run, seats) if run is not None else {}
    if run is None or not stands:
        return _Look(number, stands, {})
    pasts = sorted((seen for seen in behind if seen < run.event_count), reverse=True)[:MAX_CATCH_UPS]
    found = {seen: news(run, tab, seen, shown if seen == number else {}) for seen in pasts}
    ahead = {seen: News(run.event_count, "") for seen in behind if seen > run.event_count}
    return _Look(run.event_count, stands, found | ahead)


async def from_database[Value](read: Callable[[], Value]) -> Value:
    """What `read` returns, read in a thread that gives its connection back.

    Channels' own `database_sync_to_async` cleans up outside of the context in which asgiref keeps the connection: it
    would stay open until it is collected.
    """

    def reading() -> Value:
        try:
            return read()
        finally:
            connection.close()

    return await sync_to_async(reading, thread_sensitive=False)()
