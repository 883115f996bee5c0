"""Schemas from outside: what they decide, what is refused, and that no hostile one hangs or fetches."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.evidence.results import Evidence
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.json_schema import JsonSchema
from runs.pev.checks.material import CheckInput
from tests.unit.pev import slow


def schema(rules: object) -> JsonSchema:
    return JsonSchema(kind="json_schema", path="a.json", schema_text=json.dumps(rules))


def outcome(check: JsonSchema, content: str) -> tuple[bool, str]:
    evidence = run_check(check, CheckInput({"a.json": content.encode()}))
    return evidence.verified, evidence.sentence


def test_schema() -> None:
    rules = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
    }
    assert outcome(schema(rules), '{"a": [1]}') == (True, "a.json follows the schema")
    missing = "a.json breaks the schema: 'a' is a required property"
    assert outcome(schema(rules), "{}") == (False, missing)
    wrong = "a.json breaks the schema: 'x' is not of type 'integer', at a/1"
    assert outcome(schema(rules), '{"a": [1, "x"]}') == (False, wrong)
    assert outcome(schema(rules), "{")[1].startswith("a.json is not valid JSON: ")


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ({"pattern": r"^\p{Lu}"}, "Äb", "äb"),
        ({"patternProperties": {"^n_": {"type": "number"}}}, {"n_a": 1, "b": "x"}, {"n_a": "x"}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "null"}},
            {"x1": 1, "b": None},
            {"b": 1},
        ),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}], [{"a": [1]}, {"a": [1.0]}]),
        ({"anyOf": [{"type": "null"}, {"minimum": 3}]}, 3, 2),
        ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, 3, 1),
        (
            {"$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "type": "array"}}, "$ref": "#/$defs/t"},
            [[], [[]]],
            [[1]],
        ),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "null"}]},
            [None],
            [1],
        ),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://x.example/s",
                "$ref": "#/$defs/a",
                "$defs": {"a": {"const": 1}},
            },
            1,
            2,
        ),
        (
            {"properties": {"id": {"type": "string"}, "pattern": {"type": "string"}}},
            {"id": "1"},
            {"pattern": 1},
        ),
        (True, 1, None),
    ],
)
def test_keywords(rules: object, good: object, bad: object) -> None:
    assert problem_with(schema(rules)) is None
    assert outcome(schema(rules), json.dumps(good)) == (True, "a.json follows the schema")
    if rules is not True:
        assert outcome(schema(rules), json.dumps(bad))[1].startswith("a.json breaks the schema: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting property name"),
        ("[]", "it is not a JSON object"),
        ('{"type": "strange"}', "'strange' is not valid under any of the given schemas"),
        ('{"$ref": "https://example.com/s.json"}', "$ref may only point into the schema itself"),
        ('{"allOf": [{"$ref": "file:///etc/passwd"}]}', "$ref may only point into the schema itself"),
        ('{"$ref": "http://json-schema.org/draft-07/schema#"}', "$ref may only point into"),
        (
            '{"items": {"$schema": "http://json-schema.org/draft-07/schema#"}}',
            "$schema may only stand at the top",
        ),
        ('{"items": {"$id": "http://x.example/"}}', "$id may only stand at the top"),
        ('{"unevaluatedProperties": false}', "unevaluatedProperties is not supported"),
        ('{"x": {"$dynamicRef": "#meta"}}', "$dynamicRef is not supported"),
        ('{"items": {"pattern": "("}}', "the pattern “(” in it cannot be used"),
        ('{"pattern": "a{2000000000}"}', "its counted repeats come to more than"),
        ('{"patternProperties": {"[": {}}}', "the pattern “[” in it cannot be used"),
        ('{"items":' * 500 + "{}" + "}" * 500, "it is nested too deeply"),
        ("[" * 19_000, "it is nested too deeply"),
        (" " * 20_001, "it has 20,001 characters and may have 20,000"),
    ],
)
def test_a_schema_that_cannot_be_used(text: str, why: str) -> None:
    check = JsonSchema(kind="json_schema", path="a.json", schema_text=text)
    problem = problem_with(check) or ""
    assert problem.startswith("The schema cannot be used: ")
    assert why in problem
    held, sentence = outcome(check, "{}")
    assert not held
    assert sentence.startswith("a.json was not compared with the schema: ")


DOUBLING = {
    "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)} | {"40": {"type": "object"}},
    "$ref": "#/$defs/0",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "content"),
    [
        ({"pattern": slow.PATTERN}, json.dumps(slow.TEXT)),
        ({"patternProperties": {slow.PATTERN: {}}}, json.dumps({slow.TEXT: 1})),
        (
            {"patternProperties": {slow.PATTERN: {}}, "additionalProperties": False},
            json.dumps({slow.TEXT: 1}),
        ),
        (DOUBLING, "{}"),
        ({"$ref": "#"}, "1"),
        ({"$ref": "#/$defs/nowhere"}, "1"),
        ({"$ref": "#/x", "x": {"type": 7}}, "1"),
        ({"$ref": "#/properties", "properties": {"$schema": True, "pattern": {}}}, "1"),
        ({"items": {"title": "x"}}, "[" + "1," * 500_000 + "1]"),
        ({"anyOf": [False] * 2_500}, json.dumps(["a" * 50] * 20_000)),
        ({"anyOf": [{"allOf": [False] * 2_400}]}, json.dumps(["a" * 50] * 20_000)),
        ({"uniqueItems": True, "not": {}}, json.dumps([{"a": n} for n in range(50_000)])),
    ],
    ids=[
        "pattern",
        "names",
        "closed",
        "doubling",
        "loop",
        "nowhere",
        "type",
        "hidden",
        "many",
        "reprs",
        "deep",
        "unique",
    ],
)
def test_a_hostile_schema_neither_hangs_nor_holds(rules: object, content: str) -> None:
    evidence = run_check(schema(rules), CheckInput({"a.json": content.encode()}), seconds=0.2)
    assert evidence.verified is False


KEYWORDS = st.sampled_from(
    [
        "$ref",
        "$id",
        "$schema",
        "$anchor",
        "x",
        "type",
        "items",
        "properties",
        "pattern",
        "patternProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "additionalProperties",
        "enum",
        "const",
        "required",
        "multipleOf",
        "dependentSchemas",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["object", "#", "#/x", "(", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_no_schema_makes_a_check_raise(rules: object, value: object) -> None:
    problem_with(schema(rules))
    assert isinstance(run_check(schema(rules), CheckInput({"a.json": json.dumps(value).encode()})), Evidence)
