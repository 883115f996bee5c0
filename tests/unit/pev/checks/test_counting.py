"""The check `count`: figures of a result against what counting and adding up come to."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import Material
from runs.pev.contracts import Count
from runs.text.numbers import readings

ROWS = b"id,amount\n" + b"".join(b'%d,"1.234,50"\n' % number for number in range(1046))
FEWER = b"id,amount\n" + b'1,"1.234,50"\n' * 1000


def count(figure: str, *terms: dict[str, Any]) -> Count:
    return Count.model_validate({"kind": "count", "path": "report.md", "figure": figure, "terms": list(terms)})


def said(report: str, check: Count, **given: bytes) -> tuple[bool, str]:
    inputs = {"data.csv": ROWS, **given}
    material = Material({**inputs, "data.csv": FEWER, "report.md": report.encode()}, inputs)
    evidence = run_check(check, material)
    return evidence.verified, evidence.sentence


REMOVED = count(
    r"(\d+) duplicates", {"path": "data.csv", "of": "rows"}, {"path": "@result/data.csv", "of": "rows", "minus": True}
)


@pytest.mark.parametrize(
    ("report", "held", "sentence"),
    [
        (
            "# Cleaned\n\n46 duplicates removed.",
            True,
            "report.md says 46, line 3: 46 = 1,046 rows of data.csv - 1,000 rows of @result/data.csv",
        ),
        (
            "47 duplicates removed.",
            False,
            "report.md says 47, line 1; but 46 = 1,046 rows of data.csv - 1,000 rows of @result/data.csv",
        ),
        ("1,046 duplicates removed.", False, "report.md says 1,046, line 1; but 46 = 1,046 rows of data.csv"),
        ("46 duplicates, no: 47 duplicates", False, "report.md says 46 in line 1 and “47” in line 1"),
        ("No figure.", False, "report.md has no figure that matches “(\\d+) duplicates”"),
        ("4.4.6 duplicates", False, "report.md has no number in line 1: “4.4.6”"),
    ],
)
def test_a_difference(report: str, held: bool, sentence: str) -> None:
    result = said(report, REMOVED)
    assert (result[0], result[1][: len(sentence)]) == (held, sentence)


@pytest.mark.parametrize("written", ["1,291,287.00", "1.291.287,00", "1 291 287", "1'291'287", "1291287"])
def test_a_sum_in_every_way_of_writing_it(written: str) -> None:
    check = count(r"sum: ([\d.,' ]+\d)", {"path": "data.csv", "of": "sum", "column": "amount"})
    assert said(f"The sum: {written} EUR", check)[0]


def test_every_way_to_count() -> None:
    given = {"b/1.md": b"- x\n\n- y\n", "b/2.md": b"- x\n"}
    for of, more, expected in [
        ("lines", {}, "3 = 3 lines of b/1.md, b/2.md"),
        ("matches", {"pattern": "^- x"}, "2 = 2 matches of “^- x” in b/1.md, b/2.md"),
        ("files", {}, "2 = 2 files matching b/*.md"),
    ]:
        figure = expected[0]
        result = said(f"{figure} in all", count(r"(\d) in all", {"path": "b/*.md", "of": of, **more}), **given)
        assert result == (True, f"report.md says {figure}, line 1: {expected}")


def test_what_cannot_be_computed_is_said() -> None:
    column = count(r"(\d+)", {"path": "data.csv", "of": "sum", "column": "price"})
    assert said("1", column)[1] == "report.md is not compared: data.csv has no column “price”; it has id, amount"
    words = count(r"(\d+)", {"path": "w.csv", "of": "sum", "column": "n"})
    assert said("1", words, **{"w.csv": b"n\n1\nmany\n"})[1] == (
        "report.md is not compared: w.csv line 3: “many” is no number, or none of the same form"
    )
    assert said("1", count(r"(\d+)", {"path": "c.csv", "of": "rows"}))[1] == (
        "report.md is not compared: no file matches c.csv"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("46", {".": "46", ",": "46"}),
        ("1,234", {".": "1234", ",": "1.234"}),
        ("1,234.5", {".": "1234.5"}),
        ("1.234,5", {",": "1234.5"}),
        ("12.345.678", {",": "12345678"}),
        ("0,125", {",": "0.125"}),
        ("1 234 567", {".": "1234567", ",": "1234567"}),
        ("−5 %", {".": "-5", ",": "-5"}),
        ("EUR 5", {".": "5", ",": "5"}),
        ("1'234.50 CHF", {".": "1234.5"}),
        ("(5)", {}),
        ("about 5", {}),
        ("1.2.3", {}),
        ("12,34,56", {}),
        ("1e999990", {}),
        ("9" * 31, {}),
        ("", {}),
    ],
)
def test_readings(text: str, expected: dict[str, str]) -> None:
    assert readings(text) == {mark: Decimal(number) for mark, number in expected.items()}


@given(st.lists(st.decimals(-(10**6), 10**6, places=2, allow_nan=False), min_size=1, max_size=20))
def test_a_sum_is_computed_to_the_last_digit(numbers: list[Decimal]) -> None:
    data = "n\n" + "".join(f"{number}\n" for number in numbers)
    check = count(r"sum (-?[\d.,]+)", {"path": "n.csv", "of": "sum", "column": "n"})
    total = sum(numbers)
    assert said(f"sum {total:,}", check, **{"n.csv": data.encode()})[0]
    assert not said(f"sum {total + Decimal('0.01'):,}", check, **{"n.csv": data.encode()})[0]


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (REMOVED, None),
        (
            count(r"\d+ rows", {"path": "a.csv", "of": "rows"}),
            "The pattern “\\d+ rows” needs one group in round brackets, around the number: (\\d+) duplicates.",
        ),
        (count("(", {"path": "a.csv", "of": "rows"}), "The pattern “(” cannot be used: missing ): (?m)(."),
        (count(r"(\d+)", {"path": "a.csv", "of": "sum"}), "The term sum of a.csv needs a column."),
        (
            count(r"(\d+)", {"path": "a.csv", "of": "rows", "pattern": "x"}),
            "The term rows of a.csv takes no pattern; leave it empty.",
        ),
        (
            count(r"(\d+)", {"path": "a.md", "of": "matches", "pattern": "x*"}),
            "The pattern “x*” matches an empty file too, so it proves nothing.",
        ),
    ],
)
def test_problem_with(check: Count, problem: str | None) -> None:
    assert problem_with(check) == problem
