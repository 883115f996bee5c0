"""The one fake server that all adversaries speak through: a new one for each of them takes most of the time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runs.engine import recording
from tests.fakes.anthropic_api import FakeAnthropic


@pytest.fixture(scope="module")
def server() -> Iterator[FakeAnthropic]:
    """Set up with its client once; `api` gives it to a test as if it were new."""
    with FakeAnthropic() as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", running.url)
        patch.setenv("ANTHROPIC_API_KEY", "test-key-of-nobody")
        recording.clients.cache_clear()
        yield running
        recording.clients.cache_clear()


@pytest.fixture
def api(server: FakeAnthropic) -> Iterator[FakeAnthropic]:
    server.requests.clear()
    yield server
    assert server.violations == []
