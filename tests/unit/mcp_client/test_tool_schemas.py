"""Schemas of tools: what the Messages API refuses, and what is rewritten so that it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.errors import InvalidInput
from runs.mcp_client.mcp_answers import accepted_schema

TEXT = {"type": "string"}
FILTERS = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        arguments(name=TEXT, when={"type": ["string", "null"], "format": "date"}),
        arguments(**{"a.b-c_1": TEXT, "x" * 64: TEXT}),
        arguments(choice={"anyOf": [TEXT, {"type": "integer"}], "default": None}),
        arguments(query={"type": "object", "properties": {"$filter": TEXT, "two words": TEXT}}),
        {**arguments(node={"$ref": "#/$defs/Node"}), "$defs": {"Node": arguments(next={"$ref": "#/$defs/Node"})}},
        {**arguments(a={"$ref": "#here"}), "$defs": {"A": {"$anchor": "here", **TEXT}}},
        arguments(type={"enum": ["any", "int"]}, default={"const": {"$ref": "nowhere", "type": "any"}}),
        arguments(nullable={"type": "string", "nullable": True, "example": "x"}),
    ],
)
def test_a_schema_that_the_api_takes_stays_as_it_is(schema: dict[str, Any]) -> None:
    assert accepted_schema(schema) == schema


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        ({}, {"type": "object"}),
        ({"properties": {"a": TEXT}}, arguments(a=TEXT)),
        ({"type": ["object", "null"]}, {"type": "object"}),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "$id": "x", **FILTERS}, FILTERS),
        (
            {"$ref": "#/definitions/Filters", "definitions": {"Filters": FILTERS}, "description": "What to look for"},
            {**FILTERS, "definitions": {"Filters": FILTERS}, "description": "What to look for"},
        ),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"properties": {"a": TEXT}}}},
            {**arguments(a=TEXT), "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"properties": {"a": TEXT}}}},
        ),
        (
            arguments(pair={"type": "array", "items": [TEXT, TEXT], "additionalItems": False}),
            arguments(pair={"type": "array", "prefixItems": [TEXT, TEXT], "items": False}),
        ),
        (arguments(none={"items": [], "additionalItems": TEXT}), arguments(none={"items": TEXT})),
        (
            arguments(n={"minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False}),
            arguments(n={"exclusiveMinimum": 1, "maximum": 9}),
        ),
        (arguments(word={"type": "string", "pattern": r"^\p{L}+$"}), arguments(word=TEXT)),
        (
            {"type": "object", "$defs": {"Deep": {"not": {"contains": {"items": [TEXT]}}}}},
            {"type": "object", "$defs": {"Deep": {"not": {"contains": {"prefixItems": [TEXT]}}}}},
        ),
    ],
)
def test_what_can_be_said_otherwise_is_rewritten(schema: dict[str, Any], accepted: dict[str, Any]) -> None:
    before = json.dumps(schema)
    assert accepted_schema(schema) == accepted
    assert json.dumps(schema) == before, "the schema that was given stays as it was"
    assert accepted_schema(accepted) == accepted


TOP = "its schema has {} at the top, which the API refuses"
NAME = "the API refuses the name of its argument “{}”: names of arguments have 1 to 64 letters, digits, dots, _ and -"
TYPE = "its schema has a type that does not exist, at {}: {}"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "object", "oneOf": [FILTERS]}, TOP.format("oneOf")),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], **arguments(a=TEXT)}, TOP.format("anyOf")),
        ({"allOf": []}, TOP.format("allOf")),
        ({"$ref": "#/$defs/A", "$defs": {"A": {"oneOf": [FILTERS]}}}, TOP.format("oneOf")),
        (arguments(**{"$filter": TEXT}), NAME.format("$filter")),
        (arguments(**{"two words": TEXT}), NAME.format("two words")),
        (arguments(**{"filter[id]": TEXT}), NAME.format("filter[id]")),
        (arguments(größe=TEXT), NAME.format("größe")),
        (arguments(**{"": TEXT}), NAME.format("")),
        (arguments(**{"a\n": TEXT}), NAME.format("a\n")),
        (arguments(**{"x" * 65: TEXT}), NAME.format("x" * 64)),
        (arguments(a={"type": "any"}), TYPE.format("properties/a/type", "any")),
        (arguments(a={"type": "array", "items": {"type": "int"}}), TYPE.format("properties/a/items/type", "int")),
        (arguments(a={"type": ["string", "file"]}), TYPE.format("properties/a/type", "['string', 'file']")),
        (arguments(a={"type": None}), TYPE.format("properties/a/type", "None")),
        ({"type": "array", "items": TEXT}, "its arguments are no object"),
        ({"type": "string"}, "its arguments are no object"),
        (arguments(a={"$ref": "#/$defs/Missing"}), "its schema refers to “#/$defs/Missing”, which is not in it"),
        (
            arguments(a={"$ref": "https://example.com/a.json"}),
            "its schema refers to “https://example.com/a.json”, which is not in it",
        ),
        (arguments(a={"items": {"$ref": "#there"}}), "its schema refers to “#there”, which is not in it"),
        ({"$ref": "#"}, "its schema has a $ref at the top that leads to itself"),
        ({"$ref": "#/nothing"}, "its schema refers to “#/nothing”, which is not in it"),
    ],
)
def test_what_the_api_refuses_is_refused_with_the_reason(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        accepted_schema(schema)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": "string"}},
        {"type": "object", "required": "a"},
        arguments(a={"type": "string", "required": True}),
        arguments(a={"enum": "a"}),
        arguments(a={"minLength": -1}),
        arguments(a={"items": 3}),
        arguments(a={"anyOf": {}}),
        {"type": "object", "$defs": 1},
    ],
)
def test_what_is_no_json_schema_is_refused_with_its_place(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^its schema is not valid JSON Schema 2020-12, at "):
        accepted_schema(schema)


def test_a_schema_with_too_many_levels_is_refused() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(45):
        deep = arguments(a=deep)
    assert accepted_schema(deep) == deep
    for _ in range(500):
        deep = arguments(a=deep)
    with pytest.raises(InvalidInput, match="more than 100 levels"):
        accepted_schema(deep)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(InvalidInput, match="a number that JSON does not have"):
        accepted_schema({"type": "object", "properties": {"a": {"maximum": number}}})
