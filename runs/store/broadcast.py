"""The only user of the channel layer: tells browsers that follow a run that there is something new.

A message carries ids only; anyone who gets one reads the rows and checks permission again. Messages may be lost or
come twice.
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, TypedDict

from channels.layers import InMemoryChannelLayer, get_channel_layer

FOLLOWED_INTERVAL = 2.0
"""Seconds after which a process repeats which runs its browsers follow."""
FOLLOWED_FOR = 7.0
"""Seconds for which such a message is valid: two in a row may get lost."""
_FOLLOWERS = "followers"


class NewEvents(TypedDict):
    """`seq` is the number of the newest event of the run."""

    type: Literal["new.events"]
    run: int
    seq: int


class StandingChanged(TypedDict):
    """A person was signed out, made inactive or removed from a run: sockets check whether they may stay open."""

    type: Literal["standing.changed"]
    person: int


class ModelWriting(TypedDict):
    """What a model is writing for a step (None: for the run itself), as JSON for browsers."""

    type: Literal["model.writing"]
    step: int | None
    text: str


class RunsFollowed(TypedDict):
    """Browsers of another process follow these runs, so that it makes sense to send what a model is writing."""

    type: Literal["runs.followed"]
    runs: list[int]


_followed: Counter[int] = Counter()
"""How many sockets of this process follow each run; changed by the event loop only."""
_elsewhere: dict[int, float] = {}
"""Until when each run counts as followed in other processes; changed by the event loop only."""
_loops: list[asyncio.AbstractEventLoop] = []
_awake: defaultdict[int, set[Callable[[], None]]] = defaultdict(set)
"""By run, the functions to call when the sweeper finds something new. Used on the event loop only."""


def group(run_id: int) -> str:
    return f"run-{run_id}"


def person_group(person_id: int) -> str:
    return f"person-{person_id}"


def serve_from(loop: asyncio.AbstractEventLoop) -> None:
    """Send messages through this loop from now on, because the in-memory layer is not thread-safe."""
    _loops[:] = [loop]
    if is_shared():
        for exchange in (_tell_followed(), _hear_followed()):
            asyncio.run_coroutine_threadsafe(exchange, loop)


async def _tell_followed() -> None:
    while True:
        await asyncio.sleep(FOLLOWED_INTERVAL)
        if _followed:
            with suppress(Exception):  # Redis is away: the next one may get through
                await get_channel_layer().group_send(_FOLLOWERS, _now_followed())


async def _hear_followed() -> None:
    layer: Any = get_channel_layer()
    channel = ""
    while True:
        try:
            if not channel:
                channel = await layer.new_channel()
                await layer.group_add(_FOLLOWERS, channel)
            message = await layer.receive(channel)
        except Exception:  # Redis is away, which others log, and without it no text reaches other processes
            channel = ""
            await asyncio.sleep(1)
        else:
            now = time.monotonic()
            for run_id in [run_id for run_id, until in _elsewhere.items() if until < now]:
                del _elsewhere[run_id]
            _elsewhere.update(dict.fromkeys(message["runs"], now + FOLLOWED_FOR))


def _now_followed() -> RunsFollowed:
    return RunsFollowed(type="runs.followed", runs=list(_followed))


def is_shared() -> bool:
    """Whether messages reach browsers of other processes, which the in-memory layer does not."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


def announce(run_id: int, seq: int) -> None:
    """Tell all browsers that follow the run. Returns at once.

    Does nothing in a process that serves no pages. The sweeper of a process that does finds the rows.
    """
    _send(group(run_id), NewEvents(type="new.events", run=run_id, seq=seq))


def found(run_id: int, seq: int) -> None:
    """Announce what the sweeper has found. Browsers of this process are notified even if no message gets through."""
    announce(run_id, seq)
    if _loops and _loops[0].is_running():
        _loops[0].call_soon_threadsafe(_wake, run_id)


def _wake(run_id: int) -> None:
    for wake in tuple(_awake.get(run_id, ())):
        wake()


def wake_for(run_id: int, wake: Callable[[], None]) -> Callable[[], None]:
    """Call `wake` on the event loop when the sweeper finds news of the run. Call the returned function to end that."""
    _awake[run_id].add(wake)

    def end() -> None:
        _awake[run_id].discard(wake)
        if not _awake[run_id]:
            del _awake[run_id]

    return end


def recheck(person_id: int) -> None:
    """Have all sockets of a person check now whether they may stay open. In other processes the sweeper does this."""
    _send(person_group(person_id), StandingChanged(type="standing.changed", person=person_id))


def follow(run_id: int) -> None:
    """Register a socket that follows the run. Processes that perform its work are notified at once."""
    _followed[run_id] += 1
    if _followed[run_id] == 1 and is_shared():
        _send(_FOLLOWERS, _now_followed())


def unfollow(run_id: int) -> None:
    _followed[run_id] -= 1
    if _followed[run_id] <= 0:
        del _followed[run_id]


def is_followed(run_id: int) -> bool:
    """Whether a browser of this or another process follows the run. Cheap and thread-safe."""
    return run_id in _followed or _elsewhere.get(run_id, 0.0) > time.monotonic()


def show(run_id: int, step: int | None, text: str) -> None:
    """Show browsers that follow the run what a model is writing. It is not stored: lost messages are not repeated."""
    if is_followed(run_id):
        _send(group(run_id), ModelWriting(type="model.writing", step=step, text=text))


def _send(name: str, message: NewEvents | StandingChanged | ModelWriting | RunsFollowed) -> None:
    if _loops and _loops[0].is_running():
        asyncio.run_coroutine_threadsafe(get_channel_layer().group_send(name, message), _loops[0])
