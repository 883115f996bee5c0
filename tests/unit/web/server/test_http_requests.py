"""Which address a trusted proxy has reported, and whose files are taken."""

import asyncio
import json
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.web.http_headers import Headers

from runs.web.server import http_requests
from runs.web.server.connections import Form, Phase
from runs.web.server.http_requests import Request, reported_address


@pytest.mark.parametrize(
    ("values", "address"),
    [
        ([], None),
        ([b"203.0.113.9"], "203.0.113.9"),
        ([b"1.2.3.4, 203.0.113.9"], "203.0.113.9"),
        ([b"1.2.3.4", b"203.0.113.9"], "203.0.113.9"),
        ([b"2001:DB8::1"], "2001:db8::1"),
        ([b"unknown"], None),
        ([b"203.0.113.9:443"], None),
        ([b"\xff"], None),
        ([b""], None),
        ([b"<script>"], None),
    ],
)
def test_the_last_address_is_the_one_the_proxy_has_seen(values: list[bytes], address: str | None) -> None:
    assert reported_address(values) == address


class Sender:
    """A connection on which a body is coming; what is done to it is noted."""

    def __init__(self, phase: Phase) -> None:
        self.phase = phase
        self.done: list[Any] = []

    def pauseProducing(self) -> None:
        self.done.append("pause")

    def resumeProducing(self) -> None:
        self.done.append("resume")

    def enter(self, phase: Phase) -> None:
        self.done.append(phase)

    def refuse(self, status: HTTPStatus, sentence: str, form: Form) -> None:
        self.done.append((status.value, sentence.partition(".")[0], form))


@pytest.mark.parametrize(
    ("signed_in", "room", "phase", "done"),
    [
        (True, 30, Phase.BODY, [Phase.UPLOAD]),
        (
            True,
            29,
            Phase.BODY,
            [(507, "There is not enough free space on the server's disk for these files", Form.JSON)],
        ),
        (False, 30, Phase.BODY, [(403, "Files can be sent only by someone who has signed in", Form.JSON)]),
        (False, 30, Phase.ANSWER, []),
    ],
)
def test_files_are_read_when_it_is_known_who_sends_them_and_that_there_is_room_for_all(
    signed_in: bool, room: int, phase: Phase, done: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_requests, "is_signed_in", lambda key: key == "the-key" and signed_in)
    monkeypatch.setattr(http_requests, "has_room", lambda size: size <= room)
    request = Request.__new__(Request)
    sender = Sender(phase)
    headers = {"cookie": ["a=b", "sessionid=the-key"], "accept": ["application/json"]}
    request.__dict__.update(
        transport=sender, requestHeaders=Headers(headers), server=SimpleNamespace(uploads={"others": 20, request: 10})
    )
    asyncio.run(request._admit())
    assert sender.done == ["pause", *done, "resume"]


@pytest.mark.parametrize(
    ("status", "detail"),
    [
        (400, "The request could not be understood. Nothing was changed."),
        (500, "Something is wrong on the server, and is in its log. Try again later."),
    ],
)
def test_what_daphne_refuses_of_programs_is_said_as_a_problem(
    status: int, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, sent = Request.__new__(Request), list[Any]()
    monkeypatch.setattr(request, "handle_reply", sent.append)
    request.__dict__.update(uri=b"/api/v1/runs", requestHeaders=Headers({}))
    request.basic_error(status, b"A title", "words of Daphne")
    start, body = sent
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (status, b"application/problem+json")
    assert (json.loads(body["body"])["detail"], json.loads(body["body"])["status"]) == (detail, status)
    request.__dict__.update(uri=b"/runs/1/")
    request.basic_error(status, b"A title", "words of Daphne")
    assert b"words of Daphne" in sent[-1]["body"]


@pytest.mark.parametrize(
    ("uri", "accept", "form"),
    [
        (b"/runs/new/", "text/html", Form.PAGE),
        (b"/runs/new/", "application/json", Form.JSON),
        (b"/api/v1/runs", "text/html", Form.PROBLEM),
        (b"/api/docs/", "text/html", Form.PAGE),
    ],
)
def test_a_refusal_has_the_form_that_its_reader_can_use(uri: bytes, accept: str, form: Form) -> None:
    request = Request.__new__(Request)
    request.__dict__.update(uri=uri, requestHeaders=Headers({"accept": [accept]}))
    assert request._form is form
