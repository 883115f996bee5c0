"""Sentences that speak of each of several things."""

from __future__ import annotations

import pytest

from runs.text.sentences import says_each


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("Every contract is named", True),
        ("The notice period in each contract is stated", True),
        ("In every contract the rent is right", True),
        ("At every place it is right", True),
        ("In all contracts it is right", True),
        ("The ends of all are right", True),
        ("in jedem Vertrag", True),
        ("in allen Verträgen", True),
        ("Alle Fristen stimmen", True),
        ("It is not late at all", False),
        ("It ends in May after all", False),
        ("Three findings in all", False),
        ("There are 3 in all, of two kinds", False),
        ("Not every contract has one", False),
        ("The end of the allotment is right", False),
    ],
)
def test_what_says_each(text: str, each: bool) -> None:
    assert says_each(text) is each
