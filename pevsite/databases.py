"""Which database an installation has: SQLite in its data folder, or PostgreSQL by its address."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

_FORMS = ("postgres://", "postgresql://")
_WAIT_SECONDS = 20
"""For a connection of the pool, and on SQLite for its only writer."""


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
    # Each worker and each request takes a connection for a moment; with fewer than this they would wait for each other.
    pool = {"min_size": 1, "max_size": workers + 16, "timeout": _WAIT_SECONDS}
    return found | {"OPTIONS": {**found.get("OPTIONS", {}), "pool": pool}}


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
