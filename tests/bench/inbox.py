"""Measures the inbox over HTTP with ten thousand open decisions, on SQLite; `scale crowds` does so on PostgreSQL."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.test import Client

from runs.models import Gate
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import database_bytes, fresh_database
from tests.browser.site import Site
from tests.factories import alice
from tests.factories.crowd import crowd
from tests.integration.web.site.visitor import Visitor

MAX_MS = 100.0


def measure(*, short: bool) -> list[Figure]:
    count, times = (200, 5) if short else (10_000, 60)
    fresh_database()
    crowd(alice(), count, open_gates=count, running=0)
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(alice())
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    database_bytes()  # nothing is left in the write-ahead log
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(connection.settings_dict["NAME"], Path(folder) / "pevsite.sqlite3")
        site = Site(Path(folder), PEV_SECRET_KEY=settings.SECRET_KEY)
        site.start()
        try:
            time.sleep(1 if short else 10)  # its engine starts beside the first pages
            return inbox_figures(site.port, cookies, times)
        finally:
            site.kill()


def inbox_figures(port: int, cookies: dict[str, str], times: int) -> list[Figure]:
    """How long the inbox takes over HTTP for the person with these cookies."""
    gates = Gate.objects.open().count()
    visitor = Visitor(port)
    visitor.carry(cookies)
    _page_ms(visitor)  # the first page is for caches and compiled templates
    pages = sorted(_page_ms(visitor) for _ in range(times))
    return [
        Figure(f"{gates} open gates: inbox, half of the times", pages[len(pages) // 2], "ms"),
        Figure(f"{gates} open gates: inbox, 95 of 100", pages[len(pages) * 95 // 100], "ms", max=MAX_MS),
    ]


def _page_ms(visitor: Visitor) -> float:
    began = time.monotonic()
    status, page = visitor.get("/")
    if status != 200 or "inbox" not in page.lower():
        raise ShapeBroken(f"The inbox was answered with {status}.")
    return (time.monotonic() - began) * 1_000
