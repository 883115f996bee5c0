"""Processes on one Redis say which runs their browsers follow: what a model writes is published for those only."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from channels.layers import channel_layers
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.test import override_settings
from redis import RedisError

from runs.store import broadcast
from tests.services.redis import Redis

pytestmark = [
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("redis-server"),
    pytest.mark.services,
]
RUN = 4711


@pytest.fixture
def loop(redis: Redis) -> Iterator[asyncio.AbstractEventLoop]:
    """This process is one that works, or serves, on that Redis."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    layer = {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [redis.url]}}
    with override_settings(CHANNEL_LAYERS={"default": layer}):
        channel_layers.backends.clear()
        broadcast.serve_from(loop)
        yield loop
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(60)
    channel_layers.backends.clear()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    broadcast.serve_from(loop)  # which runs no more: nothing is sent
    broadcast._elsewhere.clear()


async def _cancel_all() -> None:
    for backend in channel_layers.backends.values():
        await backend.flush()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class Elsewhere:
    """Another process: it says what its browsers follow, or hears what others do."""

    def __init__(self, redis: Redis) -> None:
        self._url = redis.url

    def says(self, *runs: int) -> None:
        asyncio.run(self._says(*runs))

    async def _says(self, *runs: int) -> None:
        layer: Any = RedisPubSubChannelLayer(hosts=[self._url])
        await layer.group_send("followers", {"type": "runs.followed", "runs": list(runs)})
        await layer.flush()

    def hears(self, then: Callable[[], None]) -> Any:
        async def heard() -> Any:
            layer: Any = RedisPubSubChannelLayer(hosts=[self._url])
            channel = await layer.new_channel()
            await layer.group_add("followers", channel)
            then()
            message = await asyncio.wait_for(layer.receive(channel), 60)
            await layer.flush()
            return message

        return asyncio.run(heard())


@pytest.fixture
def elsewhere(redis: Redis) -> Elsewhere:
    return Elsewhere(redis)


def said_until(elsewhere: Elsewhere, true: Callable[[], bool]) -> None:
    """Said again and again, as processes do."""
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends, "it was not heard"
        try:
            elsewhere.says(RUN)
        except RedisError:  # it is about to answer
            time.sleep(0.05)


@pytest.mark.usefixtures("loop")
def test_what_is_followed_elsewhere_is_followed_for_a_while(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not broadcast.is_followed(RUN)
    said_until(elsewhere, lambda: broadcast.is_followed(RUN))
    assert not broadcast.is_followed(RUN + 1)
    later = time.monotonic() + broadcast.FOLLOWED_FOR + 1
    monkeypatch.setattr(broadcast.time, "monotonic", lambda: later)  # type: ignore[attr-defined]
    assert not broadcast.is_followed(RUN)


@pytest.mark.slow
@pytest.mark.usefixtures("loop")
def test_others_hear_at_once_what_is_followed_here(elsewhere: Elsewhere) -> None:
    try:
        assert elsewhere.hears(lambda: broadcast.follow(RUN)) == {"type": "runs.followed", "runs": [RUN]}
        assert elsewhere.hears(lambda: None)["runs"] == [RUN], "and again now and then"
    finally:
        broadcast.unfollow(RUN)


@pytest.mark.slow
@pytest.mark.usefixtures("loop")
@pytest.mark.exhaustive
def test_it_is_heard_again_when_redis_was_away(redis: Redis, elsewhere: Elsewhere) -> None:
    said_until(elsewhere, lambda: broadcast.is_followed(RUN))
    redis.stop()
    broadcast._elsewhere.clear()
    redis.start()
    said_until(elsewhere, lambda: broadcast.is_followed(RUN))
