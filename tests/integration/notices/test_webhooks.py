"""Webhooks: signed as the specification says, to public addresses alone, each notice with an id that stays."""

from __future__ import annotations

import json
import socket
from datetime import timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator, FormatChecker
from pytest_django import Settings
from standardwebhooks import Webhook, WebhookVerificationError

from runs.enums import NoticeChannel, NoticeKind, TokenScope
from runs.errors import InvalidInput
from runs.models import Delivery, Gate, Notice, User
from runs.notices.channels import webhook_channel
from runs.people import access_tokens
from runs.people.outbox import announce
from runs.web.api.documentation import document
from tests import factories
from tests.fakes.webhook_receiver import Receiver
from tests.integration.notices.receiver import asked, pass_time, send, states, want

pytestmark = [pytest.mark.django_db, pytest.mark.services]

WEBHOOK = NoticeChannel.WEBHOOK


def wanted(address: str) -> str:
    """Have Alice's notices posted to this address. Returns her secret."""
    secret = webhook_channel.new_secret()
    want(factories.alice(), WEBHOOK, webhook_address=address, webhook_secret=secret)
    return secret


def problem() -> str:
    return str(Delivery.objects.latest("id").problem)


def test_a_receiver_can_verify_it_with_the_library_of_the_specification(receiver: Receiver) -> None:
    secret = wanted(receiver.address)
    run = asked(title="Prüfung “A”")
    assert send(WEBHOOK) == 1
    headers, body = receiver.received[0]
    notice = Notice.objects.get()
    verified = Webhook(secret).verify(body, headers)
    verified["data"].pop("status")
    assert verified == {
        "type": "notice.decision_needed",
        "timestamp": notice.created_at.isoformat().replace("+00:00", "Z"),
        "data": {
            "title": "Needs your decision: Prüfung “A”",
            "link": f"https://pevsite.example.org/runs/{run.pk}/",
            "run": str(run.pk),
            "status_address": f"https://pevsite.example.org/api/v1/runs/{run.pk}/status",
            "decision_address": f"https://pevsite.example.org/api/v1/gates/{run.gates.get().pk}",
            "left_out": [],
        },
    }
    for other in (body.replace(b"decision_needed", b"run_ended"), body + b" "):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(other, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(webhook_channel.new_secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, {**headers, "webhook-id": "another"})


def as_program(person: User, address: str, *scopes: TokenScope) -> Any:
    """What the API answers to a program of this person at an address of a webhook."""
    token = access_tokens.issue(person, f"program {' '.join(scopes)}", 7, scopes)
    url = urlsplit(address)
    headers = {"Authorization": f"Bearer {token}", "Host": url.netloc}
    return Client().get(url.path, headers=headers, secure=True).json()


def sent(receiver: Receiver) -> Any:
    """The newest body, which is as the OpenAPI document describes it."""
    body = json.loads(receiver.received[-1][1])
    openapi = document()
    schema = {"$ref": "#/components/schemas/WebhookBody", "components": openapi["components"]}
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(body)
    assert body["type"] in openapi["webhooks"]
    return body


@pytest.mark.parametrize("of_other", [False, True])
def test_it_carries_what_the_api_answers_to_its_person(
    receiver: Receiver, settings: Settings, *, of_other: bool
) -> None:
    """Also to a person with whom a run is shared: they see whether they may approve."""
    settings.NOTICE_CONTENT, settings.ALLOWED_HOSTS = "details", ["pevsite.example.org"]
    person = factories.bob() if of_other else factories.alice()
    want(person, WEBHOOK, webhook_address=receiver.address, webhook_secret=webhook_channel.new_secret())
    run = asked(factories.bob(), second_person=True) if of_other else asked()
    assert send(WEBHOOK) == 1
    data = sent(receiver)["data"]
    decision = as_program(person, data["decision_address"], TokenScope.GATES_READ)
    assert data["decision"] == decision
    assert (decision["gate"], decision["yours"]) == (run.gates.get().pk, True)
    assert data["status"] == as_program(person, data["status_address"], TokenScope.RUNS_READ, TokenScope.GATES_READ)
    assert [one["gate"] for one in data["status"]["decisions"]] == [decision["gate"]]


def test_without_content_it_has_the_state_of_the_run_and_nothing_of_what_is_asked(
    receiver: Receiver, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["pevsite.example.org"]
    wanted(receiver.address)
    question = asked().gates.get().question
    send(WEBHOOK)
    data = sent(receiver)["data"]
    assert data["status"] == as_program(factories.alice(), data["status_address"], TokenScope.RUNS_READ)
    assert data["status"]["decisions"] is None
    assert "decision" not in data
    assert question not in receiver.received[0][1].decode()


def test_what_would_be_too_large_is_left_out_and_named(receiver: Receiver, settings: Settings) -> None:
    """First the decision, then also the state of the run. Their addresses stay."""
    settings.NOTICE_CONTENT = "details"
    wanted(receiver.address)
    run = asked()
    gate = run.gates.get()
    for choices, names in (("x" * 60_000, ["decision"]), ("x" * 70_000, ["decision", "status"])):
        Gate.objects.filter(pk=gate.pk).update(choices=[choices])
        announce(NoticeKind.DECISION_DUE, [factories.alice()], run, gate, occurrence=str(len(choices)))
        send(WEBHOOK)
        data = sent(receiver)["data"]
        assert (data["left_out"], {"decision", "status"} - set(data)) == (names, set(names))
        assert len(receiver.received[-1][1]) < webhook_channel.MAX_BODY_BYTES
        assert data["decision_address"].endswith(f"/api/v1/gates/{gate.pk}")


def test_without_the_api_it_has_no_addresses_of_the_api(receiver: Receiver, settings: Settings) -> None:
    settings.API = False
    wanted(receiver.address)
    asked()
    send(WEBHOOK)
    assert set(sent(receiver)["data"]) == {"title", "link", "run", "status", "left_out"}


def test_a_second_attempt_has_the_same_id_and_is_signed_again(receiver: Receiver) -> None:
    secret = wanted(receiver.address)
    asked(), asked()
    receiver.status = 503
    assert send(WEBHOOK) == 0
    assert len(receiver.received) == 1, "after one failure the other notices of this receiver wait too"
    assert states() == [("waiting", 1), ("waiting", 1)]
    assert problem() == "The receiver answered 503."
    receiver.status = 200
    pass_time()
    assert send(WEBHOOK) == 2
    ids = [headers["webhook-id"] for headers, _ in receiver.received]
    assert len(ids) == 3
    assert ids[0] in ids[1:]
    assert len(set(ids)) == 2
    for headers, body in receiver.received:
        assert json.loads(body) == Webhook(secret).verify(body, headers)


@pytest.mark.parametrize(
    ("status", "asked_for", "minutes"),
    [
        (503, None, 1),
        (503, "120", 2),
        (429, "3600", 60),
        (429, "5", 1),  # never earlier than usual
        (429, "-5", 1),
        (429, "864000", 360),  # no later than in six hours
        (503, "1e300", 360),
        (503, "9" * 400, 1),
        (503, "nan", 1),
        (503, "soon", 1),
        (503, "", 1),
        (503, timedelta(minutes=30), 30),
        (503, timedelta(days=-1), 1),
        (503, timedelta(days=365), 360),
        (503, "Wed, 99 Jan 2030 12:00:00 GMT", 1),
        (500, "3600", 1),  # it is only meant with the other two
    ],
)
def test_a_receiver_says_after_how_long_the_next_attempt_may_come(
    receiver: Receiver, status: int, asked_for: str | timedelta | None, minutes: int
) -> None:
    """In seconds, or as a date. The other notices of this receiver wait as long."""
    wanted(receiver.address)
    asked(), asked()
    if isinstance(asked_for, timedelta):
        asked_for = format_datetime(timezone.now() + asked_for, usegmt=True)
    receiver.status, receiver.headers = status, {} if asked_for is None else {"Retry-After": asked_for}
    before = timezone.now()
    send(WEBHOOK)
    waits = [round((one.due_at - before).total_seconds() / 60) for one in Delivery.objects.all()]
    assert (waits, states(), len(receiver.received)) == ([minutes] * 2, [("waiting", 1)] * 2, 1)


@pytest.mark.parametrize("status", [301, 302, 307])
def test_redirects_are_not_followed(receiver: Receiver, status: int) -> None:
    wanted(receiver.address)
    receiver.status, receiver.headers = status, {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
    asked()
    send(WEBHOOK)
    assert len(receiver.received) == 1
    assert problem() == f"The receiver answered {status}. Redirects are not followed: give their target."


def test_a_receiver_that_wants_no_more_gets_no_more(receiver: Receiver) -> None:
    wanted(receiver.address)
    receiver.status = 410
    asked()
    send(WEBHOOK)
    assert states() == [("failed", 1)]


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "169.254.169.254", "10.0.0.1", "[::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "192.168.0.1"],
)
def test_private_and_metadata_addresses_are_refused(settings: Settings, receiver: Receiver, host: str) -> None:
    settings.WEBHOOKS, settings.PRIVATE_HOSTS = "*", frozenset()
    wanted(f"https://{host}:8443/hook")
    asked()
    send(WEBHOOK)
    assert states() == [("failed", 1)]
    assert "is not public" in problem()
    assert receiver.received == []


def test_a_name_that_leads_inside_when_it_is_used_is_refused(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is allowed when it is saved, and its name leads elsewhere afterwards."""
    answers = iter([["93.184.216.34"], ["169.254.169.254"], ["93.184.216.34", "10.0.0.1"]])
    address = "https://hooks.example:8443/hook"

    def changing(host: Any, port: Any, *given: Any, **options: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in next(answers)]

    webhook_channel.check_address(address)
    next(answers)
    monkeypatch.setattr(socket, "getaddrinfo", changing)
    wanted(address)
    for _ in range(2):
        asked()
        send(WEBHOOK)
    assert [status for status, _ in states()] == ["failed", "failed"]
    assert "hooks.example leads to an address that is not public" in problem()


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example/hook",
        "https://other.example/hook",
        "https://name:secret@hooks.example/",
        "file:///etc/passwd",
        "hooks.example",
        "https://",
        "https://[",
        "gopher://hooks.example",
    ],
)
def test_addresses_that_are_refused_when_they_are_saved(receiver: Receiver, address: str) -> None:
    with pytest.raises(InvalidInput):
        webhook_channel.check_address(address)
