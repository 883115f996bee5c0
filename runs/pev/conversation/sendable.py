"""A conversation in the form in which the Messages API accepts it. Some servers and gateways write replies that the
API, or they themselves, refuse when they are sent again: blank text blocks, ids of tool calls that are empty or repeat,
names that no tool can have. The journal keeps the reply as it was, so that a resumed attempt asks the same.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.contracts.ports import arguments_of, call_id

NOTHING_SAID = "(no text)"
"""Replaces a blank text where the API demands a text."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME = 64  # characters that the API allows in the name of a tool
_UNNAMED = "unnamed"
_CALLS = frozenset({"tool_use", "server_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


class CallIds:
    """The ids of the tool calls of one conversation. Each is used once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._number = 0

    def unique(self, content: Iterable[JsonObject]) -> tuple[JsonObject, ...]:
        """The blocks of a reply. Each of our calls whose id is used already, or refused by the API, gets
        another one.
        """
        return tuple(self._with_id(block) for block in content)

    def _with_id(self, block: JsonObject) -> JsonObject:
        if block.get("type") not in _CALLS:
            return block
        self._number += 1
        key = call_id(block)
        if block["type"] == "tool_use" and (key in self._taken or not _ID.fullmatch(key)):
            while (key := f"call-{self._number}") in self._taken:
                self._number += 1  # never goes back, so that all calls together take linear time
            block = {**block, "id": key}
        self._taken.add(key)
        return block


def sendable(messages: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """The messages without what the API refuses. Thinking, calls and results stay as they are, but for ids of calls
    that repeat or are malformed, which are replaced in the call and in its result, and for names and arguments that are
    malformed.
    """
    ids = CallIds()
    open_ids: dict[str, deque[str]] = {}
    sent: list[JsonObject] = []
    for number, message in enumerate(messages):
        blocks = _blocks(message["content"])
        if message["role"] == "assistant":
            if number == 0 or messages[number - 1]["role"] != "assistant":
                open_ids = defaultdict(deque)
            rewritten = ids.unique(blocks)
            for before, after in zip(blocks, rewritten, strict=True):
                if before.get("type") == "tool_use":
                    open_ids[call_id(before)].append(call_id(after))
            blocks = [_call(block) if block.get("type") == "tool_use" else block for block in rewritten]
        else:
            blocks = [_result(block, open_ids) if block.get("type") == "tool_result" else block for block in blocks]
        sent.append({**message, "content": _said(blocks, str(message["role"]))})
    return tuple(sent)


def _blocks(content: JsonValue) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _said(blocks: Sequence[JsonObject], role: str) -> list[JsonValue]:
    """The blocks without blank texts. A message needs at least one block, and a model's message must not end with
    thinking.
    """
    # Services refuse blank texts.
    kept: list[JsonValue] = [
        block for block in blocks if not (block.get("type") == "text" and not str(block.get("text") or "").strip())
    ]
    last = kept[-1] if kept else None
    if last is None or (role == "assistant" and isinstance(last, dict) and last.get("type") in _THOUGHTS):
        kept.append({"type": "text", "text": NOTHING_SAID})
    return kept


def _call(block: JsonObject) -> JsonObject:
    name = block.get("name")
    fitting = _NOT_OF_A_NAME.sub("_", name)[:_MAX_NAME] if isinstance(name, str) else ""
    return {**block, "name": fitting or _UNNAMED, "input": arguments_of(block)}


def _result(block: JsonObject, open_ids: dict[str, deque[str]]) -> JsonObject:
    """Results of calls with the same id come in the order of the calls."""
    key = block.get("tool_use_id")
    waiting = open_ids.get(key if isinstance(key, str) else "")
    if waiting:
        block = {**block, "tool_use_id": waiting.popleft()}
    is_blank = not block.get("content") or (isinstance(block["content"], str) and not block["content"].strip())
    return {**block, "content": NOTHING_SAID} if is_blank and block.get("is_error") else block
