"""The points of a result: which lines each of them has."""

import pytest

from runs.pev.points import lines_of_points


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a,b\n1,2\n3,4\n", [range(2, 3), range(3, 4)]),
        ('a,b\n"1\n2",2\n3,4\n', [range(2, 4), range(4, 5)]),
        ("sep=;\na;b\n1;2\n", [range(3, 4)]),
        ("\n\na,b\n1,2\n", [range(4, 5)]),
        ("Report\na,b\n1,2\n", []),
        ('a,b\n1,"2\n', []),
    ],
)
def test_rows_have_their_lines(text: str, lines: list[range]) -> None:
    assert lines_of_points("a.csv", text, 10) == lines
