"""Over real HTTP, whatever a service or a line does wrong becomes a ModelError that shows no key (S5)."""

from __future__ import annotations

import json
import socket
import threading
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from runs.llm import client
from runs.llm.client import Clients
from tests.fakes.anthropic_answers import (
    Answer,
    CutStream,
    EndEarly,
    ErrorInStream,
    Fail,
    Garbage,
    Say,
    Slow,
    Stall,
)
from tests.fakes.anthropic_api import FakeAnthropic
from tests.integration.llm.client.serving import (
    DELTA,
    END,
    KEY,
    LONG,
    MESSAGE,
    START,
    STOP,
    TEXT,
    TOOL_USE,
    arguments,
    error_of,
    events,
    question,
    text,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


# ---- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "retriable", "sentence"),
    [
        (
            Fail(401, "authentication_error", "invalid x-api-key"),
            "authentication_error",
            False,
            "The model's service (HOST) refused the API key (401). Check ANTHROPIC_API_KEY.",
        ),
        (
            Fail(403, "permission_error", "no"),
            "permission_error",
            False,
            "The API key may not use this model at HOST (403). Check ANTHROPIC_API_KEY.",
        ),
        (
            Fail(404, "not_found_error", "model: x"),
            "not_found_error",
            False,
            "The model's service (HOST) does not know this model (404).",
        ),
        (
            Fail(400, "invalid_request_error", "Your credit balance is too low to use this."),
            "billing_error",
            False,
            "The model's service answered 400: Your credit balance is too low to use this.",
        ),
        (
            Fail(429, "rate_limit_error", "slow down"),
            "rate_limit_error",
            True,
            "The model's service asks to wait: too many requests (429).",
        ),
        (Fail(529, "overloaded_error", "busy"), "overloaded_error", True, "The model's service is overloaded (529)."),
    ],
)
def test_the_errors_of_the_api_are_told_in_words(
    api: FakeAnthropic, answer: Fail, kind: str, retriable: bool, sentence: str, clients: Clients
) -> None:
    api.replies(answer)
    found = error_of(clients)
    said = str(found).replace(urlsplit(api.url).netloc, "HOST")
    assert (found.kind, found.retriable, said) == (kind, retriable, sentence)
    assert (found.tokens, found.retry_after) == ({}, None)


@pytest.mark.parametrize(
    ("status", "type_", "retriable"),
    [
        (400, "invalid_request_error", False),
        (402, "billing_error", False),
        (413, "request_too_large", False),
        (500, "api_error", True),
        (504, "timeout_error", True),
        (500, "server_error", True),
        (503, "unavailable_error", True),
        (502, "", True),
        (408, "", True),
        (409, "", True),
        (429, "", True),
        (429, "tokens", True),
        (422, "unprocessable", False),
        (400, "exceed_context_size_error", False),
    ],
)
def test_what_may_pass_is_retriable_also_under_the_names_of_other_servers(
    api: FakeAnthropic, status: int, type_: str, retriable: bool, clients: Clients
) -> None:
    api.replies(Fail(status, type_, "Loading model"))
    assert error_of(clients).retriable is retriable


@pytest.mark.parametrize(
    "body", [{"error": "a string"}, {"error": {"type": 500}}, {"error": {"type": ["x"]}}, [1], "x", None]
)
def test_an_error_of_any_shape_is_trouble(api: FakeAnthropic, body: Any, clients: Clients) -> None:
    api.replies(Garbage(f"event: error\ndata: {json.dumps(body)}\n\n".encode()))
    assert error_of(clients).retriable is True


@pytest.mark.parametrize(
    ("seconds", "told"), [(7.0, 7.0), (0.5, 0.5), (0.0, 0.0), (-3.0, 0.0), (1e9, 1e9), (float("nan"), None)]
)
def test_the_seconds_a_service_asks_to_wait_are_passed_on(
    api: FakeAnthropic, seconds: float, told: float | None, clients: Clients
) -> None:
    api.replies(Fail(429, "rate_limit_error", "slow down", retry_after=seconds))
    assert error_of(clients).retry_after == told


def test_one_question_is_one_try(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(Fail(529, "overloaded_error", "busy"))
    assert error_of(clients).kind == "overloaded_error"
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (CutStream("Some text"), "connection_error"),
        (EndEarly("Some text"), "incomplete_stream"),
        (ErrorInStream("overloaded_error"), "overloaded_error"),
        (ErrorInStream("server_error"), "server_error"),
    ],
)
def test_a_stream_that_breaks_is_retriable_error_with_what_was_used_up_to_then(
    api: FakeAnthropic, answer: Answer, kind: str, clients: Clients
) -> None:
    api.replies(answer)
    before = api.usage_totals().input_tokens
    found = error_of(clients)
    assert (found.kind, found.retriable) == (kind, True)
    assert (found.tokens["input"], found.tokens["output"]) == (api.usage_totals().input_tokens - before, 1)
    assert found.tokens["input"] > 0


def test_an_error_in_a_stream_that_names_the_request_as_its_cause_is_final(
    api: FakeAnthropic, clients: Clients
) -> None:
    api.replies(ErrorInStream("invalid_request_error"))
    found = error_of(clients)
    assert (found.kind, found.retriable) == ("invalid_request_error", False)


@pytest.mark.parametrize(
    "answer",
    [
        Garbage(),
        Garbage(b"<html>It works!</html>"),
        Garbage(b"\n\n"),
        Garbage(b"event: message_start\ndata: {\n\n"),
        Garbage(b"data: \xff\xfe\n\n"),
        events([1, 2]),
        events(None),
        events("x"),
        events({"type": "message_start"}),
        events(
            {"type": "message_start", "message": {key: value for key, value in MESSAGE.items() if key != "usage"}}, END
        ),
        events(TEXT, text("no start")),
        events(START, text("x", index=5), DELTA, END),
        events(START, TEXT, text(5), STOP, DELTA, END),
        events(START, {"type": "message_delta"}, END),
        events(START, TEXT, text("x"), STOP, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, END),
        events(START, TEXT, text("half a pair: \ud800"), STOP, DELTA, END),
        events(START, TOOL_USE, arguments('{"path": }'), STOP, DELTA, END),
    ],
    ids=range(17),
)
def test_what_is_not_the_api_is_retriable_error(api: FakeAnthropic, answer: Answer, clients: Clients) -> None:
    api.replies(answer)
    found = error_of(clients)
    assert (found.kind, found.retriable) == ("incomplete_stream", True)


def test_nobody_listening_is_retriable_error(monkeypatch: pytest.MonkeyPatch, own: Clients) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    found = error_of(own)
    assert (found.kind, found.retriable) == ("connection_error", True)
    assert str(found).startswith("The model's service cannot be reached: ")


@pytest.mark.parametrize("answer", [Slow(2.0, Say("x")), Stall(2.0, Say(LONG))], ids=["first byte", "in the middle"])
def test_a_service_that_goes_quiet_is_retriable_error(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, answer: Answer, own: Clients
) -> None:
    monkeypatch.setattr(client, "READ_TIMEOUT", 0.2)
    api.replies(answer)
    found = error_of(own)
    assert (found.kind, found.retriable) == ("connection_error", True)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_service_that_streams_for_ever_is_given_up(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, clients: Clients
) -> None:
    monkeypatch.setattr(client, "DEADLINE", 1.5)  # the beginning, with its tokens, has come by then
    api.replies(Stall(4.0, Say(LONG)))
    found = error_of(clients)
    assert (found.kind, found.retriable, found.tokens["input"] > 0) == ("timeout_error", True, True)


def test_a_service_cannot_send_documents_on_to_another_place(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, own: Clients
) -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(307)
            self.send_header("Location", f"{api.url}/v1/messages")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.handle_request).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
        found = error_of(own)
    assert str(found).startswith("The model's service answered 307")
    assert (found.retriable, api.requests) == (False, [])


def test_without_a_key_and_without_another_server_it_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, own: Clients
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    found = error_of(own)
    assert (found.kind, found.retriable) == ("no_key", False)
    assert "ANTHROPIC_API_KEY" in str(found)


def test_after_an_error_the_same_client_answers_again(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(CutStream("x"), Garbage(), Fail(500, "api_error", "x"), Say("Hi."))
    for _ in range(3):
        error_of(clients)
    assert clients.ask(question()).text == "Hi."


# ---- keys (S5) ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        Fail(401, "authentication_error", f"invalid key {KEY}"),
        Fail(400, "invalid_request_error", f"Received API Key = {KEY}"),
        Fail(500, "api_error", f"header x-api-key: {KEY}"),
        ErrorInStream(),
        CutStream("x"),
        Garbage(KEY.encode()),
    ],
)
def test_the_key_is_in_no_text_of_an_exception_even_if_the_service_repeats_it(
    api: FakeAnthropic, answer: Answer, clients: Clients
) -> None:
    api.replies(answer)
    found = error_of(clients)
    assert KEY not in f"{found} {found!r} {found.args}"


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} ", f"{KEY[:5]}\n{KEY[5:]}", " "])
def test_a_key_that_cannot_be_sent_is_told_at_once_and_not_shown(
    api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, own: Clients, name: str, key: str
) -> None:
    monkeypatch.setenv(name, key)
    found = error_of(own)
    assert (found.kind, found.retriable) == ("no_key", False)
    assert str(found) == f"{name} has a space or a line break in it. Set it again and start again."
    assert KEY not in "".join(traceback.format_exception(found))


def test_no_trouble_of_the_line_shows_the_key_in_its_whole_history(api: FakeAnthropic, clients: Clients) -> None:
    api.replies(CutStream("x"))
    assert KEY not in "".join(traceback.format_exception(error_of(clients)))


@pytest.mark.parametrize(
    "answer",
    [
        Fail(400, "invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"),
        Fail(400, "exceed_context_size_error", "the request exceeds the available context size"),
        Fail(413, "request_too_large", "This model's maximum context length is 4096 tokens."),
    ],
)
def test_a_question_that_is_refused_for_its_length_is_the_end_of_a_conversation(
    api: FakeAnthropic, answer: Fail, clients: Clients
) -> None:
    api.replies(answer)
    reply = clients.ask(question())
    assert (reply.content, reply.stop_reason) == ((), "model_context_window_exceeded")
