"""Measures the page of metrics over ten thousand runs, by each period and for one person."""

from __future__ import annotations

import time
from statistics import median

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.models import Run
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import fresh_database
from tests.factories import alice
from tests.factories.crowd import crowd, judge

MAX_MS = 300.0
ADDRESSES = {
    "7 days": "?days=7",
    "30 days": "?days=30",
    "everything": "?days=all",
    "a person": "?days=all&person=alice",
}


def measure(*, short: bool) -> list[Figure]:
    count, times = (100, 1) if short else (10_000, 5)
    fresh_database()
    owner = alice()
    crowd(owner, count, open_gates=count // 10, running=count // 50)
    judge(Run.objects.all())
    client = Client(SERVER_NAME="localhost")
    client.force_login(owner)
    figures = [
        Figure(name, _ms(client, f"/metrics/{query}", times), "ms", max=MAX_MS) for name, query in ADDRESSES.items()
    ]
    with CaptureQueriesContext(connection) as captured:
        client.get("/metrics/?days=all")
    return [*figures, Figure("queries", float(len(captured)), "", broken_over=20)]


def _ms(client: Client, address: str, times: int) -> float:
    """The median of the processor's time, SQLite's included: the first request is for caches and compiled templates."""
    taken = []
    for number in range(times + 1):
        began = time.process_time()
        answer = client.get(address)
        taken += [(time.process_time() - began) * 1_000] if number else []
        if answer.status_code != 200:
            raise ShapeBroken(f"{address} was answered with {answer.status_code}.")
    return median(taken)
