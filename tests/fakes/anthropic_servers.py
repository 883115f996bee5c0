"""Other servers that speak the Messages API: what each makes of the parameters that it takes.

They take everything the types allow. What a server does not honour it ignores in silence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.anthropic_answers import Answer, Handler, JsonObject, Request, Say, ToolUse, UseTools


@dataclass(frozen=True)
class Dialect:
    """`sees`: pictures and PDF files get to the model. `closes`: the socket is closed after each reply, although it was
    promised to stay. `window`: what the list of models says of every model.
    """

    format: bool = True
    tools: bool = True
    forced_tool: bool = True
    no_tools: bool = True
    usage: bool = True
    sees: bool = True
    models: bool = True
    window: int | None = None
    closes: bool = False


ANTHROPIC = Dialect()
LLAMA_CPP = Dialect(format=False, forced_tool=False, no_tools=False, sees=False, models=False, closes=True)
OLLAMA = Dialect(format=False, forced_tool=False, no_tools=False, sees=False)
VLLM = Dialect(sees=False, models=False)
FORCING = Dialect(format=False)
"""Honours a named tool and not the format, as gateways do."""


def served(dialect: Dialect, model: Handler) -> Handler:
    """What comes out of the server when the model behind it is left to itself, or made to obey."""

    def handle(request: Request) -> Answer:
        choice: Mapping[str, Any] = request.body.get("tool_choice", {"type": "auto"})
        if not dialect.sees and any(block["type"] in {"image", "document"} for block in request.last_blocks):
            return Say("I see nothing.")
        answer = model(request)
        if choice["type"] == "tool" and dialect.forced_tool:
            wanted = next(tool for tool in request.tools if tool["name"] == choice["name"])
            return UseTools(ToolUse(wanted["name"], _forced(answer, wanted["input_schema"])))
        if isinstance(answer, UseTools) and (not dialect.tools or (choice["type"] == "none" and dialect.no_tools)):
            return Say("I would have called a tool.")
        if request.output_format and dialect.format and not isinstance(answer, UseTools):
            return Say(json.dumps(_forced(answer, request.output_format)))
        return answer

    return handle


def obedient(request: Request) -> Answer:
    """A model that calls the first tool when it is told to call a tool, judges what it is to judge in the form that it
    is shown, says what it sees, and hello otherwise.
    """
    seen = [block["type"] for block in request.last_blocks if block["type"] in {"image", "document"}]
    if seen:
        return Say("Yellow, black." if seen == ["image", "image"] else "“Heliotrope”.")
    if request.tools and "call the tool" in request.last_text.lower():
        tool = request.tools[0]
        return UseTools(ToolUse(tool["name"], _instance(tool["input_schema"])))
    if "Judge both" in request.last_text:
        return Say(json.dumps(_twice(json.loads(request.system.strip().rpartition("\n")[2]))))
    return Say("hello")


def small(request: Request) -> Answer:
    """The same, but it writes prose where the form of the answer is large."""
    return Say("Both are fine.") if "Judge both" in request.last_text else obedient(request)


def _twice(verdict: JsonObject) -> JsonObject:
    [judged] = verdict["criteria_results"]
    return {**verdict, "criteria_results": [judged, {**judged, "criterion": "C2"}]}


def _forced(answer: Answer, schema: JsonObject) -> JsonObject:
    """What the model said if it is an object, else the least that fits the schema."""
    try:
        said = json.loads(answer.text) if isinstance(answer, Say) else None
    except ValueError:
        said = None
    return said if isinstance(said, dict) else _instance(schema)


def _instance(schema: JsonObject) -> JsonObject:
    """An object with the first word that each property allows."""
    return {name: (part.get("enum") or ["x"])[0] for name, part in schema.get("properties", {}).items()}
