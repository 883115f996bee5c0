"""What the calculator answers to a model."""

import pytest

from runs.contracts.base import JsonObject
from runs.pev.tools.registry import calculation_in
from tests.unit.pev.tools.bench import run


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"expression": "5450000 / 720.2", "decimals": 1}, "5,450,000 / 720.2 = 7,567.3 (rounded)"),
        ({"expression": "12 * 4000", "unit": " EUR\nand  more "}, "12 * 4,000 = 48,000\nin EUR and more"),
    ],
)
def test_the_expression_stands_beside_its_value(arguments: JsonObject, text: str) -> None:
    result = run("calculate", arguments)
    assert (result.is_error, result.text) == (False, text)


@pytest.mark.parametrize(
    "arguments",
    [
        *({"expression": "1 / 0"}, {"expression": "nonsense"}, {"expression": ""}, {"expression": "1", "decimals": -1}),
        *({"expression": "1", "decimals": 13}, {"expression": "1", "unit": "x" * 41}, {}, {"expression": 1}),
    ],
)
def test_what_cannot_be_computed_is_an_error_to_read(arguments: JsonObject) -> None:
    result = run("calculate", arguments)
    assert result.is_error
    assert result.text


def test_only_calculations_have_an_expression() -> None:
    assert calculation_in("calculate", {"expression": "1 + 1"}) == "1 + 1"
    assert calculation_in("read_file", {"path": "a.md"}) == ""
