"""A fake Messages API for each test, and the package's client of it."""

from __future__ import annotations

from collections.abc import Iterator

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from tests.fakes.anthropic_api import FakeAnthropic


@pytest.fixture
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
        assert server.violations == []


@pytest.fixture(scope="module")
def transport() -> Iterator[httpx2.Client]:
    """One for all tests: making it reads the certificates, which takes longer than most tests."""
    with anthropic.DefaultHttpxClient() as transport:
        yield transport


@pytest.fixture
def client(api: FakeAnthropic, transport: httpx2.Client) -> Anthropic:
    return Anthropic(base_url=api.url, api_key="test", max_retries=0, http_client=transport)
