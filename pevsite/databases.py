"""Django's settings for where an installation keeps rows, files and counts, and how it passes messages on: in itself,
or in PostgreSQL, S3 and Redis. The addresses are those that `pevsite.environment` has checked.
"""

import json
import logging
import time
from functools import cache
from pathlib import Path
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.utils.functional import cached_property

from pevsite.setting_values import BUCKET

log = logging.getLogger(__name__)
_ANSWER_SECONDS = 0.5
"""Seconds to wait for an answer of Redis about a count."""
_AWAY_SECONDS = 1.0
"""Seconds without another question to a Redis that did not answer."""
_WAIT_SECONDS = 20
"""Seconds to wait for a connection of the pool or, on SQLite, for the only writer."""
_SESSION = {"lock_timeout": 60_000, "idle_in_transaction_session_timeout": 120_000}
"""Timeouts in milliseconds. A writer gives up as on SQLite, and a machine that is gone does not hold rows for long."""


def database(data_dir: Path, address: str, workers: int) -> dict[str, Any]:
    """The database at this address; without an address SQLite. `workers`: the threads that use it in addition to
    those that answer browsers.
    """
    if not address:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            # Without an installation, a command like `check` uses an empty database in memory.
            "NAME": data_dir / "pevsite.sqlite3" if data_dir.exists() else ":memory:",
            "CONN_MAX_AGE": None,  # opening it takes longer than most queries
            "OPTIONS": {
                "timeout": _WAIT_SECONDS,
                "transaction_mode": "IMMEDIATE",  # with DEFERRED, 581 of 640 concurrent writes failed
                "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA temp_store=MEMORY;"
                "PRAGMA journal_size_limit=67108864;PRAGMA cache_size=-4000;",
            },
        }
    import dj_database_url  # these come with an extra
    from psycopg import adapters
    from psycopg.types.string import TextLoader

    parsed: dict[str, Any] = dict(dj_database_url.parse(address, conn_max_age=0))  # the pool keeps connections
    adapters.register_loader("json", TextLoader)  # the fields of Django parse it, as they do with jsonb
    # Each worker and each request takes a connection for a moment; with fewer than this they would wait for each other.
    pool = {"min_size": 1, "max_size": workers + 16, "timeout": _WAIT_SECONDS}
    session = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    options = {"connect_timeout": 10, "options": session} | parsed.get("OPTIONS", {}) | {"pool": pool}
    # Each connection is checked before it is used, because the server may have closed it, such as by a restart.
    return parsed | {"OPTIONS": options, "CONN_HEALTH_CHECKS": True}


def messages(address: str) -> dict[str, Any]:
    """The channel layer for messages to browsers: Redis for several processes; without an address, memory."""
    if not address:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    # Published, not queued: a message is for those who listen now; the sweeper finds in the rows what was lost.
    return {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [address]}}


def caches(address: str) -> dict[str, dict[str, Any]]:
    """`default` counts wrong passwords, codes, links and tokens: in Redis for all processes together; without an
    address, in each process. `reports` keeps reports of finished runs for a minute, in each process.
    """
    here: dict[str, Any] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    counts = here | {"OPTIONS": {"MAX_ENTRIES": 10_000}}
    if address:
        counts = {
            "BACKEND": "pevsite.databases.SharedRedisCache",
            "LOCATION": address,
            "KEY_PREFIX": "pevsite",
        }
    reports = here | {"LOCATION": "reports", "TIMEOUT": 60, "OPTIONS": {"MAX_ENTRIES": 50}}
    return {"default": counts, "reports": reports}


class JsonSerializer:
    """Values of the cache as JSON. Django's own would unpickle what is in Redis, which can run code."""

    def dumps(self, value: object) -> int | bytes:
        return value if type(value) is int else json.dumps(value).encode()  # Redis itself counts integers up

    def loads(self, stored: bytes) -> Any:
        return json.loads(stored)


class SharedRedisCache(RedisCache):
    """A cache in Redis. Django makes one for each request, with a client that reads the versions of its packages and
    connects again. All requests of a process share this one, which takes no OPTIONS. While Redis is away, the process
    counts by itself: what is counted does not decide whether there is an answer.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._address = server
        self._here = LocMemCache("while Redis is away", {})

    @cached_property
    def _cache(self) -> RedisCacheClient:
        return _client(self._address)

    def add(self, *arguments: Any, **named: Any) -> Any:
        return self._call("add", *arguments, **named)

    def get(self, *arguments: Any, **named: Any) -> Any:
        return self._call("get", *arguments, **named)

    def set(self, *arguments: Any, **named: Any) -> Any:
        return self._call("set", *arguments, **named)

    def incr(self, *arguments: Any, **named: Any) -> Any:
        return self._call("incr", *arguments, **named)

    def _call(self, method: str, *arguments: Any, **named: Any) -> Any:
        from redis import RedisError  # an extra

        if _away_until.get(self._address, 0.0) <= time.monotonic():
            try:
                value = getattr(super(), method)(*arguments, **named)
            except RedisError as error:
                if self._address not in _away_until:
                    log.warning("Redis does not answer; each process counts by itself: %s", error)
                _away_until[self._address] = time.monotonic() + _AWAY_SECONDS
            else:
                if _away_until.pop(self._address, None):
                    log.warning("Redis answers again")
                return value
        return getattr(self._here, method)(*arguments, **named)


_away_until: dict[str, float] = {}
"""By the address of a Redis that did not answer: the monotonic time from which it is asked again."""


@cache
def _client(address: str) -> RedisCacheClient:
    return RedisCacheClient(
        [address],
        serializer="pevsite.databases.JsonSerializer",
        socket_connect_timeout=_ANSWER_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
    )


def files(data_dir: Path, address: str) -> dict[str, Any]:
    """The storage of files: the bucket and prefix of this address; without an address, a folder."""
    if not (match := BUCKET.fullmatch(address)):
        return {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": data_dir / "blobs"}}
    return {
        "BACKEND": "runs.store.s3_storage.BucketStorage",
        "OPTIONS": {"bucket": match[1], "prefix": match[2].strip("/")},
    }
