"""The page that describes the API to people."""

from __future__ import annotations

import json
import re
from html import unescape

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
    assert [name for name in document()["webhooks"] if f"<dt><code>{name}</code></dt>" not in page] == []
    assert "is off" not in page
    gate, decision = document()["paths"]["/api/v1/gates/{gate_id}/decision"]["post"], "Decide"
    assert example(page, f"Example: {decision}").split(" \\\n  ") == [
        "curl --request POST",
        '--header "Authorization: Bearer $TOKEN"',
        '--header "Content-Type: application/json"',
        f"--data '{json.dumps(gate['requestBody']['content']['application/json']['example'])}'",
        f"http://testserver/api/v1/gates/{gate['parameters'][0]['example']}/decision",
    ]
    answer = gate["responses"]["200"]["content"]["application/json"]["example"]
    assert json.loads(example(page, f"{decision}: application/json")) == answer
    assert example(page, "Example: Give missing files").split(" \\\n  ")[3:-1] == [
        "--form paths=annex-b.md",
        "--form name_as=contracts/annex-b.md",
        "--form files=@annex-b.md",
    ]


def example(page: str, label: str) -> str:
    found = re.search(rf'aria-label="{label}">([^<]+)<', page)
    assert found, label
    return unescape(found[1])


@override_settings(API=False)
def test_the_page_says_where_the_api_is_off() -> None:
    browser = Client()
    browser.force_login(made.alice())
    assert "The REST API of this installation is off." in browser.get("/api/docs/").text
