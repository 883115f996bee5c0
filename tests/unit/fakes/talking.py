"""What is sent to the fake Messages API, and what is taken out of its answers."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic import Anthropic
from anthropic.types import Message

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_api import FakeAnthropic

OPUS, SONNET, HAIKU = "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"
TOOL: JsonObject = {"name": "read", "input_schema": {"type": "object", "properties": {}}}
MARK: JsonObject = {"type": "ephemeral"}
LONG = "word " * 500
HELLO: JsonObject = {"role": "user", "content": "Hello"}


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
