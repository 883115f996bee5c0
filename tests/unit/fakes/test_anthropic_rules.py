"""The fake Messages API refuses what the real one refuses."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic
from pydantic import BaseModel

from tests.fakes.anthropic_answers import JsonObject, Say, Think
from tests.fakes.anthropic_api import FakeAnthropic
from tests.unit.fakes.talking import (
    HAIKU,
    HELLO,
    MARK,
    OPUS,
    SONNET,
    TOOL,
    assistant,
    blocks,
    body,
    closed,
    output,
    refusal,
    result,
    stream,
    text,
    use,
    user,
)

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


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
    ("non-whitespace text", {"messages": [HELLO, assistant(text(" \n")), HELLO]}),
    ("non-whitespace text", {"messages": [user(text(""))]}),
    (
        "cannot be `thinking`",
        {"messages": [HELLO, assistant({"type": "thinking", "thinking": "", "signature": "s"}), HELLO]},
    ),
    ("messages.1.content.0.id: must match", {"messages": [HELLO, assistant(use("a.b")), user(result("a.b"))]}),
    ("messages.1.content.0.name: must match", {"messages": [HELLO, assistant(use("a", name="")), user(result("a"))]}),
    (
        "cannot be empty if `is_error`",
        {"messages": [HELLO, assistant(use("a")), user(result("a", is_error=True, content=""))]},
    ),
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
