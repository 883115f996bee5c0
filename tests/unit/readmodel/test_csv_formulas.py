"""Cells that a spreadsheet would compute are counted; numbers, dates and other files are left alone."""

import pytest

from runs.readmodel.csv_formulas import MAX_CHARACTERS, Formulas, formulas_in


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("a.csv", "name,amount\nx,=1+1\ny,@SUM(A1)\n", 2),
        ("a.CSV", '"=HYPERLINK(""http://evil.example"")",b\n', 1),
        ("a.csv", "-2+3+cmd|' /C calc'!A0,+1+1|x\n", 2),
        ("a.csv", "a;=1\nb; +x\n", 2),
        ("a.tsv", "a\t=1\n", 1),
        ("a.csv", '"\t=1",＝1\n', 2),
        ("a.csv", "a,b\n1;=1+1,2\n", 1),
        ("a.csv", "a;b;c\n1,=2;3;x,-2+3\n", 2),
        ("a.csv", "a,b\nx\t@SUM(1),2\n", 1),
        ("a.csv", "a,b\nwords; -x; =y,1;-2\n", 0),
        ("a.csv", "-1,+2.5,-3 %,- ,a=b,x@y.example,+49 30 1\n", 0),
        ("a.csv", "", 0),
        ("a.csv", "x" * 200_000 + ",=1", 0),
        ("a.md", "=1,=2", 0),
    ],
)
def test_cells_that_would_be_computed(path: str, text: str, count: int) -> None:
    assert formulas_in(path, text).count == count


@pytest.mark.parametrize("start", ["=", "+x", "-x", "@", "\t", "\r", "＝", " ="])
def test_every_start_that_spreadsheets_compute_is_counted(start: str) -> None:
    assert formulas_in("a.csv", f'x,"{start}1"\n').words == "1 cell"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n", ""),
        ("=1,=2\n", "2 cells"),
        ("=1\n" + "x" * 200_000, "at least 1 cell"),
        ("x" * 200_000 + "\n=1", "perhaps some cells (not all of it was looked at)"),
        ("a\n" * (MAX_CHARACTERS // 2) + "=1\n", "perhaps some cells (not all of it was looked at)"),
    ],
)
@pytest.mark.slow
def test_a_table_that_was_not_looked_at_to_its_end_says_so(text: str, words: str) -> None:
    assert formulas_in("a.csv", text).words == words


def test_other_files_are_no_tables() -> None:
    assert formulas_in("a.md", "=1") == Formulas()
