"""The thread of the database: calls run there while it is started, and where they are made when it is not."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from django.db import connection

from runs.engine.database import Database
from runs.models import User

pytestmark = pytest.mark.services


@pytest.fixture
def database() -> Iterator[Database]:
    database = Database()
    yield database
    database.stop()


def here() -> int:
    return threading.get_ident()


@pytest.mark.django_db(transaction=True)
def test_calls_run_in_one_thread_while_it_is_started(database: Database) -> None:
    """Where there is one writer. Elsewhere they stay where they are made."""
    database.start()
    thread = database.call(here)
    assert (thread != here()) == (connection.vendor == "sqlite")
    assert database.call(here) == thread
    assert database.call(lambda: database.call(here)) == thread, "a call inside of a call does not wait for itself"
    database.call(lambda: User.objects.create_user("alice"))
    assert User.objects.get().username == "alice"


@pytest.mark.django_db
def test_calls_run_where_they_are_made_before_it_is_started_and_after_it_is_stopped(database: Database) -> None:
    assert database.call(here) == here()
    database.start()
    database.stop()
    assert database.call(here) == here()


@pytest.mark.django_db
def test_what_a_call_raises_reaches_who_made_it(database: Database) -> None:
    database.start()
    with pytest.raises(User.DoesNotExist):
        database.call(lambda: User.objects.none().get())
