"""Which address a trusted proxy has reported, and whose files are taken."""

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from twisted.web.http_headers import Headers

from runs.web.server import http_requests
from runs.web.server.connections import Form, Phase
from runs.web.server.http_requests import Request, reported_address

MB = 1_000_000


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

    def refuse(self, status: HTTPStatus, sentence: str, form: Form, _headers: Mapping[str, str]) -> None:
        self.phase = Phase.REFUSED
        self.done.append((status.value, sentence.partition(".")[0], form))


@pytest.mark.parametrize(
    ("signed_in", "room", "done", "reserved"),
    [
        (True, 30, Phase.UPLOAD, 30),
        (True, 29, (507, "There is not enough free space on the server's disk for these files", Form.JSON), 20),
        (False, 30, (403, "Files can be sent only by someone who has signed in", Form.JSON), 20),
    ],
)
def test_files_are_read_when_it_is_known_who_sends_them_and_that_there_is_room_for_all(
    signed_in: bool, room: int, done: Any, reserved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What those who are refused have announced takes no room from others, not even while it is found out who sends."""
    before: list[int] = []

    def is_signed_in(key: str) -> bool:
        before.append(sum(uploads.values()))
        return key == "the-key" and signed_in

    monkeypatch.setattr(http_requests, "is_signed_in", is_signed_in)
    monkeypatch.setattr(http_requests, "has_room", lambda size: size <= room * MB)
    request, sender, uploads = request_of(Phase.BODY)

    async def announce() -> None:
        request.gotLength(10 * MB)
        assert request._admission is not None
        await request._admission
        assert request.content is not None
        request.content.close()

    asyncio.run(announce())
    assert sender.done == ["pause", done, "resume"]
    assert (before, sum(uploads.values())) == ([20 * MB], reserved * MB)


def request_of(phase: Phase) -> tuple[Request, Sender, dict[Any, int]]:
    """A request with a session whose connection is in this phase, while others send 20 MB."""
    request, sender, uploads = Request.__new__(Request), Sender(phase), dict[Any, int](others=20 * MB)
    headers = {"cookie": ["a=b", "sessionid=the-key"], "accept": ["application/json"]}
    request.__dict__.update(transport=sender, requestHeaders=Headers(headers), server=SimpleNamespace(uploads=uploads))
    request.method, request.uri = b"POST", b"/runs/new/"
    return request, sender, uploads


def test_a_body_that_is_whole_already_is_left_to_the_pages() -> None:
    request, sender, uploads = request_of(Phase.ANSWER)
    asyncio.run(request._admit(10))
    assert (sender.done, uploads) == ([], {"others": 20 * MB})


def test_a_connection_that_is_cut_while_it_is_found_out_who_sends_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request, sender, uploads = request_of(Phase.BODY)

    def cut(_key: str) -> bool:
        sender.phase = Phase.CUT
        return True

    monkeypatch.setattr(http_requests, "is_signed_in", cut)
    asyncio.run(request._admit(10))
    assert (sender.done, uploads) == (["pause", "resume"], {"others": 20 * MB})


@pytest.mark.parametrize("fails", ["is_signed_in", "has_room"])
def test_a_body_is_refused_when_it_cannot_be_found_out_who_sends_it(
    fails: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(http_requests, "is_signed_in", lambda _key: True)
    monkeypatch.setattr(http_requests, fails, fail)
    request, sender, uploads = request_of(Phase.BODY)
    asyncio.run(request._admit(10))
    assert sender.done == [
        "pause",
        (503, "The server could not find out whether it can take this", Form.JSON),
        "resume",
    ]
    assert uploads == {"others": 20 * MB}
    (line,) = caplog.records
    assert line.exc_info
    assert str(line.exc_info[1]) == "database is locked"


def test_what_grows_beyond_the_limit_takes_no_room_from_others_any_more() -> None:
    request, sender, uploads = request_of(Phase.UPLOAD)
    uploads[request] = 10
    request.__dict__.update(_received=5, _max=10)
    request.handleContentChunk(b"x" * 6)
    assert sender.done == [(413, "The request is larger than the 10 bytes that this address takes", Form.JSON)]
    assert uploads == {"others": 20 * MB}


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
