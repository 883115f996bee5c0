"""Questions to a service, and the events of its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.contracts.ports import Ask, ToolSpec
from runs.enums import Role
from runs.errors import ModelError
from runs.llm.client import Clients
from tests.fakes.anthropic_answers import Garbage

KEY = "sk-ant-very-secret-0123456789"
HELLO: Any = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
TOOL = ToolSpec("read_file", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
LONG = "word " * 400


def question(**changes: Any) -> Ask:
    values: dict[str, Any] = {
        "role": Role.EXECUTOR,
        "model": "claude-opus-5-5",
        "system": "Be brief.",
        "messages": (HELLO,),
        "max_tokens": 1_000,
    }
    return Ask(**{**values, **changes})


def error_of(clients: Clients) -> ModelError:
    with pytest.raises(ModelError) as caught:
        clients.ask(question())
    return caught.value


def events(*sent: Any) -> Garbage:
    """A stream of exactly these events."""
    named = ((each.get("type", "") if isinstance(each, dict) else "message_start", each) for each in sent)
    return Garbage("".join(f"event: {name}\ndata: {json.dumps(each)}\n\n" for name, each in named).encode())


USAGE = {"input_tokens": 3, "output_tokens": 1}
MESSAGE: dict[str, Any] = {
    "id": "msg",
    "type": "message",
    "role": "assistant",
    "model": "x",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": USAGE,
}
START = {"type": "message_start", "message": MESSAGE}
TEXT = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
TOOL_USE = {
    "type": "content_block_start",
    "index": 0,
    "content_block": {"type": "tool_use", "id": "t", "name": "n", "input": {}},
}
STOP = {"type": "content_block_stop", "index": 0}
DELTA = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn", "stop_sequence": None},
    "usage": {"output_tokens": 5},
}
END = {"type": "message_stop"}


def text(words: Any, index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": words}}


def arguments(part: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": part}}


class Seen:
    """What a draft was told, the pieces of a block together."""

    def __init__(self) -> None:
        self.blocks: list[tuple[str, str, str]] = []
        self.pieces = 0

    def begin(self, kind: str, tool: str = "") -> None:
        self.blocks.append((kind, tool, ""))

    def add(self, piece: str) -> None:
        kind, tool, before = self.blocks[-1]
        self.blocks[-1] = (kind, tool, before + piece)
        self.pieces += 1
