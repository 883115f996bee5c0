"""Converts between the agent's program and `runs.contracts.ports`: requests of the Messages API, and its events.

What the program adds itself is removed: it differs between processes, while a resumed attempt must ask the same
questions (D3), and it describes this machine.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from runs.contracts.base import JsonObject
from runs.contracts.ports import Reply, Usage
from runs.pev.conversation.asking import EXCEEDED

SERVER = "pevsite"
PREFIX = f"mcp__{SERVER}__"
"""The program's prefix for the names of a server's tools."""
_OF_THE_PROGRAM = ("x-anthropic-billing-header:", "You are a Claude agent, built on Anthropic's Claude Agent SDK.")
"""The beginnings of the parts that the program puts before a system prompt."""


class ToolOutcome(NamedTuple):
    """The result of a call that was carried out, as the journal and the model get it."""

    text: str
    is_error: bool


class SessionRequest(NamedTuple):
    system: str
    messages: tuple[JsonObject, ...]


def request_of(body: object, results: Mapping[str, ToolOutcome]) -> SessionRequest:
    """Parses a request. Raises ValueError if it is not one.

    `results`, by call id, replace the results in the request, which the program may have cut.
    """
    if not isinstance(body, dict) or not isinstance(messages := body.get("messages"), list):
        raise ValueError("a request has messages")
    system = [str(block.get("text", "")) for block in _blocks(body.get("system"))]
    said = [text for text in system if not text.startswith(_OF_THE_PROGRAM)]
    # System messages describe folders and today's date.
    told = tuple(_message(one, results) for one in messages if isinstance(one, dict) and one.get("role") != "system")
    if not told or told[0]["role"] != "user":
        raise ValueError("a conversation begins with the words of a user")
    return SessionRequest("\n".join(said), told)


def _message(message: Mapping[str, object], results: Mapping[str, ToolOutcome]) -> JsonObject:
    role = "assistant" if message.get("role") == "assistant" else "user"
    content = message.get("content")
    return {"role": role, "content": [_block(block, results) for block in _blocks(content)]}


def _blocks(content: object) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _block(block: JsonObject, results: Mapping[str, ToolOutcome]) -> JsonObject:
    # `llm` decides where to set cache breakpoints
    kept = {key: value for key, value in block.items() if key != "cache_control"}
    match kept.get("type"):
        case "tool_use":
            return {**kept, "name": str(kept.get("name", "")).removeprefix(PREFIX)}
        case "tool_result":
            use_id = str(kept.get("tool_use_id", ""))
            told = results.get(use_id) or ToolOutcome(
                "".join(str(one.get("text", "")) for one in _blocks(kept.get("content"))), bool(kept.get("is_error"))
            )
            return {"type": "tool_result", "tool_use_id": use_id, "content": told.text, "is_error": told.is_error}
    return kept


def blocks_of(message: JsonObject) -> list[JsonObject]:
    return _blocks(message["content"])


def text_of(message: JsonObject) -> str:
    return "".join(str(block.get("text", "")) for block in blocks_of(message))


def result_ids(message: JsonObject) -> tuple[str, ...]:
    """Returns the ids of the calls whose results a message contains."""
    return tuple(str(one["tool_use_id"]) for one in blocks_of(message) if one.get("type") == "tool_result")


PING = b'event: ping\ndata: {"type":"ping"}\n\n'


def events_of(reply: Reply, number: int) -> Iterator[bytes]:
    """Yields the reply as a stream of the Messages API. `number` makes the id of its message."""
    if reply.stop_reason == EXCEEDED:
        error: JsonObject = {"type": "invalid_request_error", "message": "prompt is too long"}
        yield _event({"type": "error", "error": error})
        return
    message: JsonObject = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_input(reply.usage), "output_tokens": 1},
    }
    yield _event({"type": "message_start", "message": message})
    for index, block in enumerate(reply.content):
        begun, deltas = _parts(block)
        yield _event({"type": "content_block_start", "index": index, "content_block": begun})
        for part in deltas:
            yield _event({"type": "content_block_delta", "index": index, "delta": part})
        yield _event({"type": "content_block_stop", "index": index})
    delta: JsonObject = {"stop_reason": reply.stop_reason, "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": reply.usage.output}})
    yield _event({"type": "message_stop"})


def _input(usage: Usage) -> JsonObject:
    written = usage.cache_write_5m + usage.cache_write_1h
    read: JsonObject = {"cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": written}
    return {"input_tokens": usage.input, **read}


def _parts(block: JsonObject) -> tuple[JsonObject, Sequence[JsonObject]]:
    """Returns the beginning of a block, and its deltas. Kinds that are not streamed in pieces begin complete."""
    match block.get("type"):
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block.get("text", "")}]
        case "tool_use":
            written = json.dumps(block.get("input"), ensure_ascii=False)
            begun = {**block, "name": f"{PREFIX}{block.get('name', '')}", "input": {}}
            return begun, [{"type": "input_json_delta", "partial_json": written}]
        case "thinking":
            thought: JsonObject = {"type": "thinking_delta", "thinking": block.get("thinking", "")}
            signed: JsonObject = {"type": "signature_delta", "signature": block.get("signature", "")}
            return {**block, "thinking": "", "signature": ""}, [thought, signed]
    return block, []


def _event(data: JsonObject) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
