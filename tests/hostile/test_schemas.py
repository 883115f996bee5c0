"""Hostile JSON and JSON Schemas: deep, doubling, going round, and with values that are dear to compare or to show."""

import json

import pytest

from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.json_schema import JsonSchema
from runs.pev.checks.material import CheckInput
from tests.hostile.bounds import within


def doubling(keyword: str, levels: int = 30) -> dict[str, object]:
    """Each definition refers twice to the next."""
    refs = {str(n): {keyword: [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**refs, str(levels): {"type": "object"}}, "$ref": "#/$defs/0"}


def round_and_round(keyword: str) -> dict[str, object]:
    return {"$defs": {"a": {keyword: {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}


ALLOWED = 0.3
"""Seconds that a check may take; the product gives some times as many."""
LONG = json.dumps("ab" * 400_000)
MANY = json.dumps(list(range(60_000)))
DEEP = "[" * 100_000 + "]" * 100_000
NAMES = json.dumps({f"name {n}": n for n in range(20_000)})
CASES: dict[str, tuple[object, str]] = {
    "all of, doubling": (doubling("allOf"), "{}"),
    "one of, doubling": (doubling("oneOf"), "{}"),
    "not, going round": (round_and_round("not"), "1"),
    "items, going round, over deep JSON": (round_and_round("items"), "[" * 900 + "]" * 900),
    "deep JSON": ({"type": "array"}, DEEP),
    "equal deep JSON": ({"uniqueItems": True}, json.dumps([[[n] * 50] * 50 for n in range(60)])),
    "a long enum over many": ({"items": {"enum": [f"{n}" for n in range(2_000)]}}, MANY),
    "contains": ({"contains": {"const": -1}}, MANY),
    "many patterns over many names": ({"patternProperties": {f"^{n}x": {} for n in range(1_000)}}, NAMES),
    "a number of many digits": ({"type": "integer"}, "9" * 800_000),
    "a long text against many forms": ({"anyOf": [{"const": f"{n}"} for n in range(1_000)]}, LONG),
    "shown at each level": ({"allOf": [{"anyOf": [{"type": "integer"}] * 500}]}, LONG),
    "a pattern for each of many": ({"items": {"pattern": r"^\w{1,80}$"}}, json.dumps(["Wörter"] * 20_000)),
}


def by_check(rules: object, content: str) -> None:
    check = JsonSchema(kind="json_schema", path="a.json", schema_text=json.dumps(rules))
    problem_with(check)
    run_check(check, CheckInput({"a.json": content.encode()}), seconds=ALLOWED)


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "content"), CASES.values(), ids=CASES)
def test_a_schema_costs_no_more_than_it_may(rules: object, content: str) -> None:
    within(1, 40, f"{__name__}.by_check", rules, content)


@pytest.mark.parametrize("text", ["[" * 19_999, '{"items":' * 1_900 + "{}" + "}" * 1_900])
def test_a_schema_that_is_deep_is_refused_at_once(text: str) -> None:
    check = JsonSchema(kind="json_schema", path="a.json", schema_text=text)
    assert (
        within(1, 50, "runs.pev.checks.deciding.problem_with", check)
        == "The schema cannot be used: it is nested too deeply."
    )
