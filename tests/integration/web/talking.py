"""Sockets that talk to a run's page as a browser does."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from runs.events.kinds import Note
from runs.models import Run, User
from runs.store import broadcast
from runs.web.live.consumer import websocket_urlpatterns
from runs.web.live.subscribers import from_database
from tests.factories import recorded

PATIENCE = 60.0
"""Seconds for an answer that will come: a busy machine is no failure."""


class Socket(WebsocketCommunicator):  # type: ignore[misc]  # the library has no types
    """A browser's socket. The library's own waits a second for each answer."""

    async def receive_output(self, timeout: float = PATIENCE) -> Any:
        return await super().receive_output(PATIENCE)

    async def wait(self, timeout: float = PATIENCE) -> None:
        await super().wait(PATIENCE)


type Talk = Callable[[Socket], Awaitable[Any]]


def communicator(run_id: int, user: User | None, tab: str = "history") -> Socket:
    """A socket behind the sign-in and origin middleware, of a page that shows this tab."""
    talk = Socket(URLRouter(websocket_urlpatterns), f"/ws/runs/{run_id}/?tab={tab}")
    if user is not None:
        talk.scope["user"] = user
    return talk


def talk(run_id: int, user: User | None, what: Talk, tab: str = "history") -> Any:
    """Open a socket, talk, close it."""

    async def all_of_it() -> Any:
        socket = communicator(run_id, user, tab)
        connected, _ = await socket.connect()
        assert connected
        try:
            return await what(socket)
        finally:
            await socket.disconnect()

    return asyncio.run(all_of_it())


async def update(socket: Socket) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(await socket.receive_from()))


def tell(run: Run) -> None:
    """An event of another process, and the sweeper's announcement of it."""
    recorded(run.pk, Note(text="Something happened."))


async def announce(run: Run) -> None:
    message = broadcast.NewEvents(type="new.events", run=run.pk, seq=1_000_000)
    await get_channel_layer().group_send(broadcast.group(run.pk), message)


async def told(run: Run) -> None:
    await from_database(lambda: tell(run))
    await announce(run)
