"""Django's settings for the services of an installation: where it keeps rows and files, and how it sends messages and
mails. Everything but mail works without a service. `pevsite.environment` has checked the addresses.
"""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pevsite.setting_values import BUCKET

_WAIT_SECONDS = 20
"""Seconds to wait for a connection of the pool or, on SQLite, for the only writer."""
_MAIL_SECONDS = 20
"""Seconds to wait for an answer of the mail server."""
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


def cache(address: str) -> dict[str, Any]:
    """The cache, which counts failed sign-ins: in Redis for all processes together; without an address, in each."""
    if not address:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 10_000}}
    return {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": address, "KEY_PREFIX": "pevsite"}


def mailers(address: str) -> dict[str, Any]:
    """The server that sends mails; none without an address."""
    if not address:
        return {}
    parts = urlsplit(address)
    options = {
        "host": parts.hostname,
        "port": parts.port or (465 if parts.scheme == "smtps" else 587),
        "username": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "use_ssl": parts.scheme == "smtps",
        "use_tls": parts.scheme == "smtp+tls",
        "timeout": _MAIL_SECONDS,
    }
    return {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}


def files(data_dir: Path, address: str) -> dict[str, Any]:
    """The storage of files: the bucket and prefix of this address; without an address, a folder."""
    if not (match := BUCKET.fullmatch(address)):
        return {"BACKEND": "runs.store.blobs.BlobStorage", "OPTIONS": {"location": data_dir / "blobs"}}
    return {
        "BACKEND": "runs.store.s3_storage.BucketStorage",
        "OPTIONS": {"bucket": match[1], "prefix": match[2].strip("/")},
    }
