"""An installation with a mail server, webhooks and chats on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from tests.fakes.webhook_receiver import Receiver


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    """A server for webhooks and chats, which an administrator has allowed."""
    server = Receiver()
    settings.PUBLIC_URL = "https://pevsite.example.org"
    settings.WEBHOOKS = "hooks.example"
    settings.PRIVATE_HOSTS = frozenset({"127.0.0.1"})
    settings.CHAT_SERVICES = frozenset({"ntfy"})
    yield server
    server.close()


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if "tests/integration/notices" in str(item.path):
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1"]))
