"""Writers wait their turn instead of failing, and an open connection goes to the next who asks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from pevsite.sqlite.base import DatabaseWrapper


@pytest.fixture
def file(tmp_path: Path, django_db_blocker: Any) -> Iterator[Path]:
    path = tmp_path / "some.sqlite3"
    with django_db_blocker.unblock():
        with opened(path) as database, database.cursor() as cursor:
            cursor.execute("CREATE TABLE counter (n INTEGER)")
            cursor.execute("INSERT INTO counter VALUES (0)")
        yield path


def wrapper(path: Path) -> DatabaseWrapper:
    """A thread's own. SQLite itself waits for nobody here: whoever does not wait in turn fails."""
    options = connections.settings["default"]["OPTIONS"] | {"timeout": 0}
    return DatabaseWrapper(connections.settings["default"] | {"NAME": path, "OPTIONS": options})


@contextmanager
def opened(path: Path) -> Iterator[DatabaseWrapper]:
    with closing(wrapper(path)) as database:
        yield database


def begin(database: DatabaseWrapper) -> None:
    database.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def value(path: Path) -> Any:
    with opened(path) as database, database.cursor() as cursor:
        return cursor.execute("SELECT n FROM counter").fetchone()[0]


def test_transactions_wait_for_their_turn(file: Path) -> None:
    def add(_: int) -> None:
        with opened(file) as database:
            begin(database)
            with database.cursor() as cursor:
                n = cursor.execute("SELECT n FROM counter").fetchone()[0]
                cursor.execute("UPDATE counter SET n = %s", [n + 1])
            database.commit()
            database.set_autocommit(True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))
    assert value(file) == 40


def test_a_single_write_waits_for_its_turn(file: Path) -> None:
    def add() -> None:
        with opened(file) as database, database.cursor() as cursor:
            cursor.execute("UPDATE counter SET n = n + 10")

    with ThreadPoolExecutor(1) as pool, opened(file) as database, database.cursor() as cursor:
        begin(database)
        cursor.execute("UPDATE counter SET n = 1")
        added = pool.submit(add)
        waits = not wait([added], timeout=0.1).done
        database.commit()
        database.set_autocommit(True)
        added.result()
    assert waits
    assert value(file) == 11


def test_what_is_closed_in_the_middle_is_undone_and_blocks_nobody(file: Path) -> None:
    with opened(file) as database, database.cursor() as cursor:
        begin(database)
        cursor.execute("UPDATE counter SET n = 7")
    with opened(file) as other, other.cursor() as cursor:
        cursor.execute("UPDATE counter SET n = n + 1")
    assert value(file) == 1


def test_an_open_connection_goes_to_the_next_who_asks(file: Path) -> None:
    one, other = wrapper(file), wrapper(file)
    one.ensure_connection()
    kept = one.connection
    one.close()
    other.ensure_connection()
    assert one.connection is None
    assert other.connection is kept
    other.close()
