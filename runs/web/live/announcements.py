"""Waits for news of a run without a thread and without a connection to the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from channels.layers import get_channel_layer

from runs.store import broadcast

type Wait = Callable[[float], Awaitable[bool]]


@asynccontextmanager
async def announcements(run_id: int, person_id: int) -> AsyncIterator[Wait]:
    """Gives a function that waits at most so many seconds, and returns whether something may have happened: an event of
    the run, or a change of what the person may see.

    Nothing that happens from now on is missed. Groups of the channel layer forget members after a day.
    """
    layer: Any = get_channel_layer()
    news = asyncio.Event()
    channel = await layer.new_channel()
    groups = (broadcast.group(run_id), broadcast.person_group(person_id))
    for name in groups:
        await layer.group_add(name, channel)

    async def listen() -> None:
        with suppress(Exception):  # if the layer goes away, the sweeper of this process still wakes us
            while True:
                message = await layer.receive(channel)
                if message["type"] != "model.writing":
                    news.set()

    async def wait(seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return False
        news.clear()
        return True

    listening = asyncio.create_task(listen())
    stop_waking = broadcast.wake_for(run_id, news.set)
    try:
        yield wait
    finally:
        stop_waking()
        listening.cancel()
        for name in groups:
            with suppress(Exception):  # a layer that is away forgets who listens
                await layer.group_discard(name, channel)
