"""One fake service for the tests of the client, and one client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.llm.client import Clients
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.llm.client.serving import KEY


@pytest.fixture(scope="module")
def server() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture(scope="module")
def shared(server: FakeAnthropic) -> Iterator[Clients]:
    """The clients of all tests: making one reads the certificates, which takes longer than most tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_BASE_URL", server.url)
        environment.setenv("ANTHROPIC_API_KEY", KEY)
        made = Clients()
        made._client()
        yield made
    made.close()


@pytest.fixture
def api(server: FakeAnthropic, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.requests.clear()
    yield server
    assert server.violations == []


@pytest.fixture
def clients(shared: Clients) -> Clients:
    return shared


@pytest.fixture
def own() -> Iterator[Clients]:
    """Clients that read the environment of this test."""
    made = Clients()
    yield made
    made.close()
