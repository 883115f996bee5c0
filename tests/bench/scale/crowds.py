"""Ten thousand gates that wait for a person: the inbox, and a poll of the sweeper."""

from __future__ import annotations

import time
from statistics import median

from django.db import connection
from django.test import Client

from runs.engine.sweeper import Sweeper
from runs.models import Gate
from tests.bench.figures import Figure, ShapeBroken
from tests.factories import alice
from tests.factories.crowd import crowd
from tests.integration.web.site.visitor import Visitor
from tests.services.cluster import Cluster


def measure(cluster: Cluster, *, short: bool) -> list[Figure]:
    count, times = (200, 5) if short else (10_000, 60)
    owner = alice()
    crowd(owner, count, open_gates=count, running=0)
    _settle(short=short)
    gates = Gate.objects.open().count()
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(owner)
    visitor = Visitor(next(iter(cluster.webs)))
    visitor.carry({name: morsel.value for name, morsel in client.cookies.items()})
    pages = sorted(_page(visitor) for _ in range(times))
    sweeper = Sweeper(lambda _: None)
    sweeper.poll()  # the first one has files and drafts to look for
    polls = [_poll(sweeper) for _ in range(times)]
    return [
        Figure(f"{gates} open gates: inbox, half of the times", median(pages), "ms"),
        Figure(f"{gates} open gates: inbox, 95 of 100", pages[len(pages) * 95 // 100], "ms", max=100),
        Figure(f"{gates} open gates: a poll of the sweeper", median(polls), "ms", max=5),
    ]


def _settle(*, short: bool) -> None:
    """Rows that took months elsewhere came in a minute: what the database does by itself meanwhile is done for it, and
    every process is given the time to announce events that none of its browsers follows.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    time.sleep(1 if short else 15)


def _page(visitor: Visitor) -> float:
    began = time.monotonic()
    status, page = visitor.get("/")
    if status != 200 or "inbox" not in page.lower():
        raise ShapeBroken(f"The inbox was answered with {status}.")
    return (time.monotonic() - began) * 1_000


def _poll(sweeper: Sweeper) -> float:
    began = time.monotonic()
    sweeper.poll()
    return (time.monotonic() - began) * 1_000
