"""The databases of data folders that tests start processes on: in the folder on SQLite, a name on PostgreSQL.

On PostgreSQL each folder has one whose name is made of the folder's path, so that who knows one finds the other.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

GIVEN = os.environ.get("PEV_DATABASE_URL", "")
"""Where the tests run; empty for SQLite."""
RUN = os.environ.setdefault("PEV_TEST_RUN", f"pev_{os.getpid()}_{os.urandom(3).hex()}")
"""How the names of all databases of these tests begin: their processes have it from the first."""


def address_of(data: Path) -> str:
    """What `PEV_DATABASE_URL` is for processes on this folder."""
    return urlsplit(GIVEN)._replace(path=f"/{_name_of(data)}").geturl() if GIVEN else ""


def make(data: Path, options: str = "") -> None:
    """An empty database for this folder where there is none."""
    with _server() as server:
        if server and not server.execute(_THERE, [_name_of(data)]).fetchone():
            server.execute(f'CREATE DATABASE "{_name_of(data)}" TEMPLATE template0 {options}')


def copy(source: Path, target: Path) -> None:
    """The database of `source` as that of `target`, in the place of what was there. Nobody uses either."""
    with _server() as server:
        if server:
            server.execute(f'DROP DATABASE IF EXISTS "{_name_of(target)}" WITH (FORCE)')
            _copy(server, _name_of(source), _name_of(target))


def drop_all() -> None:
    """Remove what these tests made."""
    with _server() as server:
        names = server.execute(f"{_NAMES} LIKE %s", [f"{RUN}%"]).fetchall() if server else ()
        for (name,) in names:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def rows(data: Path, sql: str) -> list[Any]:
    """What the database of a folder says, as SQLite spells it."""
    if not GIVEN:
        with closing(sqlite3.connect(f"file:{data}/pevsite.sqlite3?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()
    import psycopg  # an extra

    with psycopg.connect(address_of(data)) as connected:
        return [tuple(_plain(value) for value in row) for row in connected.execute(sql)]


def write(data: Path, *statements: str) -> None:
    """Carry these out on the database of a folder, in one transaction."""
    if not GIVEN:
        with closing(sqlite3.connect(data / "pevsite.sqlite3", timeout=60)) as database, database:
            for sql in statements:
                database.execute(sql)
        return
    import psycopg  # an extra

    with psycopg.connect(address_of(data)) as connected:
        for sql in statements:
            connected.execute(sql)


_NAMES = "SELECT datname FROM pg_database WHERE datname"
_THERE = f"{_NAMES} = %s"


def _name_of(data: Path) -> str:
    return f"{RUN}_{hashlib.sha256(str(data).encode()).hexdigest()[:12]}"


@contextmanager
def _server() -> Iterator[Any]:
    """A connection to the server, or None on SQLite."""
    if not GIVEN:
        yield None
        return
    import psycopg  # an extra

    with psycopg.connect(GIVEN, autocommit=True) as server:
        yield server


def _copy(server: Any, source: str, target: str) -> None:
    """Sessions of processes that were killed stand in the way until the server has noticed."""
    import psycopg  # an extra

    for _ in range(200):
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [source])
        try:
            server.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')
        except psycopg.errors.ObjectInUse:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"somebody still uses the database {source}")


def _plain(value: Any) -> Any:
    match value:
        case bool():
            return int(value)
        case Decimal():
            return float(value)
        case datetime():
            return str(value)
        case dict() | list():
            return json.dumps(value)
        case _:
            return value
