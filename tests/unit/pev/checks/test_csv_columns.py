"""Columns that a CSV file must have."""

import pytest

from runs.pev.checks.csv_columns import CsvColumns
from runs.pev.checks.deciding import problem_with
from tests.unit.pev.checks.outcomes import outcome

CSV = CsvColumns(kind="csv_columns", path="a.csv", columns=["name", "amount"])


class TestCsvColumns:
    @pytest.mark.parametrize(
        "text",
        [
            "name,amount\n1,2",
            "amount;name;x\n",
            "name\tamount\r\n",
            "\ufeffname , amount\n",
            '\n\n"name","amount"\n',
            '"name";"amount";"with, comma"\n',
        ],
    )
    def test_holds(self, text: str) -> None:
        assert outcome(CSV, text)[0]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("name,b,c\n", "a.csv lacks the column “amount”; it has name, b, c"),
            ("Name;Amount\n", "a.csv lacks the columns “name”, “amount”; it has Name, Amount"),
            ("", "a.csv has no header row"),
            ("\n ; \n", "a.csv lacks the columns “name”, “amount”; it has ;"),
            ("name,\ufeffamount", "a.csv lacks the column “amount”; it has name, \ufeffamount"),
            ("x" * 200_000, "a.csv has no header row"),
        ],
    )
    def test_says_what_is_lacking(self, text: str, sentence: str) -> None:
        assert outcome(CSV, text) == (False, sentence)


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (CSV, None),
        (
            CsvColumns(kind="csv_columns", path="a", columns=["a", "b", "a"]),
            "The column “a” is named twice.",
        ),
    ],
)
def test_problem_with(check: CsvColumns, problem: str | None) -> None:
    assert problem_with(check) == problem
