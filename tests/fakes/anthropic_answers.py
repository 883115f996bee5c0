"""The vocabulary of scripts: what a handler is told about a request, and the answers it can give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

type JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One accepted `POST /v1/messages`. `number` counts from 1 in order of arrival, over all threads."""

    number: int
    model: str
    system: str
    messages: list[JsonObject]
    tools: list[JsonObject]
    output_format: JsonObject | None
    """The JSON schema asked for with `output_config.format`."""
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: JsonObject

    @property
    def tool_names(self) -> list[str]:
        return [tool.get("name", "") for tool in self.tools]

    @property
    def last_blocks(self) -> list[JsonObject]:
        """The blocks of the last message; a plain string counts as one text block."""
        content = self.messages[-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def last_text(self) -> str:
        return "\n".join(block["text"] for block in self.last_blocks if block["type"] == "text")

    @property
    def tool_results(self) -> list[JsonObject]:
        """The tool_result blocks of the last message; empty on the first round of a tool loop."""
        return [block for block in self.last_blocks if block["type"] == "tool_result"]


@dataclass(frozen=True)
class Say:
    """Text, then stop_reason end_turn."""

    text: str


@dataclass(frozen=True)
class ToolUse:
    """One call in `UseTools`; the server makes up its id."""

    name: str
    input: Mapping[str, object]


@dataclass(frozen=True, init=False)
class UseTools:
    """Text if there is any, then the calls, then stop_reason tool_use."""

    tools: tuple[ToolUse, ...]
    text: str

    def __init__(self, *tools: ToolUse, text: str = "") -> None:
        object.__setattr__(self, "tools", tools)
        object.__setattr__(self, "text", text)


@dataclass(frozen=True)
class Think:
    """A signed thinking block before another answer.

    The block's text reaches the client only if the request shows it (`display: "summarized"`, `enabled`,
    `between_tools`); with `disabled` there is no block at all.
    """

    then: Answer
    text: str = "Let me think about this step by step."


@dataclass(frozen=True)
class Refuse:
    """stop_reason refusal with stop_details, after the text if there is any."""

    text: str = ""


@dataclass(frozen=True)
class Overrun:
    """Text that breaks off with stop_reason max_tokens."""

    text: str


@dataclass(frozen=True)
class ContextExceeded:
    """stop_reason model_context_window_exceeded, after the text if there is any."""

    text: str = ""


@dataclass(frozen=True)
class Pause:
    """stop_reason pause_turn: the client is to send the conversation again, with this turn at its end."""

    text: str = "Still working on it."


@dataclass(frozen=True)
class Served:
    """These blocks exactly, as of a service that has searched, read or run code meanwhile. See `anthropic_serving`."""

    content: tuple[JsonObject, ...]
    stop_reason: str = "end_turn"


@dataclass(frozen=True)
class Fail:
    """An HTTP error before anything was generated; `retry_after` is the header, in seconds."""

    status: int
    type: str
    message: str
    retry_after: float | None = None


@dataclass(frozen=True)
class CutStream:
    """The text, then the socket is closed without the end of the body."""

    text: str


@dataclass(frozen=True)
class EndEarly:
    """The text, then a clean end of the body: no stop_reason, no message_stop.

    Without `stream` the body is complete HTTP but broken JSON.
    """

    text: str


@dataclass(frozen=True)
class ErrorInStream:
    """The text, then an SSE error event under HTTP status 200. Without `stream` a plain HTTP error."""

    type: str = "overloaded_error"
    text: str = "Some text before "


@dataclass(frozen=True)
class Garbage:
    """HTTP 200 with bytes that are neither SSE nor JSON, labelled as what the client expects.

    The default is no UTF-8: a stream raises UnicodeDecodeError. Text makes a stream without any event.
    """

    data: bytes = b"\x00\xff<html>no JSON, no events</html>\x80"


@dataclass(frozen=True)
class Slow:
    """Waits `seconds` before the first byte, then answers. Waits of nested ones add up."""

    seconds: float
    then: Answer


@dataclass(frozen=True)
class Stall:
    """Answers, but pauses `seconds` in the middle of the body."""

    seconds: float
    then: Answer


@dataclass(frozen=True)
class Ping:
    """Answers, but sends nothing but pings for `seconds` in the middle of the body. For streams only."""

    seconds: float
    then: Answer


type Answer = (
    Say
    | UseTools
    | Think
    | Refuse
    | Overrun
    | ContextExceeded
    | Pause
    | Served
    | Fail
    | CutStream
    | EndEarly
    | ErrorInStream
    | Garbage
    | Slow
    | Stall
    | Ping
)
type Handler = Callable[[Request], Answer]
