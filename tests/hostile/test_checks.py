"""Checks and quotes over large files of what takes most time and memory."""

import pytest

from runs.contracts.base import QuotedEvidence
from runs.evidence.passages import find
from runs.evidence.quotes import resolve
from runs.pev.checks.base import Check
from runs.pev.checks.contains import Contains
from runs.pev.checks.csv_columns import CsvColumns
from runs.pev.checks.deciding import run_check
from runs.pev.checks.json_valid import JsonValid
from runs.pev.checks.material import CheckInput
from runs.pev.checks.no_placeholders import NoPlaceholders
from runs.pev.checks.word_count import WordCount
from tests.hostile.bounds import within

MB = 1_000_000


def over(check: Check, unit: str, megabytes: int, before: str = "") -> str:
    content = before + unit * (megabytes * MB // len(unit))
    return run_check(check, CheckInput({"a": content.encode()})).sentence[:60]


@pytest.mark.slow
def test_json_is_read_up_to_a_size() -> None:
    check = JsonValid(kind="json_valid", path="a")
    few = within(5, 420, f"{__name__}.over", check, "{},", 4, "[")
    assert few == "a is not valid JSON: Expecting value, line 1, column 4000001"[:60]
    assert (
        within(2, 220, f"{__name__}.over", check, "{},", 50, "[")
        == ("a is not read as JSON: it has 49,999,999 characters and may have 5,000,000"[:60])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "check", "unit"),
    [
        (0.5, WordCount(kind="word_count", path="a", min=1), "ab "),
        (0.2, CsvColumns(kind="csv_columns", path="a", columns=["b"]), "a,"),
        (0.2, CsvColumns(kind="csv_columns", path="a", columns=["b"]), "\n"),
        (0.5, NoPlaceholders(kind="no_placeholders", path="a"), "[insert {{ TOD "),
        (0.2, Contains(kind="contains", path="a", text="ab ab c"), "ab "),
    ],
)
def test_a_check_costs_no_more_than_it_may(seconds: float, check: Check, unit: str) -> None:
    within(seconds, 24, f"{__name__}.over", check, unit, 1)


def quote(unit: str, megabytes: int) -> bool:
    return find("cd ef", unit * (megabytes * MB // len(unit)) + "cd\n ef") is not None


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["ab ", "a", " ", "cd e "])
def test_a_quote_is_looked_up_in_little_memory(unit: str) -> None:
    assert within(1, 25, f"{__name__}.quote", unit, 2)


def short_word(unit: str, megabytes: int) -> str:
    return resolve(
        QuotedEvidence(source="a", quote="cde"), {"a": (unit * (megabytes * MB // len(unit))).encode()}
    ).sentence


@pytest.mark.parametrize("unit", ["ab\n", "a", "\r"])
def test_a_short_word_is_looked_up_in_little_memory(unit: str) -> None:
    expected = "“cde” is one short word; quote the words around it"
    assert within(1, 25, f"{__name__}.short_word", unit, 2) == expected
