"""Checks are told in words that say when they hold."""

from runs.pev.contracts import Matches, WordCount
from runs.reading.differences import check_in_words


def test_checks_in_words() -> None:
    assert check_in_words(WordCount(kind="word_count", path="a.md", min=10, max=20)) == (
        "a.md has at least 10 and at most 20 words"
    )
    assert (
        check_in_words(Matches(kind="matches", path="a.md", pattern="x+", min=2)) == "a.md matches x+ at least 2 times"
    )
