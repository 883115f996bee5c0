"""Ten thousand gates that wait for a person: the inbox, and a poll of the sweeper."""

from __future__ import annotations

import time
from statistics import median

from django.db import connection
from django.test import Client

from runs.engine.sweeper import Sweeper
from tests.bench.figures import Figure
from tests.bench.inbox import inbox_figures
from tests.factories import alice
from tests.factories.crowd import crowd
from tests.services.cluster import Cluster


def measure(cluster: Cluster, *, short: bool) -> list[Figure]:
    count, times = (200, 5) if short else (10_000, 60)
    owner = alice()
    crowd(owner, count, open_gates=count, running=0)
    _settle(short=short)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(owner)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    pages = inbox_figures(next(iter(cluster.webs)), cookies, times)
    sweeper = Sweeper(lambda _: None)
    sweeper.poll()  # the first one has files and drafts to look for
    polls = [_poll(sweeper) for _ in range(times)]
    return [*pages, Figure(f"{count} open gates: a poll of the sweeper", median(polls), "ms", max=5)]


def _settle(*, short: bool) -> None:
    """Rows that took months elsewhere came in a minute: what the database does by itself meanwhile is done for it, and
    every process is given the time to announce events that none of its browsers follows.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    time.sleep(1 if short else 15)


def _poll(sweeper: Sweeper) -> float:
    began = time.monotonic()
    sweeper.poll()
    return (time.monotonic() - began) * 1_000
