"""Counts with their nouns."""

import pytest

from runs.text.plural import ordinal, pluralize, word_for


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("file",), "0 files"),
        (1, ("file",), "1 file"),
        (2, ("other step",), "2 other steps"),
        (1_234, ("citation",), "1,234 citations"),
        (1, ("success criterion", "success criteria"), "1 success criterion"),
        (3, ("reviewed copy", "reviewed copies"), "3 reviewed copies"),
        (-1, ("day",), "-1 days"),
    ],
)
def test_a_count_has_separators_and_the_noun_that_goes_with_it(count: int, words: tuple[str, ...], text: str) -> None:
    assert pluralize(count, *words) == text


@pytest.mark.parametrize(
    ("count", "words", "word"),
    [(1, ("tick",), "tick"), (0, ("tick",), "ticks"), (1, ("has", "have"), "has"), (2, ("is", "are"), "are")],
)
def test_the_word_alone_goes_with_the_count(count: int, words: tuple[str, ...], word: str) -> None:
    assert word_for(count, *words) == word


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (22, "22nd"),
        (111, "111th"),
        (1_003, "1003rd"),
    ],
)
def test_ordinals(number: int, words: str) -> None:
    assert ordinal(number) == words
