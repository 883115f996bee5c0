"""The only door to the channel layer: it tells who follows a run that there is something new.

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
"""Seconds after which a process says again which runs its browsers follow."""
FOLLOWED_FOR = 7.0
"""Seconds for which that counts: two such messages may be lost."""
_FOLLOWERS = "followers"


class NewEvents(TypedDict):
    """`seq` is the number of the newest event of the run."""

    type: Literal["new.events"]
    run: int
    seq: int


class StandingChanged(TypedDict):
    """Somebody was signed out, made inactive or taken off a run: sockets look whether they may stay open."""

    type: Literal["standing.changed"]
    person: int


class ModelWriting(TypedDict):
    """What a model is writing for this step (None: for the run itself), as the JSON that browsers are sent."""

    type: Literal["model.writing"]
    step: int | None
    text: str


class RunsFollowed(TypedDict):
    """Browsers of some process follow these runs: it is worth showing them what a model is writing."""

    type: Literal["runs.followed"]
    runs: list[int]


_followed: Counter[int] = Counter()
"""How many sockets of this process follow each run; changed by the event loop only."""
_elsewhere: dict[int, float] = {}
"""Until when each run counts as followed in other processes; changed by the event loop only."""
_loops: list[asyncio.AbstractEventLoop] = []
_awake: defaultdict[int, set[Callable[[], None]]] = defaultdict(set)
"""What is to be called of each run when the sweeper finds something new; on the event loop only."""


def group(run_id: int) -> str:
    return f"run-{run_id}"


def person_group(person_id: int) -> str:
    return f"person-{person_id}"


def serve_from(loop: asyncio.AbstractEventLoop) -> None:
    """Messages go through this loop from now on: the in-memory layer is not safe across threads."""
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
        except Exception:  # Redis is away, which others log; until it is back nothing could be shown anyway
            channel = ""
            await asyncio.sleep(1)
        else:
            _heard(message["runs"])


def _heard(runs: list[int]) -> None:
    now = time.monotonic()
    for run_id in [run_id for run_id, until in _elsewhere.items() if until < now]:
        del _elsewhere[run_id]
    _elsewhere.update(dict.fromkeys(runs, now + FOLLOWED_FOR))


def _now_followed() -> RunsFollowed:
    return RunsFollowed(type="runs.followed", runs=list(_followed))


def is_shared() -> bool:
    """Whether messages reach browsers of other processes: the layer is not this one's memory."""
    return not isinstance(get_channel_layer(), InMemoryChannelLayer)


def announce(run_id: int, seq: int) -> None:
    """Tell everybody who follows the run, and return at once.

    In a process that serves no one this does nothing: the sweeper of the one that does will find the rows.
    """
    _send(group(run_id), NewEvents(type="new.events", run=run_id, seq=seq))


def found(run_id: int, seq: int) -> None:
    """Announce what the sweeper has found, to those of this process also where no message gets through."""
    announce(run_id, seq)
    if _loops and _loops[0].is_running():
        _loops[0].call_soon_threadsafe(_wake, run_id)


def _wake(run_id: int) -> None:
    for wake in tuple(_awake.get(run_id, ())):
        wake()


def wake_for(run_id: int, wake: Callable[[], None]) -> Callable[[], None]:
    """Have `wake` called on the event loop when the sweeper finds news of the run; the answer ends that."""
    _awake[run_id].add(wake)

    def end() -> None:
        _awake[run_id].discard(wake)
        if not _awake[run_id]:
            del _awake[run_id]

    return end


def recheck(person_id: int) -> None:
    """Let every socket of this person look at once whether it may stay open. Elsewhere the sweeper does."""
    _send(person_group(person_id), StandingChanged(type="standing.changed", person=person_id))


def follow(run_id: int) -> None:
    """A socket follows this run from now on. Who performs its work elsewhere is told at once."""
    _followed[run_id] += 1
    if _followed[run_id] == 1 and is_shared():
        _send(_FOLLOWERS, _now_followed())


def unfollow(run_id: int) -> None:
    _followed[run_id] -= 1
    if _followed[run_id] <= 0:
        del _followed[run_id]


def is_followed(run_id: int) -> bool:
    """Whether a browser follows the run, here or by what others said. Cheap, and safe to ask from any thread."""
    return run_id in _followed or _elsewhere.get(run_id, 0.0) > time.monotonic()


def show(run_id: int, step: int | None, text: str) -> None:
    """Let who follows the run see what a model is writing. It is stored nowhere: what is lost is not sent again."""
    if is_followed(run_id):
        _send(group(run_id), ModelWriting(type="model.writing", step=step, text=text))


def _send(name: str, message: NewEvents | StandingChanged | ModelWriting | RunsFollowed) -> None:
    if _loops and _loops[0].is_running():
        asyncio.run_coroutine_threadsafe(get_channel_layer().group_send(name, message), _loops[0])
