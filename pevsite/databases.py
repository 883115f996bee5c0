"""Where an installation keeps rows and files, passes messages on and works: in itself, or in PostgreSQL, S3, Redis and
Celery.
"""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

_FORMS = ("postgres://", "postgresql://")
_BUCKET = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/+[\w.=-]+)*)/*")
_WAIT_SECONDS = 20
"""For a connection of the pool, and on SQLite for its only writer."""
_SESSION = {"lock_timeout": 60_000, "idle_in_transaction_session_timeout": 120_000}
"""Milliseconds: a writer gives up as on SQLite, and a machine that is gone holds no row for long."""


def database(data_dir: Path, address: str, workers: int) -> dict[str, Any]:
    """Django's settings of the database at this address, SQLite's without one. `workers`: threads that use it beside
    those that answer browsers.

    Raises ImproperlyConfigured, with a sentence for whoever starts pevsite, for an address that cannot be used.
    """
    if not address:
        return _sqlite(data_dir)
    if not address.startswith(_FORMS):  # what it is may hold a password: it is not repeated
        raise ImproperlyConfigured(
            "PEV_DATABASE_URL is no address of PostgreSQL. Write postgres://user:password@host:5432/name, or leave "
            "it out for SQLite in the data folder."
        )
    try:
        import dj_database_url  # an optional extra
        import psycopg_pool  # noqa: F401  likewise: Django asks for it when it first connects
        from psycopg import adapters
        from psycopg.types.string import TextLoader
    except ImportError as error:
        raise ImproperlyConfigured(
            "PEV_DATABASE_URL names PostgreSQL, and its driver is not installed: run uv sync --extra scale."
        ) from error
    try:
        found: dict[str, Any] = dict(dj_database_url.parse(address, conn_max_age=0))  # the pool keeps connections
    except ValueError as error:
        raise ImproperlyConfigured(
            "PEV_DATABASE_URL cannot be read: write postgres://user:password@host:5432/name."
        ) from error
    adapters.register_loader("json", TextLoader)  # the fields of Django parse it, as they do with jsonb
    # Each worker and each request takes a connection for a moment; with fewer than this they would wait for each other.
    pool = {"min_size": 1, "max_size": workers + 16, "timeout": _WAIT_SECONDS}
    session = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    options = {"connect_timeout": 10, "options": session} | found.get("OPTIONS", {}) | {"pool": pool}
    # Connections that the server has closed, such as by a restart, are found by a look at each before it is used.
    return found | {"OPTIONS": options, "CONN_HEALTH_CHECKS": True}


def messages(address: str) -> dict[str, Any]:
    """Django's settings of what carries messages to browsers: Redis for several processes, else this one's memory.

    Raises ImproperlyConfigured likewise.
    """
    if not address:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    if not address.startswith(("redis://", "rediss://")):
        raise ImproperlyConfigured(
            "PEV_REDIS_URL is no address of Redis. Write redis://:password@host:6379/0, or leave it out where one "
            "process serves."
        )
    try:
        import channels_redis  # noqa: F401  an optional extra
    except ImportError as error:
        raise ImproperlyConfigured(
            "PEV_REDIS_URL names Redis, and its driver is not installed: run uv sync --extra scale."
        ) from error
    # Published, not queued: a message is for who listens now, and what is lost the sweeper finds in the rows.
    return {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [address]}}


def files(data_dir: Path, address: str) -> dict[str, Any]:
    """Django's settings of the store of files: a folder, or below `s3://bucket/prefix`. Raises ImproperlyConfigured."""
    if not address:
        return {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": data_dir / "blobs"}}
    found = _BUCKET.fullmatch(address)
    if found is None or "/.." in address:
        raise ImproperlyConfigured(
            "PEV_BLOBS is no address of a bucket. Write s3://bucket/prefix, or leave it out for the data folder; a "
            "server of your own is named in AWS_ENDPOINT_URL."
        )
    if find_spec("boto3") is None or find_spec("storages") is None:  # optional extras, slow to import
        raise ImproperlyConfigured(
            "PEV_BLOBS names a bucket, and what reaches it is not installed: run uv sync --extra scale."
        )
    bucket, prefix = found.groups()
    return {
        "BACKEND": "runs.store.s3_storage.BucketStorage",
        "OPTIONS": {"bucket": bucket, "prefix": prefix.strip("/")},
    }


def engine(name: str, database_address: str, redis_address: str) -> str:
    """The engine of that name, `embedded` without one. Raises ImproperlyConfigured also where something is missing."""
    if name in {"", "embedded"}:
        return "embedded"
    if name != "celery":
        raise ImproperlyConfigured(
            f"PEV_ENGINE is “{name}”, which is no engine: leave it out, or write embedded or celery."
        )
    if not database_address:
        raise ImproperlyConfigured(
            "PEV_ENGINE=celery needs PostgreSQL, since several processes write: set PEV_DATABASE_URL, the same for all."
        )
    if not redis_address:
        raise ImproperlyConfigured("PEV_ENGINE=celery needs Redis as its broker: set PEV_REDIS_URL, the same for all.")
    if find_spec("celery") is None:  # an optional extra; importing it takes a moment that most commands need not wait
        raise ImproperlyConfigured("PEV_ENGINE=celery needs Celery, which is not installed: run uv sync --extra scale.")
    return name


def _sqlite(data_dir: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        # Where nothing was prepared a command like `check` asks an empty database in memory what SQLite can do.
        "NAME": data_dir / "pevsite.sqlite3" if data_dir.exists() else ":memory:",
        "OPTIONS": {
            "timeout": _WAIT_SECONDS,
            "transaction_mode": "IMMEDIATE",  # with DEFERRED, 581 of 640 concurrent writes failed
            "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA temp_store=MEMORY;"
            "PRAGMA journal_size_limit=67108864;PRAGMA cache_size=-4000;",
        },
    }
