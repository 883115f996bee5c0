"""Workers hold no connections on SQLite: with 200 attempts at once each would take a quarter of a megabyte."""

import threading

import pytest
from django.db import connection
from django.db.backends.signals import connection_created

from runs.engine.process import Engine
from runs.models import Run, User
from runs.submission.samples import finished_sample

LOOKS = 1_200
SECONDS_BETWEEN = 0.05


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_only_the_thread_of_the_database_connects_on_sqlite(alice: User, no_model: None) -> None:
    opened_by: set[str] = set()

    def opened(**_: object) -> None:
        opened_by.add(threading.current_thread().name.partition("_")[0])

    engine, pause = Engine(workers=2), threading.Event()
    connection_created.connect(opened)
    try:
        engine.start()
        run = finished_sample(alice)
        finished = Run.objects.filter(pk=run.pk, finished_at__isnull=False)
        assert any(finished.exists() or pause.wait(SECONDS_BETWEEN) for _ in range(LOOKS))
    finally:
        engine.stop()
        connection_created.disconnect(opened)
    is_sqlite = connection.vendor == "sqlite"
    assert {"worker", "database"} & opened_by == ({"database"} if is_sqlite else {"worker"})
