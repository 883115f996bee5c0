"""The translation of a scripted answer into what is sent: content blocks, an ending, and when."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from enum import Enum

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
    Ping,
    Refuse,
    Say,
    Served,
    Slow,
    Stall,
    Think,
    UseTools,
)


class Ending(Enum):
    """How the body ends; all but COMPLETE leave the client without a stop_reason."""

    COMPLETE = "complete"
    CUT = "socket closed"
    EARLY = "clean end without message_stop"
    ERROR = "SSE error event"


@dataclass(frozen=True)
class Delivery:
    """One answer, ready to be put into a message. `instead` replaces it by an error or rubbish."""

    content: tuple[JsonObject, ...] = ()
    stop_reason: str = "end_turn"
    stop_details: JsonObject | None = None
    ending: Ending = Ending.COMPLETE
    error: str = "api_error"
    wait: float = 0.0
    stall: float = 0.0
    pings: bool = False
    instead: Fail | Garbage | None = None


class Mint:
    """Ids and signatures that are unique within a server; `next` on a count is atomic."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self, prefix: str) -> str:
        return f"{prefix}_fake_{next(self._numbers):06}"


def deliver(answer: Answer, body: JsonObject, mint: Mint) -> Delivery:
    match answer:
        case Slow(seconds, then):
            inner = deliver(then, body, mint)
            return replace(inner, wait=inner.wait + seconds)
        case Stall(seconds, then):
            inner = deliver(then, body, mint)
            return replace(inner, stall=inner.stall + seconds)
        case Ping(seconds, then):
            inner = deliver(then, body, mint)
            return replace(inner, stall=inner.stall + seconds, pings=True)
        case Think(then, text):
            inner = deliver(then, body, mint)
            return replace(inner, content=(*_thinking(text, body, mint), *inner.content))
        case Fail() | Garbage():
            return Delivery(instead=answer)
        case Served(content, stop_reason):
            return Delivery(content, stop_reason)
        case UseTools(tools, text):
            calls = [_tool_use(call.name, dict(call.input), mint) for call in tools]
            return Delivery((*_text(text), *calls), "tool_use")
        case _:
            return _deliver_text(answer)


type _TextAnswer = Say | Refuse | Overrun | ContextExceeded | Pause | CutStream | EndEarly | ErrorInStream


def _deliver_text(answer: _TextAnswer) -> Delivery:
    content = _text(answer.text)
    match answer:
        case Say():
            return Delivery(content)
        case Refuse():
            details = {"type": "refusal", "category": None, "explanation": "A scripted refusal."}
            return Delivery(content, "refusal", details)
        case Overrun():
            return Delivery(content, "max_tokens")
        case ContextExceeded():
            return Delivery(content, "model_context_window_exceeded")
        case Pause():
            return Delivery(content, "pause_turn")
        case CutStream():
            return Delivery(content, ending=Ending.CUT)
        case EndEarly():
            return Delivery(content, ending=Ending.EARLY)
        case ErrorInStream(error):
            return Delivery(content, ending=Ending.ERROR, error=error)


def _text(text: str) -> tuple[JsonObject, ...]:
    return ({"type": "text", "text": text},) if text else ()


def _tool_use(name: str, arguments: JsonObject, mint: Mint) -> JsonObject:
    return {"type": "tool_use", "id": mint("toolu"), "name": name, "input": arguments}


def _thinking(text: str, body: JsonObject, mint: Mint) -> tuple[JsonObject, ...]:
    """No block if thinking is off; a block without text if the request does not ask to see it."""
    config = body.get("thinking") or {}
    kind = config.get("type")
    if kind == "disabled":
        return ()
    # `enabled` is for older models, which show a summary by default; `between_tools` has no display.
    shown = config.get("display") == "summarized" or (kind == "enabled" and config.get("display") is None)
    visible = text if shown or kind == "between_tools" else ""
    return ({"type": "thinking", "thinking": visible, "signature": mint("sig")},)
