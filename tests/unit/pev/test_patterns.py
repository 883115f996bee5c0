"""Patterns from outside cost no more than agreed, in time and in memory."""

import time

import pytest

from runs.errors import InvalidInput
from runs.pev.patterns import Budget, TooSlow, compiled, search


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing )"),
        ("a{2000000000}", "its counted repeats come to more than 100,000"),
        ("(?:(?:a{100}){100}){100}", "its counted repeats come to more than 100,000"),
        ("(?:a{ 99999}b{99999})", "its counted repeats come to more than 100,000"),
        ("(?ix: a )", "the flag x is not supported"),
        (r"\\(?x) a", "the flag x is not supported"),
        ("(" * 900, "nested too deeply"),
        ("a" * 1_001, "it has 1001 characters and may have 1000"),
    ],
)
def test_what_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        compiled(pattern)
    assert why in str(refusal.value)


def test_an_ordinary_pattern_is_searched_from_where_it_is_told() -> None:
    found = search(compiled(r"\bb{1,3}"), "bb abb bb", Budget(1), 1)
    assert found is not None
    assert found.span() == (7, 9)


def test_searches_share_one_budget() -> None:
    began = time.monotonic()
    budget = Budget(0.2)
    for _ in range(2):
        with pytest.raises(TooSlow):
            search(compiled("^(a|aa)+$"), "a" * 60 + "b", budget)
    with pytest.raises(TooSlow):
        budget.left()
    assert time.monotonic() - began < 1
