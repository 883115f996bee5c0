"""What the agent's program sends, in our terms, and replies in its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from runs.agent_sdk.wire import SessionRequest, ToolOutcome, events_of, request_of
from runs.contracts.ports import Reply, Usage
from runs.pev.conversation.asking import EXCEEDED

BODY: dict[str, Any] = {
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=1"},
        {"type": "text", "text": "You are a Claude agent, built on Anthropic's Claude Agent SDK."},
        {"type": "text", "text": "You carry out one step.", "cache_control": {"type": "ephemeral"}},
    ],
    "messages": [
        {"role": "user", "content": "Do it."},
        {"role": "system", "content": "Primary working directory: /home/somebody. Today is Monday."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "mcp__pevsite__read_file", "input": {"path": "x"}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "cut …"}]},
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": "No such tool available",
                    "is_error": True,
                    "cache_control": {"type": "ephemeral"},
                },
            ],
        },
    ],
}


def test_only_what_we_said_and_what_the_model_said_is_left() -> None:
    request = request_of(BODY, {"a": ToolOutcome("the whole file", is_error=False)})
    assert request == SessionRequest(
        "You carry out one step.",
        (
            {"role": "user", "content": [{"type": "text", "text": "Do it."}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "x"}}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "the whole file", "is_error": False},
                    {"type": "tool_result", "tool_use_id": "b", "content": "No such tool available", "is_error": True},
                ],
            },
        ),
    )


@pytest.mark.parametrize(
    "body",
    [None, [], {}, {"messages": {}}, {"messages": []}, {"messages": ["x"]}, {"messages": [{"role": "assistant"}]}],
)
def test_what_is_no_conversation_is_refused(body: object) -> None:
    with pytest.raises(ValueError, match=r"messages|begins"):
        request_of(body, {})


def events(reply: Reply) -> list[dict[str, Any]]:
    return [json.loads(event.decode().split("data: ", 1)[1]) for event in events_of(reply, 7)]


def test_a_reply_is_a_stream_of_the_api() -> None:
    reply = Reply(
        (
            {"type": "thinking", "thinking": "Let me see.", "signature": "s"},
            {"type": "text", "text": "Reading “it”."},
            {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "x"}},
        ),
        "tool_use",
        "claude-sonnet-5-5",
        Usage(input=3, output=5, cache_read=7, cache_write_5m=1, cache_write_1h=1),
    )
    sent = events(reply)
    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    for event in sent:
        adapter.validate_python(event)
    assert [event["type"] for event in sent[:1] + sent[-2:]] == ["message_start", "message_delta", "message_stop"]
    assert sent[0]["message"]["usage"] == {
        "input_tokens": 3,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 2,
        "output_tokens": 1,
    }
    deltas = [event["delta"] for event in sent if event["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "Let me see."},
        {"type": "signature_delta", "signature": "s"},
        {"type": "text_delta", "text": "Reading “it”."},
        {"type": "input_json_delta", "partial_json": '{"path": "x"}'},
    ]
    begun = [event["content_block"] for event in sent if event["type"] == "content_block_start"]
    assert begun[2] == {"type": "tool_use", "id": "a", "name": "mcp__pevsite__read_file", "input": {}}
    assert sent[-2]["delta"]["stop_reason"] == "tool_use"


def test_what_was_too_long_is_the_error_at_which_the_program_sums_up() -> None:
    (event,) = events(Reply((), EXCEEDED, "claude-sonnet-5-5"))
    assert event == {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}
