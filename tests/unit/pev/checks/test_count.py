"""The check `count`: figures of a result against what counting and adding up come to."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.content import Converted
from runs.documents.formats.xlsx import xlsx_reader as reader
from runs.documents.places.document import Document
from runs.pev.checks.count import Count
from runs.pev.checks.deciding import problem_with, run_check
from runs.pev.checks.material import CheckInput
from tests.documents.workbooks import workbook

ROWS = b"id,amount\n" + b"".join(b'%d,"1.234,50"\n' % number for number in range(1046))
FEWER = b"id,amount\n" + b'1,"1.234,50"\n' * 1000


def count(figure: str, *terms: dict[str, Any]) -> Count:
    return Count.model_validate({"kind": "count", "path": "report.md", "figure": figure, "terms": list(terms)})


def said(report: str, check: Count, **given: bytes) -> tuple[bool, str]:
    inputs = {"data.csv": ROWS, **given}
    material = CheckInput({**inputs, "data.csv": FEWER, "report.md": report.encode()}, inputs)
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
        ("4.4.6 duplicates", False, "report.md has no number that can be compared in line 1: “4.4.6”"),
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
        "report.md is not compared: w.csv line 3: “many” is no number that can be calculated with"
    )
    assert said("1", count(r"(\d+)", {"path": "c.csv", "of": "rows"}))[1] == (
        "report.md is not compared: no file matches c.csv"
    )


@pytest.mark.parametrize(
    ("values", "figure", "held"),
    [
        (("$500.00", "-$200.00"), "$300", True),
        (("$500.00", "-$200.00"), "300", True),
        (("$500.00", "-$200.00"), "$700", False),
        (("$500.00", "-$200.00"), "-$300", False),
        (("$500.00", "-$200.00"), "300 EUR", False),
        (("$500.00", "($700.00)"), "-$200", True),
        (("$500.00", "($700.00)"), "$200", False),
        (("$500.00", "($700.00)"), "($200)", True),
        (("500 DR", "200 CR"), "300", True),
        (("5 kg", "3 kg"), "8 kg", True),
        (("5 kg", "3 kg"), "8 g", False),
        (("10%", "5%"), "15 percent", True),
        (("10%", "5%"), "0.15", True),
        (("2.5M", "1M"), "3.5 million", True),
        (("2.5M", "1M"), "3,500,000", True),
        (("2.5M", "1M"), "3.5", False),
        (("<10", "<5"), "<15", True),
        (("<10", "<5"), "15", False),
        (("5", "6"), "<11", False),
        *((("-5", "-6"), figure, False) for figure in ("- 11", "− 11", "minus 11", "11-", "11 CR", "±11", "./. 11")),
        *(
            (("5", "6"), figure, False)
            for figure in ("- 11", "− 11", "minus 11", "11-", "11 CR", "±11", "11²", "11 dozen")
        ),
        (("5", "6"), "($11)", False),
        (("5", "6"), "(11)", True),
    ],
)
def test_signs_scales_and_units_of_a_sum(values: tuple[str, ...], figure: str, held: bool) -> None:
    check = count(r"sum is \D*?([\d.,]+)", {"path": "n.csv", "of": "sum", "column": "n"})
    data = "n\n" + "".join(f'"{value}"\n' for value in values)
    assert said(f"The sum is {figure} in all", check, **{"n.csv": data.encode()})[0] is held


@pytest.mark.parametrize(("one", "other"), [("5", "<10"), ("5", "10%"), ("5 kg", "300 g"), ("$5", "€5"), ("5k", "5")])
def test_a_sum_of_different_kinds_proves_nothing(one: str, other: str) -> None:
    check = count(r"(\d+)", {"path": "n.csv", "of": "sum", "column": "n"})
    held, sentence = said("It is 15", check, **{"n.csv": f"n\n{one}\n{other}\n".encode()})
    assert (held, sentence) == (
        False,
        f"report.md is not compared: n.csv line 3: “{one}” and “{other}” are not of one kind: their comparison signs, "
        "scales, units or currencies differ",
    )


def test_sums_of_different_units_are_not_added_up() -> None:
    terms = [{"path": f"{name}.csv", "of": "sum", "column": "n"} for name in "ab"]
    given = {"a.csv": b"n\n5 kg\n", "b.csv": b"n\n300 g\n"}
    assert said("305", count(r"(\d+)", *terms), **given)[1] == (
        "report.md is not compared: 5 kg and 300 g are not of one kind: their units differ"
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'id,note\n1,"a\n2,b\n', "ends inside a quotation mark that opens in line 2; close it"),
        (b"Report\nid,note\n1,a\n", "has 2 values in line 2, but 1 of the columns have names in line 1"),
    ],
)
def test_rows_that_cannot_be_told_are_not_counted(data: bytes, why: str) -> None:
    check = count(r"(\d+) rows", {"path": "n.csv", "of": "rows"})
    held, sentence = said("2 rows", check, **{"n.csv": data})
    assert (held, why in sentence) == (False, True)


def book(sheets: dict[str, str], *formats: str) -> bytes:
    made = reader.make(workbook(sheets, formats=formats))
    document = Document(made.text, made.rendered.layout)
    return Converted(made.text.encode(), "a" * 64, lambda: document)


def column(name: str, *values: float) -> str:
    head = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{name}</t></is></c></row>'
    rows = "".join(f'<row r="{at}"><c r="A{at}" s="1"><v>{one}</v></c></row>' for at, one in enumerate(values, 2))
    return f"<sheetData>{head}{rows}</sheetData>"


@pytest.mark.parametrize(
    ("code", "values", "figure", "other"),
    [
        ("#,##0;[Red]#,##0", (500, -200), "300", "700"),
        ('0.0,,"M"', (2_500_000, 1_250_000), "3,750,000", "3.8"),
        ("0%", (0.255, 0.255), "51%", "52%"),
        ("0.00;[Red]0.00", (500, -404), "96", "904"),
    ],
)
def test_a_sum_of_a_sheet_is_that_of_what_it_holds(
    code: str, values: tuple[float, float], figure: str, other: str
) -> None:
    check = count(r"is ([\d.,]+)", {"path": "b.xlsx", "of": "sum", "column": "n"})
    given = {"b.xlsx": book({"S": column("n", *values), "Other": column("m", 1)}, code)}
    assert said(f"It is {figure} in all", check, **given)[0]
    assert not said(f"It is {other} in all", check, **given)[0]


def test_rows_of_a_workbook_are_those_of_its_one_sheet() -> None:
    check = count(r"(\d+) rows", {"path": "b.xlsx", "of": "rows"})
    one = {"b.xlsx": book({"S": column("n", 1, 2)}, "0")}
    assert said("2 rows", check, **one) == (True, "report.md says 2, line 1: 2 = 2 rows of b.xlsx")
    two = {"b.xlsx": book({"S": column("n", 1, 2), "T": column("n", 1)}, "0")}
    assert said("3 rows", check, **two)[1] == (
        "report.md is not compared: b.xlsx: has 2 sheets with rows, of which one is needed; it has S, T"
    )


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
