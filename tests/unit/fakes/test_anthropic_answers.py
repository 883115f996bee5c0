"""The fake Messages API answers and fails as the real one does."""

from __future__ import annotations

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import anthropic
import httpx2
import pytest
from anthropic import Anthropic

from tests.fakes.anthropic_answers import (
    Answer,
    ContextExceeded,
    CutStream,
    EndEarly,
    ErrorInStream,
    Fail,
    Garbage,
    JsonObject,
    Overrun,
    Pause,
    Refuse,
    Request,
    Say,
    Slow,
    Stall,
    Think,
    ToolUse,
    UseTools,
)
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_usage import UsageTotals
from tests.unit.fakes.talking import HAIKU, HELLO, MARK, OPUS, SONNET, TOOL, blocks, body, stream

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


USES = UseTools(ToolUse("read", {"path": "a.txt"}), ToolUse("read", {"path": "ä"}), text="Reading.")
MESSAGES = [
    (Say("Hello there, you."), "end_turn", ["text"]),
    (USES, "tool_use", ["text", "tool_use", "tool_use"]),
    (Think(Say("So.")), "end_turn", ["thinking", "text"]),
    (Think(Think(USES)), "tool_use", ["thinking", "thinking", "text", "tool_use", "tool_use"]),
    (Refuse(), "refusal", []),
    (Refuse("I"), "refusal", ["text"]),
    (Overrun('{"a": '), "max_tokens", ["text"]),
    (ContextExceeded(), "model_context_window_exceeded", []),
    (Pause(), "pause_turn", ["text"]),
    (Slow(0.01, Stall(0.01, Say("late"))), "end_turn", ["text"]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "stop_reason", "types"), MESSAGES)
def test_message(api: FakeAnthropic, client: Anthropic, answer: Answer, stop_reason: str, types: list[str]) -> None:
    api.replies(answer, answer)
    shown = {"thinking": {"type": "adaptive", "display": "summarized"}}
    streamed, whole = stream(client, **shown), client.messages.create(**body(**shown))
    assert [streamed.stop_reason, whole.stop_reason] == [stop_reason, stop_reason]
    assert [block.type for block in streamed.content] == types
    assert [block.type for block in whole.content] == types
    assert streamed.usage.output_tokens == whole.usage.output_tokens >= 1
    for ours, theirs in zip(blocks(streamed), blocks(whole), strict=True):
        assert ours.keys() == theirs.keys()
        assert {ours[key] == theirs[key] for key in ours.keys() - {"id", "signature"}} == {True}


@pytest.mark.slow
def test_refusal_has_details(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Refuse())
    details = stream(client).stop_details
    assert details
    assert details.type == "refusal"


def test_events_come_in_order_and_pieces(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Think(UseTools(ToolUse("read", {"path": "a.txt"}), text="I read it."), text="Which file?"))
    with client.messages.create(**body(stream=True, thinking={"type": "adaptive", "display": "summarized"})) as events:
        seen = [getattr(e, "delta", e).type if e.type == "content_block_delta" else e.type for e in events]
    part = ["content_block_start", "*", "content_block_stop"]
    assert seen == [
        "message_start",
        *part[:1],
        *["thinking_delta"] * 4,
        "signature_delta",
        *part[2:],
        *part[:1],
        *["text_delta"] * 4,
        *part[2:],
        *part[:1],
        *["input_json_delta"] * 5,
        *part[2:],
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize(
    ("model", "thinking", "visible"),
    [
        (OPUS, {"type": "adaptive"}, ""),
        (OPUS, {"type": "adaptive", "display": "summarized"}, "Hm."),
        (SONNET, {"type": "between_tools"}, "Hm."),
        ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 1024}, "Hm."),
        (HAIKU, {"type": "disabled"}, None),
    ],
)
def test_thinking_text_is_shown_on_request(
    api: FakeAnthropic, client: Anthropic, model: str, thinking: JsonObject, visible: str | None
) -> None:
    api.replies(Think(Say("So."), text="Hm."))
    message = stream(client, model=model, thinking=thinking)
    texts = [block.thinking for block in message.content if block.type == "thinking"]
    assert texts == ([] if visible is None else [visible])


@pytest.mark.parametrize(
    ("status", "type_", "error"),
    [
        (401, "authentication_error", anthropic.AuthenticationError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.APIStatusError),
    ],
)
def test_fail(
    api: FakeAnthropic, client: Anthropic, status: int, type_: str, error: type[anthropic.APIStatusError]
) -> None:
    api.replies(Fail(status, type_, "No.", retry_after=2.5))
    with pytest.raises(error) as caught:
        stream(client)
    assert (caught.value.status_code, caught.value.type) == (status, type_)
    assert caught.value.response.headers["retry-after"] == "2.5"
    assert api.usage_totals() == UsageTotals()


def test_broken_streams(api: FakeAnthropic, client: Anthropic) -> None:
    html = Garbage(b"<html></html>")
    api.replies(CutStream("Half a sent"), EndEarly("Half"), ErrorInStream("api_error"), Garbage(), html)
    with client.messages.stream(**body()) as events, pytest.raises(httpx2.RemoteProtocolError):
        events.until_done()
    assert blocks(events.current_message_snapshot) == [{"type": "text", "text": "Half a sent"}]
    early = stream(client)
    assert (early.stop_reason, early.usage.output_tokens) == (None, 1)
    with pytest.raises(anthropic.APIStatusError) as caught:
        stream(client)
    assert (caught.value.status_code, caught.value.type) == (200, "api_error")
    with pytest.raises(UnicodeDecodeError):
        stream(client)
    with client.messages.stream(**body()) as events:
        assert list(events) == []
    assert api.usage_totals().responses == 3


def test_broken_bodies(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(CutStream("Half a sent"), EndEarly("Half"), ErrorInStream(), Garbage(b"<html></html>"))
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.create(**body())
    with pytest.raises(json.JSONDecodeError):
        client.messages.create(**body())
    with pytest.raises(anthropic.APIStatusError) as caught:
        client.messages.create(**body())
    assert (caught.value.status_code, caught.value.type) == (529, "overloaded_error")
    with pytest.raises(json.JSONDecodeError):
        client.messages.create(**body())
    assert api.usage_totals() == UsageTotals()


def test_slow_waits_before_the_first_byte(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Slow(0.01, Say("late")), Slow(3_600, Say("never")))
    assert blocks(stream(client)) == [{"type": "text", "text": "late"}]
    with pytest.raises(anthropic.APITimeoutError):
        stream(client, timeout=0.1)


def test_stall_waits_within_the_answer(api: FakeAnthropic, client: Anthropic, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, waits = threading.Event(), list[bool]()

    def wait(seconds: float) -> bool:
        waits.append(seconds > 0)
        return seconds > 0 and begun.wait(20)

    assert api._wire is not None
    monkeypatch.setattr(api._wire.stopping, "wait", wait)
    api.replies(Stall(60, Say("halting")))
    with client.messages.stream(**body()) as events:
        next(iter(events))
        begun.set()
        assert blocks(events.get_final_message()) == [{"type": "text", "text": "halting"}]
    assert waits == [False, True], "in the middle, and not before the first byte"


def test_closing_does_not_wait_for_a_slow_answer(transport: httpx2.Client) -> None:
    """It would take an hour."""
    with FakeAnthropic() as api:
        client = Anthropic(base_url=api.url, api_key="test", max_retries=0, http_client=transport)
        api.replies(Slow(3_600, Say("never")))
        with pytest.raises(anthropic.APITimeoutError):
            stream(client, timeout=0.1)


def test_a_client_that_dies_in_mid_request_asked_nothing(api: FakeAnthropic) -> None:
    address = urlsplit(api.url)
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(b'POST /v1/messages HTTP/1.1\r\nContent-Length: 500\r\n\r\n{"model"')
        line.shutdown(socket.SHUT_WR)
        assert line.recv(1) == b""
    assert (api.requests, api.violations) == ([], [])


def test_a_handler_sees_the_request(api: FakeAnthropic, client: Anthropic) -> None:
    @api.script
    def handler(request: Request) -> Answer:
        return Say(f"{request.number} {request.tool_names} {request.system} {request.last_text}")

    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    output = {"format": {"type": "json_schema", "schema": schema}, "effort": "high"}
    system = [{"type": "text", "text": "Be"}, {"type": "text", "text": "brief"}]
    message = stream(client, system=system, tools=[TOOL], output_config=output)
    assert blocks(message) == [{"type": "text", "text": "1 ['read'] Be\nbrief Hello"}]
    (request,) = api.requests
    assert (request.model, request.messages, request.output_format) == (OPUS, [HELLO], schema)
    assert request.headers["authorization"] == "Bearer test"
    assert request.body["stream"] is True


def test_tool_loop(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Think(USES), Pause("One moment."), Think(Say("Done.")))
    messages: list[JsonObject] = [HELLO]
    for _ in range(3):
        message = stream(client, messages=messages, tools=[TOOL], cache_control=MARK)
        messages.append({"role": "assistant", "content": blocks(message)})
        calls = [block.id for block in message.content if block.type == "tool_use"]
        if calls:
            results = [{"type": "tool_result", "tool_use_id": id_, "content": "ok"} for id_ in calls]
            messages.append({"role": "user", "content": results})
    assert [len(request.tool_results) for request in api.requests] == [0, 2, 0]
    assert message.stop_reason == "end_turn"


def test_running_out_of_replies(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Say("one"))
    stream(client)
    with pytest.raises(anthropic.InternalServerError):
        stream(client)
    assert api.violations == [
        "POST /v1/messages: the script failed on request 2: LookupError: all 1 scripted replies are used up"
    ]
    api.violations.clear()


def test_no_script_and_a_failing_script(api: FakeAnthropic, client: Anthropic) -> None:
    with pytest.raises(anthropic.InternalServerError, match="no script"):
        stream(client)
    api.script(lambda request: pytest.fail("unexpected"))
    with pytest.raises(anthropic.InternalServerError, match="unexpected"):
        stream(client)
    assert len(api.violations) == 2
    api.violations.clear()


def test_models(api: FakeAnthropic, client: Anthropic) -> None:
    model = client.models.retrieve(HAIKU)
    assert model.capabilities
    assert model.capabilities.thinking.types.disabled.supported
    assert not model.capabilities.thinking.types.enabled.supported
    assert client.models.retrieve("claude-sonnet-4-5").lifecycle == "deprecated"
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-9")


def test_count_tokens(api: FakeAnthropic, client: Anthropic) -> None:
    few = client.messages.count_tokens(model=OPUS, messages=[{"role": "user", "content": "Hello"}])
    api.replies(Say("Hi"))
    assert few.input_tokens == stream(client).usage.input_tokens
    assert (len(api.counted), len(api.requests)) == (1, 1)
    with pytest.raises(anthropic.BadRequestError, match="max_tokens"):
        client.post("/v1/messages/count_tokens", body=body(), cast_to=object)
    api.violations.clear()


@pytest.mark.slow
def test_twenty_threads(api: FakeAnthropic, client: Anthropic) -> None:
    def handler(request: Request) -> Answer:
        return Slow(0.05, Think(Say(f"You said {request.last_text}")))

    api.script(handler)

    def ask(number: int) -> str:
        messages = [{"role": "user", "content": f"{number}"}]
        return "".join(b.text for b in stream(client, messages=messages).content if b.type == "text")

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(ask, range(60)))
    assert answers == [f"You said {number}" for number in range(60)]
    assert [request.number for request in api.requests] == list(range(1, 61))
    assert api.usage_totals().responses == 60


def test_replies_are_given_once_each_to_many_threads(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(*(Say(f"{number}") for number in range(40)))
    with ThreadPoolExecutor(20) as pool:
        texts = list(pool.map(lambda _: blocks(stream(client))[0]["text"], range(40)))
    assert sorted(texts, key=int) == [f"{number}" for number in range(40)]
