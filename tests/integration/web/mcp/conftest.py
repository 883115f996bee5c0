"""The fixtures of the MCP server's tests: it is on, and Alice has a token."""

import pytest
from pytest_django import Settings

from runs.models import User
from tests.integration.web.mcp.asking import token_of


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.MCP_SERVER = True


@pytest.fixture
def token(alice: User) -> str:
    return token_of(alice)
