"""One fake service for each module of tests, and one client of it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from runs.enums import Role
from runs.llm.client import Clients
from runs.llm.model_servers import server_for
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.llm.client.serving import KEY


@pytest.fixture(scope="module")
def server() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture(scope="module")
def clients(server: FakeAnthropic) -> Iterator[Clients]:
    """The clients of all tests of a module: making one reads the certificates, which takes longer than most tests."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANTHROPIC_BASE_URL", server.url)
        environment.setenv("ANTHROPIC_API_KEY", KEY)
        made = Clients()
        made._client(server_for(Role.EXECUTOR, os.environ))
        yield made
    made.close()
