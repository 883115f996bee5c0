"""The shape of messages and SSE events; everything built here is checked against the package's types."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_blocks import canonical, count_tokens
from tests.fakes.anthropic_delivery import Delivery, Ending
from tests.fakes.anthropic_serving import RESULTS, uses

_PIECES = 4


def output_tokens(content: tuple[JsonObject, ...]) -> int:
    """Never 0: even an empty answer is billed."""
    return max(1, sum(count_tokens(canonical(block)) for block in content))


def message(id_: str, model: str, delivery: Delivery, usage: JsonObject) -> JsonObject:
    """The whole message, as without `stream`."""
    result: JsonObject = {
        "id": id_,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(delivery.content),
        "stop_reason": delivery.stop_reason,
        "stop_sequence": None,
        "stop_details": delivery.stop_details,
        "usage": {
            **usage,
            "output_tokens": output_tokens(delivery.content),
            "service_tier": "standard",
            **uses(delivery.content),
        },
    }
    Message.model_validate(result)
    return result


def frames(whole: JsonObject, delivery: Delivery, error: JsonObject) -> list[bytes]:
    """The SSE frames of `whole`, as far as `delivery` lets it come; `error` is the event of Ending.ERROR."""
    events = list(_events(whole))
    for event in events:
        _event_type().validate_python(event)
    if delivery.ending is not Ending.COMPLETE:
        # Goes back to the last delta: without message_stop, message_delta, and the end of an open block.
        events = events[: -3 if delivery.content else -2]
    if delivery.ending is Ending.ERROR:
        events.append(error)
    # The API sends pings anywhere; the types do not know them.
    frames = [_frame(event) for event in events]
    return [*frames[:1], PING, *frames[1:]]


@functools.cache
def _event_type() -> TypeAdapter[RawMessageStreamEvent]:
    return TypeAdapter(RawMessageStreamEvent)


def warm_up() -> None:
    """Builds the adapter once before threads start."""
    _event_type()


def _frame(event: JsonObject) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


PING = _frame({"type": "ping"})


def _events(whole: JsonObject) -> Iterator[JsonObject]:
    usage = whole["usage"]
    empty: JsonObject = {"content": [], "stop_reason": None, "stop_details": None}
    yield {"type": "message_start", "message": {**whole, **empty, "usage": {**usage, "output_tokens": 1}}}
    for index, block in enumerate(whole["content"]):
        start, deltas = _block_parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    counted = {key: value for key, value in usage.items() if key.endswith("_tokens") or key == "server_tool_use"}
    yield {"type": "message_delta", "delta": stop, "usage": counted}
    yield {"type": "message_stop"}


def _block_parts(block: JsonObject) -> tuple[JsonObject, list[JsonObject]]:
    """The block as it starts, and the deltas that fill it."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
            if "citations" not in block:
                return {**block, "text": ""}, deltas
            cited = [{"type": "citations_delta", "citation": one} for one in block["citations"]]
            return {**block, "text": "", "citations": []}, [*cited, *deltas]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            signature = {"type": "signature_delta", "signature": block["signature"]}
            return {**block, "thinking": "", "signature": ""}, [*deltas, signature]
        case "tool_use" | "server_tool_use":
            pieces = ["", *_pieces(canonical(block["input"]))]
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces]
        case kind if kind in RESULTS:
            return block, []
        case other:
            raise ValueError(f"no stream events for a {other} block; add them to _block_parts")


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // _PIECES) or 1
    return [text[i : i + size] for i in range(0, len(text), size)]
