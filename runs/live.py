"""Owns the only door to the channel layer: it tells who follows a run that there is something new.

A message carries ids only; whoever gets one reads the rows and checks permission again. Messages may be lost or come twice.
"""

import asyncio
from typing import Literal, TypedDict

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer


class NewEvents(TypedDict):
    """`seq` is the number of the newest event of the run."""

    type: Literal["new.events"]
    run: int
    seq: int


_loops: list[asyncio.AbstractEventLoop] = []


def group(run_id: int) -> str:
    return f"run-{run_id}"


def serve_from(loop: asyncio.AbstractEventLoop) -> None:
    """Messages go through this loop from now on: the in-memory layer is not safe across threads."""
    _loops[:] = [loop]


def announce(run_id: int, seq: int) -> None:
    """Tell everybody who follows the run. Returns at once when a server runs in this process.

    Without one, only a layer that reaches other processes is used: an in-memory layer has no one listening.
    """
    layer = get_channel_layer()
    message = NewEvents(type="new.events", run=run_id, seq=seq)
    if _loops and _loops[0].is_running():
        asyncio.run_coroutine_threadsafe(layer.group_send(group(run_id), message), _loops[0])
    elif not type(layer).__name__.startswith("InMemory"):
        async_to_sync(layer.group_send)(group(run_id), message)
