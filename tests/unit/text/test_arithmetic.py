"""Expressions of models: exact, shown as people write them, and bounded whatever they ask for."""

from contextlib import suppress
from decimal import Decimal

import pytest

from runs.errors import InvalidInput
from runs.text.arithmetic import MAX_CHARACTERS, calculated
from runs.text.numbers import amounts_in
from tests.hostile.bounds import within


@pytest.mark.parametrize(
    ("expression", "decimals", "shown", "figure", "exact"),
    [
        ("5450000 / 720.2", 1, "5,450,000 / 720.2", "7,567.3", False),
        ("5450000 / 720.2", None, "5,450,000 / 720.2", "7,567.34240489", False),
        ("0.1 + 0.2", None, "0.1 + 0.2", "0.3", True),
        ("2 * (3 + 4) - -1", None, "2 * (3 + 4) - -1", "15", True),
        ("19 / 100 * 120.50", 2, "19 / 100 * 120.50", "22.90", False),
        ("2.5", 0, "2.5", "3", False),
        ("sum(1000, 2000.5, 3)", None, "sum(1,000, 2,000.5, 3)", "3,003.5", True),
        ("average(1, 2, 3) + max(4, 5) - min(6, 7)", None, "average(1, 2, 3) + max(4, 5) - min(6, 7)", "1", True),
        ("sum(100, 200)", None, "sum(100, 200)", "300", True),
        ("max(12,34) + min(1,2345) + max(5)", None, "max(12, 34) + min(1, 2,345) + max(5)", "40", True),
        ("sum(1.5,20,1000,-200)", None, "sum(1.5, 20, 1,000, -200)", "821.5", True),
        ("max(1,\n234)", None, "max(1, 234)", "234", True),
        ("sum(1_234, 2)", None, "sum(1,234, 2)", "1,236", True),
        ("sqrt(2)", 3, "sqrt(2)", "1.414", False),
        ("abs(-3) ** 2", None, "abs(-3) ** 2", "9", True),
        ("10 ** 40", None, "10 ** 40", f"1{',000' * 13}".replace("1,", "10,", 1), True),
    ],
)
def test_what_comes_out(expression: str, decimals: int | None, shown: str, figure: str, exact: bool) -> None:
    found = calculated(expression, decimals)
    assert (found.shown, found.figure, found.exact) == (shown, figure, exact)


@pytest.mark.parametrize(
    ("expression", "numbers"),
    [
        ("(10 + 20 + 60) / 3", {10, 20, 60}),
        ("(10 + 20) / 3", {10, 20, 3}),
        ("(3 + 4 + 8) / 3", {3, 4, 8}),
        ("(10 - 20 + 60) / 3", {10, 20, 60, 3}),
        ("90 / 1", {90, 1}),
    ],
)
def test_the_divisor_of_an_average_counts_what_is_added(expression: str, numbers: set[int]) -> None:
    assert calculated(expression).numbers == numbers


def test_numbers_are_those_that_are_written_to_the_last_digit() -> None:
    found = calculated("12345678901234567890.123 + 1")
    assert found.numbers == {Decimal("12345678901234567890.123"), Decimal(1)}
    assert found.shown == "12,345,678,901,234,567,890.123 + 1"


@pytest.mark.parametrize(
    "expression",
    [
        *("", "5,450,000 / 2", "a + 1", "1 +", "x = 1", "'9' * 9", "True + 1", "1j * 2", "1 if 2 else 3", "[1, 2]"),
        *("().__class__", "sum.__globals__", "__import__('os')", "(lambda: 1)()", "max()", "max(1, key=abs)"),
        *("sum(1,234, 2,500)", "sum(1234, 2,500)", "max(1,234)", "min(0,500)", "abs(1,234)", "average(1,234,567)"),
        *("max(sum(1,234), 5)", "2 * (3 + sum(9, 12,345))", "sum(1,234.50, 2)", "sum(12345,678)", "1,234", "(1,234)"),
        *("sum(1，234, 2)", "sum(１,２３４)", "sum(1٬234, 2)", "sum(1 234, 2)", "sum(1'234, 2)", "round(1,234)"),
        *("sum(1,00,000, 2)", "sum(1,234)+1", "1 + sum(2,\u00a0234)"),
        *("sum(1,5, 2,5)", "sum(1,5, 2)", "sum(1.234,50)", "max(1.000,5)", "sum(1,23, 4,56)", "sum(1,5 ,2)"),
        *("1 < 2", "1; 2", "5 % 2", "1 // 2", "~1", "{1}", "f'{1}'", "sum(*1)", "\0"),
    ],
)
def test_whatever_else_is_refused_with_what_can_be_written(expression: str) -> None:
    with pytest.raises(InvalidInput, match=r"This is no expression of numbers\. Use \+ - \* /") as refused:
        calculated(expression)
    assert str(refused.value).endswith(
        "write numbers without separators of thousands, as in 5450000 / 720.2, and a space behind each comma, as in "
        "sum(1500, 250)."
    )


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("average()", "It has no value that could be written down: check roots, powers and divisors."),
        ("0x10 + 1", "It has no value that could be written down: check roots, powers and divisors."),
        ("1 / 0", "It divides by zero."),
        ("1 / (2 - 2)", "It divides by zero."),
        ("0 / 0", "It has no value that could be written down: check roots, powers and divisors."),
        ("sqrt(-1)", "It has no value that could be written down: check roots, powers and divisors."),
        *(
            (huge, "It has no value that could be written down: check roots, powers and divisors.")
            for huge in ("1e999", "1e-999", "1e999999999", "0e-999999999", "-1e99999999 + 1", "1e61")
        ),
        ("10 ** 70", "It has no value that could be written down: check roots, powers and divisors."),
        ("1" * (MAX_CHARACTERS + 1), "The expression has more than 500 characters; compute it in parts."),
    ],
)
def test_what_has_no_value_is_said(expression: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        calculated(expression)
    assert str(refused.value) == sentence


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        *(
            "9 ** 9 ** 9 ** 9",
            "9 ** -9 ** 9",
            "2 ** 0.5 ** 99999999",
            "1.000000001 ** 99999999999999",
            "sqrt(1e59) ** 1e9",
        ),
        *("(" * 240 + "1" + ")" * 240, "-" * 499 + "1", "9**" * 160 + "9", "max(" * 120 + "1" + ")" * 120),
    ],
)
def test_nothing_takes_for_ever(expression: str) -> None:
    """The first would fill the memory for hours."""
    with suppress(InvalidInput):
        within(0.5, 20, "runs.text.arithmetic.calculated", expression)


def test_the_numbers_of_a_text_by_each_mark_without_names_of_places() -> None:
    found = set(amounts_in("[p23] EUR 1.234,50, that is -17 or 1,234 of 5 450 000"))
    assert found == {Decimal("1234.5"), Decimal(17), Decimal("1.234"), Decimal(1234), Decimal(5450000)}
