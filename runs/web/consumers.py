"""The socket of a run's page: it re-reads the rows, checks permission again, and sends what changed (D5)."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import close_old_connections

from runs import live
from runs.errors import NotAllowed
from runs.logs import about
from runs.web.fragments import TABS, Update, followed, update
from runs.web.sessions import holder

log = logging.getLogger(__name__)
MIN_DELAY = 0.2
"""Seconds between two messages to one browser at least; what happens meanwhile goes into the next one."""
MIN_DRAFT_DELAY = 0.1
"""Seconds between two updates on what models are writing."""
MAX_MESSAGE = 1_000
"""Characters. A browser says nothing but the number of the last event it has."""
MAX_MESSAGES = 10
"""A browser sends one on each connection."""
MAX_SOCKETS = 30
"""Pages that one person may follow at the same time."""
NO_LONGER_ALLOWED = 4403
"""Close code of our own (4000 to 4999 are free for applications), after HTTP's 403."""


_open: Counter[int] = Counter()
"""How many sockets each person has open."""


class RunConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """One browser that follows one run. It says once what it has seen; from then on it is told what is new."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._counted: int | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:  # however it ends: the server cancels what does not notice that the browser has gone
            if self._counted is not None:
                _open[self._counted] -= 1
                live.unfollow(self._run_id)

    async def connect(self) -> None:
        self._seen: int | None = None
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._drafts: dict[int | None, str] = {}
        self._has_draft = asyncio.Event()
        self._may_see = asyncio.Event()
        self._ends: float | None = None
        self._messages = 0
        self._run_id: int = self.scope["url_route"]["kwargs"]["run_id"]
        self._tab = tab_in(self.scope.get("query_string", b""))
        user = self.scope.get("user")
        self._person: int | None = user.pk if user is not None else None
        for name in self._groups():  # before the look, so that nothing is missed after it
            await self.channel_layer.group_add(name, self.channel_name)
        try:
            await from_database(self._look)
        except NotAllowed:
            name = user.get_username() if user is not None else ""
            log.warning("refused: a socket", extra=about(run=self._run_id, user=name, address=self._address()))
            await self._leave()
            await self.close()
            return
        if _open[self._person or 0] >= MAX_SOCKETS:
            await self._leave()
            await self.close()
            return
        self._counted = self._person or 0
        _open[self._counted] += 1
        live.follow(self._run_id)
        await self.accept()
        self._tasks = [asyncio.create_task(self._follow()), asyncio.create_task(self._show())]

    def _groups(self) -> tuple[str, str]:
        return live.group(self._run_id), live.person_group(self._person or 0)

    def _address(self) -> str:
        client = self.scope.get("client")
        return str(client[0]) if client else ""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The browser's first message names the last event it shows. Anything else is dropped."""
        if bytes_data or text_data is None or len(text_data) > MAX_MESSAGE:
            await self.close(1009)
            return
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            await self.close(1008)
            return
        if self._seen is None and (seen := seen_in(text_data)) is not None:
            self._seen = seen
            self._news.set()

    async def new_events(self, message: live.NewEvents) -> None:
        """From the channel layer: there may be something new. The rows say what."""
        self._news.set()

    async def standing_changed(self, message: live.StandingChanged) -> None:
        """From the channel layer: this socket may have to close. The rows say whether; it is told nothing before."""
        self._may_see.clear()
        self._news.set()

    async def model_writing(self, message: live.ModelWriting) -> None:
        """From the channel layer: what a model is writing for a step. Only the newest of each step is kept."""
        self._drafts[message["step"]] = message["text"]
        self._has_draft.set()

    async def _leave(self) -> None:
        for name in self._groups():
            await self.channel_layer.group_discard(name, self.channel_name)

    async def disconnect(self, code: int) -> None:
        await self._leave()
        for task in self._tasks:
            task.cancel()

    async def _follow(self) -> None:
        try:
            while True:
                with suppress(TimeoutError):  # then the session is over, or was used by a page in the meantime
                    await asyncio.wait_for(self._news.wait(), self._ends and self._ends - time.time())
                self._news.clear()
                await self._tell()
                await asyncio.sleep(MIN_DELAY)
        except NotAllowed:
            await self.close(NO_LONGER_ALLOWED)
        except Exception:
            log.exception("the socket of run %s failed; the browser will connect again", self._run_id)
            await self.close(1011)

    async def _tell(self) -> None:
        new = await from_database(self._look)
        if new is None:
            return
        if not self._news.is_set():  # or this was read before the standing changed
            self._may_see.set()
        self._seen = new.seq
        if new.content:
            await self.send(json.dumps({"seq": new.seq, "content": new.content}))

    async def _show(self) -> None:
        """Send what models are writing, one step after the other, while this socket may see the run."""
        while True:
            await self._has_draft.wait()
            await self._may_see.wait()
            await self.send(self._drafts.pop(next(iter(self._drafts))))
            if not self._drafts:
                self._has_draft.clear()
            await asyncio.sleep(MIN_DRAFT_DELAY)

    def _look(self) -> Update | None:
        """What is new for a browser that has said what it shows. Raises NotAllowed, also for who has signed out."""
        session = self.scope.get("session")
        if session is not None:
            person, self._ends = holder(session.session_key)
            self._person = person.pk
        if self._seen is None:
            followed(self._person, self._run_id)
            return None
        return update(self._person, self._run_id, self._tab, self._seen)


async def from_database[Value](read: Callable[[], Value]) -> Value:
    """What `read` returns, read in a thread that gives its connection back.

    Channels' own `database_sync_to_async` cleans up outside of the context in which asgiref keeps the connection: it
    would stay open until it is collected.
    """

    def reading() -> Value:
        try:
            return read()
        finally:
            close_old_connections()

    return await sync_to_async(reading, thread_sensitive=False)()


def tab_in(query: bytes) -> str:
    """The tab that a page says it shows; the overview for whatever else a browser may ask for."""
    named = parse_qs(query[:MAX_MESSAGE].decode("latin-1")).get("tab", [""])[0]
    return named if named in TABS else "overview"


def seen_in(text: str) -> int | None:
    """The number in `{"seen": 12}`; None for whatever else a browser may send."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    seen = given.get("seen") if isinstance(given, dict) else None
    return seen if type(seen) is int and seen >= 0 else None
