"""What checks look for, as a person reads it at the plan gate."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from runs.pev.checks.base import Check
from runs.pev.checks.matches import Matches
from runs.pev.checks.registry import AnyCheck
from runs.pev.checks.word_count import WordCount
from runs.readmodel.status_words import check_in_words

CHECK: TypeAdapter[Check] = TypeAdapter(AnyCheck)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            {"kind": "quotes_occur", "path": "a.md"},
            "each quoted passage of a.md stands word for word in the source named next to it",
        ),
        (
            {"kind": "quotes_occur", "path": "a.csv", "column": "text", "source_column": "document"},
            "each value of the column text of a.csv stands word for word in the source that its column document names",
        ),
        (
            {"kind": "covers", "path": "a.md", "files": "contracts/", "source": "list.csv", "column": "name"},
            "a.md deals with each of the given files contracts/, and of the values of the column name of list.csv",
        ),
        (
            {"kind": "covers", "path": "a.csv", "items": ["x", "y"], "source": "list.md", "in_column": "who"},
            "the column who of a.csv deals with each of list.md, and of “x”, “y”",
        ),
        (
            {
                "kind": "count",
                "path": "a.md",
                "figure": r"(\d+) duplicates",
                "terms": [{"path": "d.csv", "of": "rows"}, {"path": "@result/d.csv", "of": "rows", "minus": True}],
            },
            r"the number in a.md that matches (\d+) duplicates is the number of rows of d.csv minus "
            "the number of rows of d.csv as the run has left it",
        ),
        (
            {
                "kind": "count",
                "path": "a.md",
                "figure": r"(\d+)",
                "terms": [
                    {"path": "b/", "of": "files"},
                    {"path": "b.csv", "of": "sum", "column": "n"},
                    {"path": "b.md", "of": "matches", "pattern": "^x"},
                    {"path": "b.md", "of": "lines"},
                ],
            },
            r"the number in a.md that matches (\d+) is the number of files b/ plus the sum of the column n of b.csv "
            "plus the number of matches of ^x in b.md plus the number of lines of b.md",
        ),
        (
            {"kind": "absent", "path": "contracts/", "terms": ["cap", "limit"]},
            "“cap”, “limit” occur nowhere in contracts/, read whole",
        ),
    ],
)
def test_in_words(check: dict[str, Any], words: str) -> None:
    assert check_in_words(CHECK.validate_python(check)) == words


def test_bounds_are_told_as_they_hold() -> None:
    words = check_in_words(WordCount(kind="word_count", path="a.md", min=10, max=20))
    assert words == "a.md has at least 10 and at most 20 words"
    matches = check_in_words(Matches(kind="matches", path="a.md", pattern="x+", min=2))
    assert matches == "a.md has at least 2 passages of the form x+"
    comments = check_in_words(Matches(kind="matches", path="a.docx", pattern="^F", comments=True))
    assert comments == "a.docx has a passage of the form ^F in its comments"
