"""What a page weighs when it is opened for the first time: itself, its styles, scripts and images, as they are sent."""

from __future__ import annotations

import gzip
import re
from urllib.parse import urljoin

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpResponse
from django.test import Client, RequestFactory

from runs.web.site.static_files import StaticFiles
from tests import factories

pytestmark = pytest.mark.django_db
MAX_WEIGHT = 150_000
ZIPPED = {"Accept-Encoding": "gzip"}


def weight(client: Client, address: str) -> int:
    page = client.get(address, headers=ZIPPED)
    assert (page.status_code, page["Content-Encoding"]) == (200, "gzip")
    text = client.get(address).text
    linked = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', text))
    assert len(linked) > 5
    assert all(re.search(r"\.[0-9a-f]{16}\.\w+$", one) for one in linked)
    return len(page.content) + sum(len(sent(one).content) for one in with_imports(linked))


def with_imports(addresses: set[str]) -> set[str]:
    """The addresses, and those of the modules that they import."""
    imported = {
        urljoin(address, name)
        for address in addresses
        if "/js/" in address
        for name in re.findall(r'"(\.[^"]+\.js)";\n', gzip_text(sent(address)))
    }
    return addresses | with_imports(imported) if imported else addresses


def gzip_text(answer: HttpResponse) -> str:
    zipped = answer.headers.get("Content-Encoding") == "gzip"
    return (gzip.decompress(answer.content) if zipped else answer.content).decode()


def sent(address: str) -> HttpResponse:
    return StaticFiles(ASGIHandler()).serve(RequestFactory(headers=ZIPPED).get(address))


@pytest.mark.parametrize("address", ["/", "/runs/new/", "/metrics/"])
def test_first_pages_are_light(address: str, alice_client: Client) -> None:
    factories.step_gate()
    assert weight(alice_client, address) < MAX_WEIGHT


@pytest.mark.slow
def test_every_tab_of_a_run_of_forty_steps_is_light(alice_client: Client) -> None:
    run = factories.many_steps(40)
    tabs = ("", "plan/", "steps/", "files/", "history/", "cost/", "report/")
    weights = {tab: weight(alice_client, f"/runs/{run.pk}/{tab}") for tab in tabs}
    assert {tab: bytes_sent for tab, bytes_sent in weights.items() if bytes_sent >= MAX_WEIGHT} == {}


def test_downloads_are_sent_as_they_are(alice_client: Client) -> None:
    run = factories.step_gate()
    answer = alice_client.get(f"/runs/{run.pk}/report.md", headers=ZIPPED)
    assert "Content-Encoding" not in answer.headers


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_compressed_page_does_not_have_the_same_length_twice(alice_client: Client) -> None:
    run = factories.step_gate()
    lengths = {len(alice_client.get(f"/runs/{run.pk}/", headers=ZIPPED).content) for _ in range(12)}
    assert len(lengths) > 3, "random bytes are added, against guesses by length"
