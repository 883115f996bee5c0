"""The JSON Schema of a contract, as it is sent along with a request for an answer in its shape."""

from collections.abc import Callable
from functools import cache
from typing import cast

from pydantic import JsonValue

from runs.pev.contracts import Contract, JsonObject


@cache
def schema_for(contract: type[Contract]) -> JsonObject:
    """JSON Schema in the dialect of the API: closed objects, every property required, no bounds. Not to be changed.

    Fields with a default are listed as required too, since the API allows 24 optional parameters only.
    """
    from anthropic import transform_schema  # two seconds to import: only for those who ask a model

    schema = cast("JsonObject", transform_schema(contract))
    _each_object(schema, lambda node: node.update(required=list(cast("JsonObject", node["properties"]))))
    return schema


def _each_object(node: JsonValue, do: Callable[[JsonObject], None]) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and node.get("type") == "object":
            do(node)
        for value in node.values():
            _each_object(value, do)
    elif isinstance(node, list):
        for value in node:
            _each_object(value, do)
