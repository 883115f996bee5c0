"""Chats through Apprise: its addresses come from people, and name files, programs and hosts inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_django import Settings

from runs.enums import NoticeChannel
from runs.errors import InvalidInput
from runs.models import Delivery
from runs.notices.channels import chat_channel
from tests import factories
from tests.fakes.webhook_receiver import Receiver
from tests.integration.notices.receiver import asked, send, states, want

pytestmark = pytest.mark.django_db

CHAT = NoticeChannel.CHAT


def problem() -> str:
    return str(Delivery.objects.latest("id").problem)


def test_it_reaches_a_service_that_an_administrator_has_allowed(receiver: Receiver) -> None:
    receiver.status = 200
    want(factories.alice(), CHAT, chat_address=f"ntfy://127.0.0.1:{receiver.port}/alice")
    run = asked()
    assert send(CHAT) == 1
    said = json.loads(receiver.received[0][1])
    assert said["title"] == f"Needs your decision: {run.title}"
    assert said["message"] == f"Needs your decision: {run.title}\nhttps://pevsite.example.org/runs/{run.pk}/"


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd",
        "syslog://",
        "dbus://",
        "windows://",
        "macosx://",
        "mailto://user:password@example.org",
        "json://127.0.0.1/",
        "slack://TokenA/TokenB/TokenC",
        "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "ntfy",
        "",
        "NTFY:",
    ],
)
def test_other_services_are_refused_when_they_are_saved(receiver: Receiver, address: str) -> None:
    with pytest.raises(InvalidInput):
        chat_channel.check_address(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "localhost", "[::1]", "0"])
def test_private_addresses_are_refused(receiver: Receiver, settings: Settings, host: str) -> None:
    settings.PRIVATE_HOSTS = frozenset()
    want(factories.alice(), CHAT, chat_address=f"ntfy://{host}:{receiver.port}/alice")
    asked()
    send(CHAT)
    assert receiver.received == []
    assert [status for status, _ in states()] != ["sent"]


def test_a_redirect_to_a_private_address_is_refused(receiver: Receiver, settings: Settings) -> None:
    inner = Receiver()
    receiver.status, receiver.headers = 307, {"Location": f"http://127.0.0.2:{inner.port}/alice"}
    want(factories.alice(), CHAT, chat_address=f"ntfy://127.0.0.1:{receiver.port}/alice?redirect=yes")
    asked()
    send(CHAT)
    inner.close()
    assert len(receiver.received) == 1
    assert [status for status, _ in states()] == ["failed"]
    assert problem() == "The address leads to a host that is not public; nothing is sent there."


def test_parameters_read_no_file_of_this_machine(receiver: Receiver, settings: Settings, tmp_path: Path) -> None:
    settings.CHAT_SERVICES = frozenset({"workflows"})
    secret = tmp_path / "secret.json"
    secret.write_text('{"key": "a secret of this machine"}')
    address = f"workflows://127.0.0.1:{receiver.port}/workflow123/signature1234?template={secret}"
    want(factories.alice(), CHAT, chat_address=address)
    asked()
    send(CHAT)
    assert [status for status, _ in states()] == ["waiting"]
    assert problem().endswith("could not be read.")


def test_the_key_in_an_address_is_not_repeated_in_what_the_service_said(receiver: Receiver) -> None:
    receiver.status = 500
    want(factories.alice(), CHAT, chat_address=f"ntfy://127.0.0.1:{receiver.port}/topic-that-is-a-secret")
    asked()
    send(CHAT)
    assert states() == [("waiting", 1)]
    assert problem().startswith("The service said: ")
    assert "topic-that" not in problem()
