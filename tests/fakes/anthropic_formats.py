"""The limits of structured output: what schemas of output_config.format and strict tools may contain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache

from tests.fakes.anthropic_answers import JsonObject

MAX_OPTIONAL = 24
MAX_UNIONS = 16

_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLES = ("items", "additionalProperties", "not", "contains")
_LIMITS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength")
) | {"maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}


def format_errors(body: JsonObject) -> Iterator[str]:
    """Every reason for which the API would not compile the schemas of this request."""
    yield from _errors(json.dumps(dict(_strict_schemas(body))))


@lru_cache(maxsize=1_000)
def _errors(schemas: str) -> list[str]:
    """The same for schemas by their paths, as JSON: most requests have those of the request before."""
    return list(_reasons(json.loads(schemas)))


def _reasons(schemas: Mapping[str, JsonObject]) -> Iterator[str]:
    for path, schema in schemas.items():
        yield from _object_errors(path, schema)
        if _is_recursive(schema):
            yield f"{path}: Recursive schemas are not supported"
    nodes = [node for schema in schemas.values() for node in _subschemas(schema)]
    if (optional := sum(_optional(node) for node in nodes)) > MAX_OPTIONAL:
        yield f"schemas: {optional} optional parameters exceed the limit of {MAX_OPTIONAL}"
    if (unions := sum(_is_union(node) for node in nodes)) > MAX_UNIONS:
        yield f"schemas: {unions} parameters with union types exceed the limit of {MAX_UNIONS}"


def _strict_schemas(body: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    if output := (body.get("output_config") or {}).get("format"):
        yield "output_config.format.schema", output["schema"]
    for i, tool in enumerate(body.get("tools", [])):
        if tool.get("strict") and "input_schema" in tool:
            yield f"tools.{i}.input_schema", tool["input_schema"]


def _subschemas(node: object) -> Iterator[JsonObject]:
    """`node` and all schemas in it; a property that is called `maximum` is not mistaken for a limit."""
    if not isinstance(node, dict):
        return
    yield node
    for key in _MAPS:
        for child in (node.get(key) or {}).values():
            yield from _subschemas(child)
    for key in _LISTS:
        for child in node.get(key) or []:
            yield from _subschemas(child)
    for key in _SINGLES:
        yield from _subschemas(node.get(key))


def _object_errors(path: str, schema: JsonObject) -> Iterator[str]:
    for node in _subschemas(schema):
        if _is_object(node) and node.get("additionalProperties") is not False:
            yield f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        if limits := sorted(_LIMITS & node.keys()):
            yield f"{path}: For '{node.get('type')}' type, {', '.join(limits)} is not supported"
        # 0 and 1 are what the package's transform_schema leaves in place.
        if node.get("minItems", 0) not in (0, 1):
            yield f"{path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported"


def _is_object(node: JsonObject) -> bool:
    kind = node.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in node


def _optional(node: JsonObject) -> int:
    return len(set(node.get("properties") or {}) - set(node.get("required") or []))


def _is_union(node: JsonObject) -> bool:
    return "anyOf" in node or "oneOf" in node or isinstance(node.get("type"), list)


def _is_recursive(schema: JsonObject) -> bool:
    """Whether following $ref from any definition leads back to it. References to nowhere pass."""
    return any(_leads_back(schema, ref, (ref,)) for ref in _refs(schema))


def _leads_back(schema: JsonObject, ref: str, trail: tuple[str, ...]) -> bool:
    onward = _refs(_resolve(schema, ref))
    return any(step in trail or _leads_back(schema, step, (*trail, step)) for step in onward)


def _refs(node: object) -> set[str]:
    return {part["$ref"] for part in _subschemas(node) if isinstance(part.get("$ref"), str)}


def _resolve(schema: JsonObject, ref: str) -> object:
    node: object = schema
    for part in ref.removeprefix("#").strip("/").split("/"):
        if part:
            node = node.get(part) if isinstance(node, dict) else None
    return node
