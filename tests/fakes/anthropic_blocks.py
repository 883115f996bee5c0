"""How a request body is read as blocks: turns, cache breakpoints, canonical JSON, token counts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fakes.anthropic_answers import JsonObject


@dataclass(frozen=True)
class Placed:
    """A block of a conversation with the place that error messages name."""

    path: str
    role: str
    block: JsonObject


def canonical(value: object, *, sort_keys: bool = False) -> str:
    """Compact JSON. Key order stays unless `sort_keys`: the prompt cache sees reordered keys as a change."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)


def count_tokens(text: str) -> int:
    """A quarter of the characters, rounded up."""
    return math.ceil(len(text) / 4)


def blocks_of(content: object) -> list[JsonObject]:
    """A string is shorthand for one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def flatten(messages: list[JsonObject]) -> list[Placed]:
    return [
        Placed(f"messages.{i}.content.{j}", message["role"], block)
        for i, message in enumerate(messages)
        for j, block in enumerate(blocks_of(message["content"]))
    ]


def turns(messages: list[JsonObject]) -> list[list[Placed]]:
    """Blocks by turn: the API combines consecutive messages of one role."""
    result: list[list[Placed]] = []
    for placed in flatten(messages):
        if result and result[-1][0].role == placed.role:
            result[-1].append(placed)
        else:
            result.append([placed])
    return result


def bare(block: JsonObject) -> JsonObject:
    """The block as the model sees it: without cache_control and nulls; moving a breakpoint is no change."""
    result = {key: value for key, value in block.items() if key != "cache_control" and value is not None}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        result["content"] = [bare(inner) for inner in block["content"]]
    return result


def breakpoints(block: JsonObject) -> Iterator[str]:
    """The ttl of every breakpoint on a block and on what a tool_result contains."""
    if marker := block.get("cache_control"):
        yield marker.get("ttl", "5m")
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        for inner in block["content"]:
            yield from breakpoints(inner)


def prompt_blocks(body: JsonObject) -> list[Placed]:
    """The whole prompt in the order in which it is cached: tools, system, messages."""
    tools = [Placed(f"tools.{i}", "tools", tool) for i, tool in enumerate(body.get("tools", []))]
    system = [Placed(f"system.{i}", "system", block) for i, block in enumerate(blocks_of(body.get("system", [])))]
    return [*tools, *system, *flatten(body["messages"])]


def prompt_texts(body: JsonObject) -> list[str]:
    """The canonical JSON of each block of the prompt."""
    return [canonical([placed.role, bare(placed.block)]) for placed in prompt_blocks(body)]


def prompt_tokens(body: JsonObject) -> int:
    return sum(count_tokens(text) for text in prompt_texts(body))
