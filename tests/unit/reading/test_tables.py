"""Cells that a spreadsheet would compute are counted; numbers, dates and other files are left alone."""

import pytest

from runs.reading.tables import formulas_in


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("a.csv", "name,amount\nx,=1+1\ny,@SUM(A1)\n", 2),
        ("a.CSV", '"=HYPERLINK(""http://evil.example"")",b\n', 1),
        ("a.csv", "-2+3+cmd|' /C calc'!A0,+1+1|x\n", 2),
        ("a.csv", "a;=1\nb; +x\n", 2),
        ("a.tsv", "a\t=1\n", 1),
        ("a.csv", '"\t=1",＝1\n', 2),
        ("a.csv", "-1,+2.5,-3 %,- ,a=b,x@y.example,+49 30 1\n", 0),
        ("a.csv", "", 0),
        ("a.csv", "x" * 200_000 + ",=1", 0),
        ("a.md", "=1,=2", 0),
    ],
)
def test_cells_that_would_be_computed(path: str, text: str, count: int) -> None:
    assert formulas_in(path, text) == count
