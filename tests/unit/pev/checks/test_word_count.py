"""The number of words of a file."""

import pytest

from runs.pev.checks.deciding import problem_with
from runs.pev.checks.word_count import WordCount, count_words
from tests.unit.pev.checks.outcomes import outcome


def words(minimum: int = 0, maximum: int = 1_000_000) -> WordCount:
    return WordCount(kind="word_count", path="a.md", min=minimum, max=maximum)


class TestWordCount:
    def test_says_what_was_wanted(self) -> None:
        assert outcome(words(150, 300), "w " * 212) == (True, "a.md has 212 words, wanted 150 to 300")
        assert outcome(words(150, 300), "w " * 301) == (False, "a.md has 301 words, wanted 150 to 300")
        assert outcome(words(2), "one") == (False, "a.md has 1 word, wanted at least 2")

    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("", 0),
            ("# A heading\n\n- one\n- two | three", 5),
            ("well-known can't e.g. 3.5 %", 4),
            ("契約は三か月", 6),
            ("GmbH契約", 3),
            ("Zwölf Monate — straße", 3),
        ],
    )
    def test_counts_what_people_call_words(self, text: str, count: int) -> None:
        assert count_words(text) == count

    def test_is_linear(self) -> None:
        assert count_words("-" * 500_000) == 0


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (words(3, 3), None),
        (words(4, 3), "min (4) is more than max (3); no text can have so many words."),
    ],
)
def test_problem_with(check: WordCount, problem: str | None) -> None:
    assert problem_with(check) == problem
