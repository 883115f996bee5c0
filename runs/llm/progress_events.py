"""The events of a stream, told to whoever watches the reply while it is written."""

from collections.abc import Callable
from typing import Any

from runs.contracts.ports import Draft
from runs.llm import entrance

_WORDS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Where each kind of delta has its words; others, such as signatures, have none."""

_CALLS = frozenset({"tool_use", "server_tool_use"})


def telling(draft: Draft, answer_tool: str) -> Callable[[Any], None]:
    """A function of one event of the stream. An answer that comes as a tool's input is told as text.

    Nothing of an event is taken for granted: the library hands on whatever the service has sent.
    """

    def tell(event: Any) -> None:
        match event.type:
            case "content_block_start":
                block = getattr(event, "content_block", None)
                kind = str(getattr(block, "type", ""))
                name = getattr(block, "name", "") if kind in _CALLS else ""
                tool = entrance.name(name, entrance.MAX_TOOL_NAME)
                if tool and tool == answer_tool:
                    kind, tool = "text", ""
                draft.begin(kind, tool)
            case "content_block_delta":
                delta = getattr(event, "delta", None)
                words = getattr(delta, _WORDS.get(str(getattr(delta, "type", "")), ""), "")
                if isinstance(words, str) and words:
                    draft.add(words)

    return tell
