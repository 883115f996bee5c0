"""Owns the shape of answers on the wire: a message as one JSON object, or as a stream of events."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.pev.contracts import JsonObject

CHUNK = 600
"""Characters per delta: a reply of some length comes in several pieces, as from the real service."""


@dataclass(frozen=True)
class Use:
    """A tool call that the answer asks for."""

    name: str
    input: JsonObject


@dataclass(frozen=True)
class Answer:
    """What the rules say: text, then tool calls if there are any."""

    text: str
    uses: tuple[Use, ...] = ()

    @property
    def stop_reason(self) -> str:
        return "tool_use" if self.uses else "end_turn"


def message(answer: Answer, model: str, digest: str) -> JsonObject:
    """The whole message. Its ids come from the request, its usage is zero: no tokens were used."""
    return {
        **_head(model, digest),
        "content": list(_blocks(answer, digest)),
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": _usage(),
    }


def events(answer: Answer, model: str, digest: str) -> Iterator[bytes]:
    """The same message as server-sent events, one per item."""
    start: JsonObject = {
        **_head(model, digest),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(),
    }
    yield _event("message_start", {"message": start})
    for index, block in enumerate(_blocks(answer, digest)):
        yield from _block_events(index, block)
    delta: JsonObject = {"stop_reason": answer.stop_reason, "stop_sequence": None}
    yield _event("message_delta", {"delta": delta, "usage": {"output_tokens": 0}})
    yield _event("message_stop", {})


def error(kind: str, sentence: str, digest: str) -> JsonObject:
    return {
        "type": "error",
        "error": {"type": kind, "message": sentence},
        "request_id": f"req_offline_{digest[:24]}",
    }


def _head(model: str, digest: str) -> JsonObject:
    return {"id": f"msg_offline_{digest[:24]}", "type": "message", "role": "assistant", "model": model}


def _usage() -> JsonObject:
    return {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }


def _blocks(answer: Answer, digest: str) -> Iterator[JsonObject]:
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for number, use in enumerate(answer.uses):
        yield {
            "type": "tool_use",
            "id": f"toolu_offline_{digest[:20]}_{number:03d}",
            "name": use.name,
            "input": use.input,
        }


def _block_events(index: int, block: JsonObject) -> Iterator[bytes]:
    if block["type"] == "text":
        empty: JsonObject = {"type": "text", "text": ""}
        kind, field, whole = "text_delta", "text", str(block["text"])
    else:
        empty = {**block, "input": {}}
        kind, field, whole = "input_json_delta", "partial_json", _json(block["input"])
    yield _event("content_block_start", {"index": index, "content_block": empty})
    for piece in _pieces(whole):
        yield _event("content_block_delta", {"index": index, "delta": {"type": kind, field: piece}})
    yield _event("content_block_stop", {"index": index})


def _pieces(text: str) -> Sequence[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


def _event(name: str, data: JsonObject) -> bytes:
    return f"event: {name}\ndata: {_json({'type': name, **data})}\n\n".encode()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
