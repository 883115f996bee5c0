"""The fake service as a test of the client meets it, and clients of a test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.llm.client import Clients
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_servers import ANTHROPIC
from tests.integration.llm.client.serving import KEY


@pytest.fixture
def api(server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.requests.clear()
    server.dialect = ANTHROPIC
    yield server
    assert server.violations == []


@pytest.fixture
def own() -> Iterator[Clients]:
    """Clients that read the environment of this test."""
    made = Clients()
    yield made
    made.close()
