"""The rules on requests that types cannot say: tool pairing, breakpoints, what each model takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tests.fakes.anthropic_answers import JsonObject
from tests.fakes.anthropic_blocks import Placed, breakpoints, flatten, prompt_blocks, turns
from tests.fakes.anthropic_formats import format_errors
from tests.fakes.anthropic_models import MODELS
from tests.fakes.anthropic_schema import schema_error
from tests.fakes.anthropic_serving import serving_errors

MAX_BREAKPOINTS = 4
_FORMS = {"id": r"^[a-zA-Z0-9_-]+\Z", "name": r"^[a-zA-Z0-9_-]{1,128}\Z"}
"""Of the id and the name of a tool call."""
_SAMPLING = ("temperature", "top_p", "top_k")


def request_error(body: object, *, counting: bool = False) -> str | None:
    """Why the API would answer 400, or None. What depends on earlier answers is in `anthropic_ledger`."""
    if isinstance(body, dict) and (gone := [name for name in _SAMPLING if name in body]):
        return f"{gone[0]}: this parameter is not supported"
    if error := schema_error(body, counting=counting):
        return error
    assert isinstance(body, dict)
    return next(_broken_rules(body), None)


def _broken_rules(body: JsonObject) -> Iterator[str]:
    yield from _first_message(body)
    yield from _texts(body)
    yield from _tool_pairing(body)
    yield from _breakpoint_count(body)
    yield from _tool_choice(body)
    yield from _thinking(body)
    yield from _effort(body)
    yield from format_errors(body)
    yield from serving_errors(body)


def _first_message(body: JsonObject) -> Iterator[str]:
    messages = body["messages"]
    if not messages:
        yield "messages: at least one message is required"
    elif messages[0]["role"] != "user":
        yield "messages: first message must use the `user` role"
    for i, message in enumerate(messages):
        if not message["content"]:
            yield f"messages.{i}: all messages must have non-empty content"


def _texts(body: JsonObject) -> Iterator[str]:
    placed = flatten(body["messages"])
    for part in placed:
        if part.block["type"] == "text" and not part.block["text"].strip():
            yield f"{part.path}: text content blocks must contain non-whitespace text"
        if part.block["type"] == "tool_result" and part.block.get("is_error") and not part.block.get("content"):
            yield f"{part.path}: content cannot be empty if `is_error` is true"
    for part, after in pairwise(placed):
        thinks = part.block["type"] in ("thinking", "redacted_thinking")
        if part.role == "assistant" and after.role != part.role and thinks:
            yield f"{part.path}: The final block in an assistant message cannot be `{part.block['type']}`"


def _tool_pairing(body: JsonObject) -> Iterator[str]:
    """Walks the turns; `asked` are the ids the next turn has to answer."""
    asked: list[str] = []
    seen: set[str] = set()
    for turn in turns(body["messages"]):
        yield from _misplaced(turn)
        yield from _answers(turn, asked)
        calls = [part for part in turn if part.block["type"] == "tool_use"]
        for key, rule in _FORMS.items():
            yield from (f"{one.path}.{key}: must match {rule}" for one in calls if not re.search(rule, one.block[key]))
        asked = [part.block["id"] for part in calls]
        if len({*asked} | seen) < len(asked) + len(seen):
            yield f"{turn[0].path}: `tool_use` ids must be unique"
        seen.update(asked)
    if asked:
        yield f"messages: `tool_use` ids were found without `tool_result` blocks immediately after: {asked}"


def _misplaced(turn: list[Placed]) -> Iterator[str]:
    owner = {"tool_use": "assistant", "tool_result": "user"}
    late = False
    for part in turn:
        kind = part.block["type"]
        if owner.get(kind, part.role) != part.role:
            yield f"{part.path}: `{kind}` blocks can only be in `{owner[kind]}` messages"
        if kind == "tool_result" and late:
            yield f"{part.path}: `tool_result` blocks must come first in their message"
        late = late or kind != "tool_result"


def _answers(turn: list[Placed], asked: list[str]) -> Iterator[str]:
    path = turn[0].path
    given = Counter(part.block["tool_use_id"] for part in turn if part.block["type"] == "tool_result")
    if missing := [id_ for id_ in asked if not given[id_]]:
        yield f"{path}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
    if stray := [id_ for id_ in given if id_ not in asked]:
        yield f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}"
    if twice := [id_ for id_, count in given.items() if count > 1]:
        yield f"{path}: each `tool_use` must have a single result, found several for {twice}"


def _breakpoint_count(body: JsonObject) -> Iterator[str]:
    found = sum(1 for placed in prompt_blocks(body) for _ in breakpoints(placed.block))
    found += bool(body.get("cache_control"))
    if found > MAX_BREAKPOINTS:
        yield f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {found}."


def _tool_choice(body: JsonObject) -> Iterator[str]:
    choice = body.get("tool_choice", {}).get("type", "auto")
    card = MODELS.get(body["model"])
    if card and not card.forced_tool_choice and choice in ("any", "tool"):
        yield f"tool_choice: '{choice}' is not supported by {card.id}"


def _thinking(body: JsonObject) -> Iterator[str]:
    kind = body.get("thinking", {}).get("type")
    card = MODELS.get(body["model"])
    if kind and card and kind not in card.thinking:
        yield f'"thinking.type.{kind}" is not supported for {card.id}, which takes {sorted(card.thinking)}'


def _effort(body: JsonObject) -> Iterator[str]:
    effort = (body.get("output_config") or {}).get("effort")
    card = MODELS.get(body["model"])
    if effort and card and effort not in card.efforts:
        yield f"output_config.effort: '{effort}' is not supported by {card.id}"
