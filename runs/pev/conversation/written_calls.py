"""Tool calls that a model writes as its text, as small models do where their server does not recognise them.

| the whole text | written by |
|---|---|
| `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, once or several times | Qwen, Hermes |
| `[TOOL_CALLS] [{"name": …, "arguments": {…}}, …]` | Mistral |
| a code block with such an object, or a list of them; the object alone | others, some with `parameters` |

Nothing is guessed: the tool has to be there, and its input has to be valid.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from runs.contracts.base import JsonObject
from runs.contracts.ports import Ask, Reply, ToolSpec
from runs.errors import InvalidInput
from runs.pev.conversation.asking import added, assistant, unwrapped
from runs.text.json_schemas import parsed, problem_with_value, read_schema
from runs.text.patterns import Budget, TooSlow
from runs.text.truncate import cut_after

MAX_CHARACTERS = 400_000
"""Characters of a text that is searched for calls. A call may write a file."""
_TAGGED = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)\s*", re.DOTALL)
_LIST = re.compile(r"\[TOOL_CALLS\]\s*")
_ARGUMENTS = ("arguments", "parameters")
_MAX_NAMED = 12
HOW = (
    "You have written a tool call as text, so nothing was done. Call the tool itself, in the way that your service has "
    "for tools, one tool at a time, and write nothing around it. When everything is done, answer with your report."
)


def read_calls(reply: Reply, ask: Ask) -> tuple[Reply, str]:
    """The reply with the calls that its text is, and an empty text; or the reply as it is, and what is wrong with the
    calls, for the model. A text that is no such call has nothing wrong. The same reply to the same question gives the
    same calls, with the same ids (D3).
    """
    if reply.tool_uses or reply.stop_reason not in ("end_turn", "stop_sequence", "tool_use"):
        return reply, ""
    values = _calls_in(reply.text)
    if not values:
        return reply, ""
    tools = {tool.name: tool for tool in ask.tools if tool.service is None}
    blocks: list[JsonObject] = []
    for number, value in enumerate(values, 1):
        name, arguments = _name_and_arguments(value)
        if problem := _problem_with(name, arguments, tools):
            return reply, f"{problem} {HOW}"
        key = f"written-{len(ask.messages)}-{number}"
        blocks.append({"type": "tool_use", "id": key, "name": name, "input": arguments})
    return replace(reply, content=tuple(blocks), stop_reason="tool_use"), ""


def told_how(ask: Ask, reply: Reply, problem: str) -> Ask:
    """The conversation with this reply, and the errors of the calls that it has written as text."""
    return added(replace(ask, messages=(*ask.messages, assistant(reply))), problem)


def _calls_in(text: str) -> Sequence[JsonValue]:
    """The calls in a text that has nothing else; empty otherwise."""
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS:
        return ()
    if text.startswith("<tool_call>"):
        if _TAGGED.sub("", text):
            return ()
        return [_value(part[1]) for part in _TAGGED.finditer(text)]
    if found := _LIST.match(text):
        value = _value(text[found.end() :])
        return value if isinstance(value, list) and value else [value]
    value = _value(unwrapped(text))
    values = value if isinstance(value, list) else [value]
    return values if all(map(_is_call, values)) else ()


def _value(text: str) -> JsonValue:
    try:
        return parsed(text.strip(), once=True)
    except InvalidInput:
        return None


def _is_call(value: JsonValue) -> bool:
    return isinstance(value, dict) and "name" in value and any(isinstance(value.get(key), dict) for key in _ARGUMENTS)


def _name_and_arguments(value: JsonValue) -> tuple[str, JsonObject | None]:
    """Empty for a value with more than the name, the arguments and an id, because it may mean something else."""
    if not isinstance(value, dict) or not value.keys() <= {"name", "id", "type", *_ARGUMENTS}:
        return "", None
    name, given = value.get("name"), [value[key] for key in _ARGUMENTS if key in value]
    arguments = given[0] if len(given) == 1 else None
    return (name if isinstance(name, str) else ""), (arguments if isinstance(arguments, dict) else None)


def _problem_with(name: str, arguments: JsonObject | None, tools: Mapping[str, ToolSpec]) -> str:
    """Why nothing is called, as a sentence; empty if the call is sound."""
    if not name or arguments is None:
        return "A call is one JSON object with `name` and `arguments`."
    if name not in tools:
        there = ", ".join(f"`{one}`" for one in list(tools)[:_MAX_NAMED])
        return f"There is no tool `{cut_after(name, 60)}`; there are {there or 'none'}."
    try:
        schema = read_schema(json.dumps(tools[name].input_schema))
        problem = problem_with_value(arguments, schema, Budget())
    except (InvalidInput, TooSlow):
        problem = "its input could not be checked"
    return f"The input of `{name}` is not valid: {cut_after(problem, 300)}." if problem else ""
