"""Tables of CSV files: rows are only counted below a header that names every column."""

import math

import pytest

from runs.errors import InvalidInput
from runs.pev.checks.tables import CsvTable
from runs.text.patterns import Budget


def rows(text: str) -> list[list[str]]:
    return [row.cells for row in CsvTable(text).rows(Budget(math.inf))]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("id,amount\n1,2\n3,4\n", 2),
        ("sep=;\nid;amount\n1;2\n", 1),
        ("\n\nid,amount\n\n1,2\n , \n", 1),
        ("id,amount\n1\n2,3\n", 2),
        ("id,amount\n1,2,\n3,4,,\n", 2),
        ("id,amount,\n1,2,\n", 1),
        (",name\n0,Ann\n1,Bob\n", 2),
        ("name\nAnn\n", 1),
    ],
)
def test_rows_are_those_below_the_header(text: str, count: int) -> None:
    assert len(rows(text)) == count


@pytest.mark.parametrize(
    ("text", "values", "line", "names", "header"),
    [
        ("Report 2026\nid,amount\n1,2\n", 2, 2, 1, 1),
        ("Report 2026\nid;amount\n1;2,5\n", 2, 2, 1, 1),
        ("\nReport 2026,,\nid,name,amount\n1,Ann,2\n", 3, 3, 1, 2),
        (",Report\nid,amount\n1,2\n", 2, 2, 1, 1),
        ("id,amount\n1,2\n3,4,see below\n", 3, 3, 2, 1),
        ("id,amount,\n1,2,see below\n", 3, 2, 2, 1),
    ],
)
def test_a_header_that_does_not_name_every_column_is_refused(
    text: str, values: int, line: int, names: int, header: int
) -> None:
    with pytest.raises(InvalidInput) as caught:
        rows(text)
    assert str(caught.value) == (
        f"has {values} values in line {line}, but {names} of the columns have names in line {header}; "
        "its first row has to name every column, without titles above it"
    )


def test_a_file_that_ends_inside_a_quotation_mark_has_no_rows() -> None:
    with pytest.raises(InvalidInput, match="ends inside a quotation mark that opens in line 3; close it"):
        rows('id,note\n1,a\n2,"b\n3,c\n4,d\n')
