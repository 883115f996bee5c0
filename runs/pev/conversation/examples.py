"""A short example of a valid answer, made from its contract: small models copy examples better than they read
schemas.
"""

import json
from functools import cache
from typing import cast

from pydantic import JsonValue

from runs.contracts.base import Contract, JsonObject

_MAX_DEPTH = 12  # contracts may contain themselves
_VALUES: JsonObject = {
    "about": "output",
    "confidence": 0.8,
    "criterion": "C1",
    "path": "folder/file.md",
    "quote": "words copied from the source",
    "source": "folder/file.md",
    "step_id": "step-1",
    "tool": "read_file",
}
"""Values for fields in which three dots would mislead or are not allowed."""


def form_of(contract: type[Contract]) -> str:
    """An example of the answer for a prompt; the schema is sent as well to models that honour it."""
    example = json.dumps(example_of(contract), ensure_ascii=False)
    return f"The form of your answer, with your own values in it:\n{example}\n"


@cache
def example_of(contract: type[Contract]) -> JsonObject:
    """One valid answer: every field, one item of each list of objects, the default where there is one."""
    schema = cast("JsonObject", contract.model_json_schema())
    return cast("JsonObject", _example("", schema, cast("JsonObject", schema.get("$defs", {})), _MAX_DEPTH))


def example_at(contract: type[Contract], location: tuple[int | str, ...]) -> JsonValue:
    """The part of the example at a place, where an index means any item; None if the example has no such part."""
    found: JsonValue = example_of(contract)
    for part in location:
        if isinstance(part, int):
            found = found[0] if isinstance(found, list) and found else None
        else:
            found = found.get(part) if isinstance(found, dict) else None
    return found


def _example(name: str, node: JsonObject, definitions: JsonObject, depth: int) -> JsonValue:
    if name in _VALUES and node.get("type") != "array":
        return _VALUES[name]
    if "default" in node:
        return node["default"]
    if isinstance(reference := node.get("$ref"), str):
        node = cast("JsonObject", definitions[reference.removeprefix("#/$defs/")])
    if isinstance(choices := node.get("enum"), list):
        return choices[0]
    match node.get("type"):
        case "object" if depth:
            fields = cast("dict[str, JsonObject]", node.get("properties", {}))
            return {key: _example(key, field, definitions, depth - 1) for key, field in fields.items()}
        case "array" if depth:
            item = _example("", cast("JsonObject", node.get("items", {})), definitions, depth - 1)
            return [item] if isinstance(item, dict) else []
        case "boolean":
            return True
        case "integer" | "number":
            return 1
        case "string":
            return "..."
        case _:
            return None
