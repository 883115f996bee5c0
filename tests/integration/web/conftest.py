"""The fixtures of the web's tests: browsers in which somebody is signed in."""

import pytest
from django.test import Client

from runs.models import User


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
