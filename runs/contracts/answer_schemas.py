"""JSON Schemas of contracts, as they are sent with a request for an answer of that shape."""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import cast

from pydantic import JsonValue

from runs.contracts.base import Contract, JsonObject

_NOTHING = re.compile(r"(?:default: , |default: \[\], |, minLength: 1|\{(?:default: (?:\[\])?|minLength: 1)\})")
"""Matches bounds that say nothing when they are moved into a field's description."""


@cache
def schema_for(contract: type[Contract]) -> JsonObject:
    """Returns a JSON Schema in the API's dialect: closed objects, all properties required, no bounds. It must not be
    modified.

    Fields with a default are required too, because the API allows only 24 optional parameters.
    """
    from anthropic import transform_schema  # takes two seconds to import, and only processes that ask a model need it

    schema = cast("JsonObject", transform_schema(contract))
    _each_object(schema, lambda node: node.update(required=list(cast("JsonObject", node["properties"]))))
    _shortened(schema)
    return schema


def _shortened(node: JsonValue, *, of_names: bool = False) -> None:
    """Removes titles, which repeat the names, and bounds that say nothing. `of_names`: the keys of this node are names
    of fields, and `title` may be one of them.
    """
    if isinstance(node, dict):
        if not of_names:
            node.pop("title", None)
            if isinstance(description := node.get("description"), str):
                node["description"] = _NOTHING.sub("", description).strip()
            if not node.get("description", "said"):
                del node["description"]
        for key, value in node.items():
            _shortened(value, of_names=not of_names and key in {"properties", "$defs"})
    elif isinstance(node, list):
        for value in node:
            _shortened(value)


def _each_object(node: JsonValue, do: Callable[[JsonObject], None]) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            do(node)
        for value in node.values():
            _each_object(value, do)
    elif isinstance(node, list):
        for value in node:
            _each_object(value, do)


def schema_in_words(schema: JsonObject) -> str:
    """Returns the schema as text, for the prompt of a model that does not support a response format."""
    return f"Its schema:\n{json.dumps(schema, sort_keys=True, separators=(',', ':'), ensure_ascii=False)}\n"
