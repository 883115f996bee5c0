"""Sockets that talk to a run's page as a browser does."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from channels.layers import get_channel_layer
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from runs import live
from runs.events.kinds import Note
from runs.models import Run, User
from runs.web.following.audience import from_database
from runs.web.routing import websocket_urlpatterns
from tests.factories import recorded

type Talk = Callable[[WebsocketCommunicator], Awaitable[Any]]


def communicator(run_id: int, user: User | None, tab: str = "history") -> WebsocketCommunicator:
    """A socket behind the sign-in and origin middleware, of a page that shows this tab."""
    talk = WebsocketCommunicator(URLRouter(websocket_urlpatterns), f"/ws/runs/{run_id}/?tab={tab}")
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


async def update(socket: WebsocketCommunicator) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(await socket.receive_from(timeout=3)))


def tell(run: Run) -> None:
    """An event of another process, and the sweeper's announcement of it."""
    recorded(run.pk, Note(text="Something happened."))


async def announce(run: Run) -> None:
    message = live.NewEvents(type="new.events", run=run.pk, seq=1_000_000)
    await get_channel_layer().group_send(live.group(run.pk), message)


async def told(run: Run) -> None:
    await from_database(lambda: tell(run))
    await announce(run)
