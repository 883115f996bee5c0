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


class StandingChanged(TypedDict):
    """Somebody was signed out, made inactive or taken off a run: sockets look whether they may stay open."""

    type: Literal["standing.changed"]
    person: int


_loops: list[asyncio.AbstractEventLoop] = []


def group(run_id: int) -> str:
    return f"run-{run_id}"


def person_group(person_id: int) -> str:
    return f"person-{person_id}"


def serve_from(loop: asyncio.AbstractEventLoop) -> None:
    """Messages go through this loop from now on: the in-memory layer is not safe across threads."""
    _loops[:] = [loop]


def announce(run_id: int, seq: int) -> None:
    """Tell everybody who follows the run, and return at once.

    In a process that serves no one this does nothing: the sweeper of the one that does will find the rows.
    """
    _send(group(run_id), NewEvents(type="new.events", run=run_id, seq=seq))


def recheck(person_id: int) -> None:
    """Let every socket of this person look at once whether it may stay open. Elsewhere the sweeper does."""
    _send(person_group(person_id), StandingChanged(type="standing.changed", person=person_id))


def _send(name: str, message: NewEvents | StandingChanged) -> None:
    if _loops and _loops[0].is_running():
        asyncio.run_coroutine_threadsafe(get_channel_layer().group_send(name, message), _loops[0])
