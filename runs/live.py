"""The only door to the channel layer: it tells who follows a run that there is something new.

A message carries ids only; anyone who gets one reads the rows and checks permission again. Messages may be lost or
come twice.
"""

import asyncio
from typing import Literal, TypedDict

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
    """Tell everybody who follows the run, and return at once.

    In a process that serves no one this does nothing: the sweeper of the one that does will find the rows.
    """
    if _loops and _loops[0].is_running():
        message = NewEvents(type="new.events", run=run_id, seq=seq)
        asyncio.run_coroutine_threadsafe(get_channel_layer().group_send(group(run_id), message), _loops[0])
