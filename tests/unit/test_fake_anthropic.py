"""The fake Messages API answers, fails and refuses as the real one does."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
import pytest
from anthropic import Anthropic
from anthropic.types import Message
from pydantic import BaseModel

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

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

OPUS, SONNET, HAIKU = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"
TOOL: JsonObject = {"name": "read", "input_schema": {"type": "object", "properties": {}}}
MARK: JsonObject = {"type": "ephemeral"}
LONG = "word " * 500
HELLO: JsonObject = {"role": "user", "content": "Hello"}


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


def body(**changes: Any) -> dict[str, Any]:
    return {"model": OPUS, "max_tokens": 1000, "messages": [HELLO]} | changes


def stream(client: Anthropic, **changes: Any) -> Message:
    with client.messages.stream(**body(**changes)) as events:
        return events.get_final_message()


def blocks(message: Message) -> list[JsonObject]:
    return [block.to_dict(mode="json") for block in message.content]


def refusal(api: FakeAnthropic, client: Anthropic, **changes: Any) -> str:
    """The message of the 400 to a bad request, taken out of the violations, where it has to be alone."""
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.post("/v1/messages", body=body(**changes), cast_to=object)
    error: Any = caught.value.body
    assert error["type"] == "error"
    assert error["error"]["type"] == "invalid_request_error"
    assert error["request_id"] == caught.value.request_id
    assert api.violations == [f"POST /v1/messages: {error['error']['message']}"]
    api.violations.clear()
    assert api.requests == []
    return str(error["error"]["message"])


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


def test_slow_waits_before_the_first_byte_and_stall_within(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Slow(0.2, Say("late")), Stall(0.2, Say("halting")), Slow(5, Say("never")))
    started = time.monotonic()
    with client.messages.stream(**body()) as events:
        assert time.monotonic() - started >= 0.2
        events.until_done()
    started = time.monotonic()
    with client.messages.stream(**body()) as events:
        next(iter(events))
        first = time.monotonic() - started
        events.until_done()
    assert first < 0.2 <= time.monotonic() - started
    with pytest.raises(anthropic.APITimeoutError):
        stream(client, timeout=0.1)


def test_closing_does_not_wait_for_a_slow_answer(transport: httpx2.Client) -> None:
    with FakeAnthropic() as api:
        client = Anthropic(base_url=api.url, api_key="test", max_retries=0, http_client=transport)
        api.replies(Slow(60, Say("never")))
        with pytest.raises(anthropic.APITimeoutError):
            stream(client, timeout=0.1)
        started = time.monotonic()
    assert time.monotonic() - started < 1


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


def assistant(*content: JsonObject) -> JsonObject:
    return {"role": "assistant", "content": list(content)}


def user(*content: JsonObject) -> JsonObject:
    return {"role": "user", "content": list(content)}


def text(words: str = "Hello", **more: Any) -> JsonObject:
    return {"type": "text", "text": words, **more}


def use(id_: str, **more: Any) -> JsonObject:
    return {"type": "tool_use", "id": id_, "name": "read", "input": {}, **more}


def result(id_: str, **more: Any) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id_, "content": "ok", **more}


def output(schema: JsonObject) -> JsonObject:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


def closed(properties: JsonObject, **more: Any) -> JsonObject:
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


STRING: JsonObject = {"type": "string"}
UNION: JsonObject = {"anyOf": [{"type": "string"}, {"type": "null"}]}
RECURSIVE = closed({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": closed({"b": {"$ref": "#/$defs/A"}})}})
BAD_REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("max_tokens: 'many' is not of type 'integer'", {"max_tokens": "many"}),
    ("'max_token' was unexpected", {"max_token": 1}),
    ("messages.0.content.0: 'text' is a required property", {"messages": [user({"type": "text"})]}),
    ("messages.0.content.0.type: 'txt' is not one of", {"messages": [user({"type": "txt"})]}),
    ("content.0.caller: None is not of type", {"messages": [HELLO, assistant(use("a", caller=None))]}),
    ("tools.0.input_schema.type: 'object' was", {"tools": [TOOL | {"input_schema": {"type": "array"}}]}),
    ("tools.0: 'name' is a required", {"tools": [{"input_schema": {"type": "object"}}]}),
    ("messages: at least one message", {"messages": []}),
    ("messages.0: all messages must have non-empty", {"messages": [user()]}),
    ("first message must use the `user` role", {"messages": [assistant(text()), HELLO]}),
    ("immediately after: ['a']", {"messages": [HELLO, assistant(use("a"))]}),
    ("immediately after: ['a']", {"messages": [HELLO, assistant(use("a")), user(text())]}),
    ("after: ['b']", {"messages": [HELLO, assistant(use("a"), use("b")), user(result("a"))]}),
    ("several for ['a']", {"messages": [HELLO, assistant(use("a")), user(result("a"), result("a"))]}),
    ("blocks: ['b']", {"messages": [HELLO, assistant(use("a")), user(result("a"), result("b"))]}),
    ("blocks: ['b']", {"messages": [user(result("b"))]}),
    ("must come first", {"messages": [HELLO, assistant(use("a")), user(text(), result("a"))]}),
    ("must be unique", {"messages": [HELLO, assistant(use("a"), use("a")), user(result("a"))]}),
    (
        "must be unique",
        {"messages": [HELLO, *[assistant(use("a")), user(result("a"))] * 2]},
    ),
    ("can only be in `user`", {"messages": [HELLO, assistant(result("a")), HELLO]}),
    ("can only be in `assistant`", {"messages": [user(use("a"))]}),
    ("Found 5.", {"messages": [user(*[text(cache_control=MARK)] * 5)]}),
    ("Found 5.", {"messages": [user(*[text(cache_control=MARK)] * 4)], "cache_control": MARK}),
    (
        "Found 5.",
        {
            "tools": [TOOL | {"cache_control": MARK}],
            "system": [text(cache_control=MARK)],
            "messages": [
                user(text(cache_control=MARK)),
                assistant(use("a")),
                user(result("a", cache_control=MARK, content=[text(cache_control=MARK)])),
            ],
        },
    ),
    ("temperature: this parameter is not", {"temperature": 0.5}),
    ("top_p: this parameter is not", {"top_p": 0.5}),
    ("top_k: this parameter is not", {"top_k": 5}),
    ("tool_choice: 'any'", {"tools": [TOOL], "tool_choice": {"type": "any"}}),
    (
        "tool_choice: 'tool'",
        {"model": SONNET, "tools": [TOOL], "tool_choice": {"type": "tool", "name": "read"}},
    ),
    *(
        ("thinking.type.enabled", {"model": model, "thinking": {"type": "enabled", "budget_tokens": 1024}})
        for model in (OPUS, SONNET, HAIKU)
    ),
    *(("thinking.type.disabled", {"model": m, "thinking": {"type": "disabled"}}) for m in (OPUS, SONNET)),
    *(("between_tools", {"model": m, "thinking": {"type": "between_tools"}}) for m in (OPUS, HAIKU)),
    ("effort: 'low'", {"model": "claude-haiku-4-5", "output_config": {"effort": "low"}}),
    ("'additionalProperties' must be", output({"type": "object", "properties": {}})),
    ("'additionalProperties' must be", output(closed({"a": {"type": "array", "items": {"type": "object"}}}))),
    ("'additionalProperties' must be", {"tools": [TOOL | {"strict": True}]}),
    ("maximum, minimum is not", output(closed({"a": {"type": "integer", "minimum": 1, "maximum": 2}}))),
    ("maxLength is not", output(closed({"a": {"anyOf": [{"type": "string", "maxLength": 2}]}}))),
    ("maxItems is not", output(closed({"a": {"type": "array", "items": STRING, "maxItems": 2}}))),
    ("'minItems' values", output(closed({"a": {"type": "array", "items": STRING, "minItems": 2}}))),
    ("Recursive schemas", output(RECURSIVE)),
    ("Recursive schemas", output(closed({"a": {"$ref": "#"}}))),
    ("25 optional parameters", output(closed({f"p{i}": STRING for i in range(25)}))),
    (
        "17 parameters with union",
        output(closed({f"p{i}": UNION for i in range(17)}, required=[f"p{i}" for i in range(17)])),
    ),
]


@pytest.mark.parametrize(("reason", "changes"), BAD_REQUESTS)
def test_bad_request(api: FakeAnthropic, client: Anthropic, reason: str, changes: dict[str, Any]) -> None:
    assert reason in refusal(api, client, **changes)


class Step(BaseModel):
    title: str
    maximum: int | None = None


class Plan(BaseModel):
    first: Step
    steps: list[Step]


GOOD_REQUESTS: list[dict[str, Any]] = [
    {"messages": [HELLO, HELLO, assistant(use("a"), use("b")), user(result("b")), user(result("a"), text())]},
    {"messages": [HELLO, {"role": "system", "content": "Be brief."}]},
    {"messages": [user(*[text(cache_control=MARK)] * 3)], "cache_control": MARK | {"ttl": "1h"}},
    {"tools": [TOOL], "tool_choice": {"type": "none"}},
    {"model": HAIKU, "tools": [TOOL], "tool_choice": {"type": "any"}},
    {"model": HAIKU, "thinking": {"type": "disabled"}},
    {"model": SONNET, "thinking": {"type": "between_tools"}},
    {"model": "claude-opus-4-6", "thinking": {"type": "enabled", "budget_tokens": 1024}},
    {"model": "qwen3", "thinking": {"type": "disabled"}, "output_config": {"effort": "low"}},
    output(anthropic.transform_schema(Plan)),
    output(closed({f"p{i}": UNION for i in range(16)} | {f"q{i}": STRING for i in range(8)})),
    {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
]


@pytest.mark.parametrize("changes", GOOD_REQUESTS)
def test_good_request(api: FakeAnthropic, client: Anthropic, changes: dict[str, Any]) -> None:
    api.replies(Say("Fine."))
    client.post("/v1/messages", body=body(**changes), cast_to=object)
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    ("headers", "content", "status", "violation"),
    [
        ({"anthropic-version": "2026-10-21"}, b"{}", 401, "authorization: header is required"),
        ({"x-api-key": "test"}, b"{}", 400, "anthropic-version: header is required"),
        ({"x-api-key": "test", "anthropic-version": "2026-10-21"}, b"{", 400, "not valid JSON"),
        ({"x-api-key": "test", "anthropic-version": "2026-10-21"}, b"[]", 400, "is not of type 'object'"),
    ],
)
def test_bad_http(api: FakeAnthropic, headers: dict[str, str], content: bytes, status: int, violation: str) -> None:
    response = httpx2.post(f"{api.url}/v1/messages", headers=headers, content=content)
    assert response.status_code == status
    assert violation in api.violations.pop()


def test_unknown_path(api: FakeAnthropic, client: Anthropic) -> None:
    with pytest.raises(anthropic.NotFoundError):
        client.post("/v1/complete", body={}, cast_to=object)
    assert api.violations.pop() == "POST /v1/complete: Not Found"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"system": "Other."}, "system before it changed"),
        ({"tools": [TOOL, TOOL | {"name": "write"}]}, "tools before it changed"),
        ({"messages": [user(text("Hullo"))]}, "messages before it changed"),
        ({"thinking": "Something else."}, "it was modified"),
    ],
)
def test_replayed_thinking_is_append_only(
    api: FakeAnthropic, client: Anthropic, changes: dict[str, Any], reason: str
) -> None:
    api.script(lambda request: Think(Say("So.")))
    kept: dict[str, Any] = {"system": "Be brief.", "tools": [TOOL]}
    thought, said = blocks(stream(client, **kept, cache_control=MARK))
    same = [user(text(cache_control=MARK)), assistant(thought, said), user(text("And?"))]
    stream(client, **kept | {"system": [text("Be brief.")]}, messages=same)
    api.requests.clear()
    start = changes.pop("messages", [HELLO])
    thought = thought | {"thinking": changes.pop("thinking", thought["thinking"])}
    changed = [*start, assistant(thought, said), user(text("And?"))]
    assert reason in refusal(api, client, **kept | changes, messages=changed)


def test_thinking_of_another_server_passes(api: FakeAnthropic, client: Anthropic) -> None:
    api.replies(Say("Fine."))
    foreign = {"type": "thinking", "thinking": "", "signature": "elsewhere"}
    stream(client, messages=[HELLO, assistant(foreign, text()), HELLO])


def usage(client: Anthropic, **changes: Any) -> tuple[int, int, int, int]:
    """Uncached, read, written for 5 minutes, written for 1 hour."""
    told = client.messages.create(**body(**changes)).usage
    assert told.cache_creation
    assert told.cache_read_input_tokens is not None
    written = told.cache_creation.ephemeral_5m_input_tokens, told.cache_creation.ephemeral_1h_input_tokens
    assert told.cache_creation_input_tokens == sum(written)
    return told.input_tokens, told.cache_read_input_tokens, *written


def test_cache_grows_with_the_conversation(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    first = [user(text(LONG))]
    longer = [*first, assistant(text("Fine.")), user(text("More."))]
    uncached, read, size, _ = usage(client, messages=first, cache_control=MARK)
    assert (uncached, read) == (0, 0)
    assert size > 512
    assert usage(client, messages=first, cache_control=MARK) == (0, size, 0, 0)
    uncached, read, added, _ = usage(client, messages=longer, cache_control=MARK)
    assert (uncached, read) == (0, size)
    assert 0 < added < 50
    assert usage(client, messages=longer) == (size + added, 0, 0, 0)
    totals = api.usage_totals()
    assert (totals.responses, totals.cache_read_input_tokens) == (4, 2 * size)
    assert totals.cache_creation_input_tokens == totals.ephemeral_5m_input_tokens == size + added
    assert api.usage_totals(OPUS) == totals
    assert api.usage_totals(HAIKU) == UsageTotals()


def test_cache_is_invalidated_by_whatever_stands_before(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    system = [text(LONG, cache_control=MARK)]
    plain = {"system": system, "tools": [TOOL]}
    first, again = usage(client, **plain), usage(client, **plain)
    assert (first[0], first[2]) == (again[0], again[1])
    reordered = [dict(reversed(TOOL.items()))]
    for change in ({"model": HAIKU}, {"tools": [TOOL] * 2}, {"tools": reordered}, output(closed({}))):
        assert usage(client, **plain | change)[1] == 0
    assert usage(client, **plain, messages=[user(text("Else"))])[1] == again[1]


def test_cache_keeps_ttls_apart_and_ignores_short_prefixes(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    hour = MARK | {"ttl": "1h"}
    uncached, _, short, long = usage(
        client, system=[text(LONG, cache_control=hour)], messages=[user(text(LONG, cache_control=MARK))]
    )
    assert (uncached, short > 600, long > 600) == (0, True, True)
    assert usage(client, messages=[user(text("Hi", cache_control=MARK))])[1:] == (0, 0, 0)


def test_automatic_breakpoint_skips_blocks_that_cannot_carry_one(api: FakeAnthropic, client: Anthropic) -> None:
    api.script(lambda request: Say("Fine."))
    foreign = {"type": "thinking", "thinking": "", "signature": "elsewhere"}
    uncached, _, written, _ = usage(client, messages=[user(text(LONG)), assistant(foreign)], cache_control=MARK)
    assert 0 < uncached < 50 < written
