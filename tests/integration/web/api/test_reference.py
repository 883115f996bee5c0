"""The page that describes the API to people."""

from __future__ import annotations

import re

import pytest
from django.test import Client, override_settings

from runs.web.api.documentation import document
from tests import factories as made

pytestmark = pytest.mark.django_db


def test_every_operation_is_described_and_every_link_leads_somewhere() -> None:
    browser = Client()
    browser.force_login(made.alice())
    page = browser.get("/api/docs/").text
    keys = set(re.findall(r'id="([^"]+)"', page))
    operations = [(path, one) for path, methods in document()["paths"].items() for one in methods.values()]
    assert {one["operationId"] for _, one in operations} <= keys
    assert [path for path, _ in operations if path not in page] == []
    assert set(re.findall(r'href="#([^"]+)"', page)) <= keys
    assert "is off" not in page
    command = re.search(r'aria-label="Example: Decide">([^<]+)<', page)
    assert command
    assert command[1].replace("&quot;", '"').replace("&#x27;", "'").split(" \\\n  ") == [
        "curl --request POST",
        '--header "Authorization: Bearer $TOKEN"',
        '--header "Content-Type: application/json"',
        """--data '{"verb": "approve", "fingerprint": "…"}'""",
        "http://testserver/api/v1/gates/41/decision",
    ]


@override_settings(API=False)
def test_the_page_says_where_the_api_is_off() -> None:
    browser = Client()
    browser.force_login(made.alice())
    assert "The REST API of this installation is off." in browser.get("/api/docs/").text
