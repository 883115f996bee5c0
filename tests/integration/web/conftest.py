"""The fixtures of the web's tests: browsers in which somebody is signed in."""

import pytest
from django.http import HttpResponse
from django.test import Client

from runs.models import User
from tests.integration.web.source import without_layout


@pytest.fixture
def alice_client(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def charlie_client(charlie: User) -> Client:
    """A second browser."""
    client = Client()
    client.force_login(charlie)
    return client


@pytest.fixture(autouse=True)
def _text_without_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """`text` of a page is its source without the white space that no browser shows; `content` is the page as it is."""

    def text(response: HttpResponse) -> str:
        source = response.content.decode(response.charset)
        return without_layout(source) if response.get("Content-Type", "").startswith("text/html") else source

    monkeypatch.setattr(HttpResponse, "text", property(text))
