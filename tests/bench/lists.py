"""Measures the inbox over ten thousand runs: each list, search and filters, as a page and as a poll without news."""

from __future__ import annotations

import time
from statistics import median

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import fresh_database
from tests.factories import alice, bob, person
from tests.factories.crowd import crowd

MAX_MS = 100.0
ADDRESSES = {
    "needs your decision": "/",
    "running": "/?show=running",
    "finished": "/?show=finished",
    "finished, last page": "/?show=finished&page=100000",
    "all": "/?show=all",
    "all, by title": "/?show=all&sort=title",
    "search, some": "/?show=all&q=lease+interview",
    "search, none": "/?show=all&q=nothing+of+the+kind",
    "every filter": "/?show=all&q=review&state=partial&template=Document+review&person=alice&since=2020-01-01",
}


def measure(*, short: bool) -> list[Figure]:
    count, times = (300, 1) if short else (10_000, 7)
    fresh_database()
    owner = alice()
    crowd(owner, count, open_gates=count // 10, running=count // 50)
    figures = []
    for name, client in (("owner", _client("alice")), ("administrator", _client("root"))):
        for what, address in ADDRESSES.items():
            figures.append(Figure(f"{name}: {what}", _ms(client, address, times), "ms", max=MAX_MS))
        figures.append(Figure(f"{name}: most queries", _most_queries(client), "", broken_over=16))
    figures.append(Figure("approver: needs your decision", _ms(_client("bob"), "/", times), "ms", max=MAX_MS))
    figures.append(Figure("a poll without news", _ms(_client("alice"), "/", times, poll=True), "ms", max=5))
    return figures


def _client(name: str) -> Client:
    people = {"alice": alice(), "bob": bob(), "root": person("root", is_superuser=True)}
    client = Client(SERVER_NAME="localhost")
    client.force_login(people[name])
    return client


def _ms(client: Client, address: str, times: int, *, poll: bool = False) -> float:
    """The median of the processor's time, SQLite's included: the first request is for caches and compiled templates."""
    first = client.get(address)
    headers = {"If-None-Match": first.headers["ETag"]} if poll else {}
    taken = []
    for _ in range(times):
        began = time.process_time()
        answer = client.get(address, headers=headers)
        taken.append((time.process_time() - began) * 1_000)
        if answer.status_code != (304 if poll else 200):
            raise ShapeBroken(f"{address} was answered with {answer.status_code}.")
    return median(taken)


def _most_queries(client: Client) -> float:
    most = 0
    for address in ADDRESSES.values():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            client.get(address)
        most = max(most, len(captured))
    return float(most)
