"""CSV texts: which rows they have, by which separator, and which are refused."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.csv_tables import NotCsv, records_in, rows_in, separator_of


def cells(text: str) -> list[list[str]]:
    return [row.cells for row in rows_in(text)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ("a;b\n1,5;2,5\n", [["a", "b"], ["1,5", "2,5"]]),
        ("a\tb\nx, y\tz\n", [["a", "b"], ["x, y", "z"]]),
        (
            "Report of 2026\nid;amount\n1;2,5\n2;3,5\n",
            [["Report of 2026"], ["id", "amount"], ["1", "2,5"], ["2", "3,5"]],
        ),
        ("name;amount (EUR, net)\nx;1\ny;2\n", [["name", "amount (EUR, net)"], ["x", "1"], ["y", "2"]]),
        ("sep=;\na;b,c\n", [["a", "b,c"]]),
        ('"sep=|"\r\na|b;c\r\n', [["a", "b;c"]]),
        ("\ufeffSEP=\t\na,b\tc\n", [["a,b", "c"]]),
        ("a,b\n\n1,2\n", [["a", "b"], [], ["1", "2"]]),
        ('a,b\n"1\n2",3\n', [["a", "b"], ["1\n2", "3"]]),
        ('pipe,n\n5" pipe,3\n', [["pipe", "n"], ['5" pipe', "3"]]),
        ('"say ""no""",1\n', [['say "no"', "1"]]),
        ("a;b\r1,5;2\r\r3;4\r", [["a", "b"], ["1,5", "2"], [], ["3", "4"]]),
        ("a,b\r1,2", [["a", "b"], ["1", "2"]]),
        ("sep=;\ra;b\r1;2", [["a", "b"], ["1", "2"]]),
        ('a,b\n"1\r2",3\n', [["a", "b"], ["1\r2", "3"]]),
        ("", []),
    ],
)
def test_rows_and_separators(text: str, rows: list[list[str]]) -> None:
    assert cells(text) == rows


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('id,note\n1,"open\n2,b\n3,c\n', "ends inside a quotation mark that opens in line 2; close it"),
        ('id,note\n1,"a\nb"\n2,"c\nd","e\nf\n', "ends inside a quotation mark that opens in line 5; close it"),
        (
            "a,b\n1\r2,3\n",
            "has a carriage return inside line 2; put the cell into quotation marks, or end lines with LF",
        ),
        ('a;b\n"', "ends inside a quotation mark that opens in line 2; close it"),
        ('sep=;\na;b\n1;"x', "ends inside a quotation mark that opens in line 3; close it"),
        ('a,b\n"x""', "ends inside a quotation mark that opens in line 2; close it"),
        (
            'a,b\n"x"y,1\n',
            "has text behind a closing quotation mark in line 2; double the marks inside a cell",
        ),
        (
            'a\n"' + "x\n" * 600_000,
            "has a cell of more than 131,072 characters; close the quotation mark that opens in line 2",
        ),
        ("a\n" + "x," * 500_001, "has a row of more than 1,000,000 characters, line 2"),
        ("a\n" + "x" * 200_000, "has a cell of more than 131,072 characters, line 2"),
        ("a\n" + "x" * 1_000_001, "has a row of more than 1,000,000 characters, line 2"),
    ],
)
def test_what_is_refused_says_where(text: str, problem: str) -> None:
    with pytest.raises(NotCsv) as caught:
        cells(text)
    assert str(caught.value) == problem


def test_lines_are_those_in_which_rows_end() -> None:
    assert [row.line for row in rows_in('sep=,\na,b\n"1\n2",3\n\n4,5\n')] == [2, 4, 5, 6]


def test_the_wanted_columns_decide_between_separators() -> None:
    text = "id,name;rent,city\n1,2;3,4\n"
    assert [separator_of(text), separator_of(text, ["name;rent"]), separator_of(text, ["rent,city"])] == [",", ",", ";"]


def test_records_have_the_values_by_their_names() -> None:
    assert list(records_in("\nkind,text\nparty,Ann\ndate\n")) == [{"kind": "party", "text": "Ann"}, {"kind": "date"}]


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff")), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(",;\t"),
)
def test_what_is_written_is_read_back(rows: list[list[str]], separator: str) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert [row.cells for row in rows_in(file.getvalue(), separator)] == rows
