"""Two texts word by word: what a reader sees, that nothing of either is lost, and what hostile texts may cost."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.text.diff import DiffBudget, TextChange, sentence_diff, word_diff
from tests.work import growth

_SIGNS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def shown(before: str, after: str) -> str:
    return "".join(_SIGNS[piece.kind].format(piece.text) for piece in word_diff(before, after, DiffBudget()))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("Find vague terms and dates.", "Find vague terms, dates.", "Find vague terms[- and-]{+,+} dates."),
        ("At least 10 words", "At least 20 words", "At least[- 10-]{+ 20+} words"),
        ("契約を三件読む", "契約を四件読む", "契約を[-三-]{+四+}件読む"),
        ("the same", "the same", "the same"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("two  spaces", "two spaces", "[-two  spaces-]{+two spaces+}"),
        (
            "Read all contracts and list vague terms.",
            "Read all contracts and list vague terms, then say for each of them why it matters, who is hurt by it, "
            "and what to do.",
            "Read all contracts and list vague terms{+, then say for each of them why it matters, who is hurt by it, "
            "and what to do+}.",
        ),
        (
            "Read the files of the task and look for one of them.",
            "Look for vague terms. Write the list of these, one for each of the three contracts, with the line of it.",
            "[-Read the files of the task and look for one of them.-]"
            "{+Look for vague terms. Write the list of these, one for each of the three contracts, "
            "with the line of it.+}",
        ),
        (
            "Each finding has an amount.",
            "The cat sat on a mat.",
            "[-Each finding has an amount.-]{+The cat sat on a mat.+}",
        ),
    ],
)
def test_a_change_stands_where_it_was_made(before: str, after: str, words: str) -> None:
    assert shown(before, after) == words


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "-", "é", "\n"]), max_size=14).map(" ".join)


@given(_TEXTS, _TEXTS)
def test_both_texts_can_be_read_from_the_pieces(before: str, after: str) -> None:
    pieces = word_diff(before, after, DiffBudget())
    old = "".join(piece.text for piece in pieces if piece.kind != "added")
    new = "".join(piece.text for piece in pieces if piece.kind != "removed")
    assert ("".join(old.split()), "".join(new.split())) == ("".join(before.split()), "".join(after.split()))
    assert any(piece.kind != "same" for piece in pieces) == (before != after)


@pytest.mark.parametrize(
    "texts",
    [
        lambda size: ("a b " * size, "b a " * size),
        lambda size: ("a " * size, "b " * size),
        lambda size: (" ".join(f"w{n * n % 97}" for n in range(size)), " ".join(f"w{n * n % 89}" for n in range(size))),
        lambda size: (" " * size, "\n" * size),
        lambda size: ("x" * size, "y" * size),
    ],
)
def test_the_work_on_hostile_texts_grows_with_their_length(texts: Callable[[int], tuple[str, str]]) -> None:
    assert growth(lambda size: word_diff(*texts(size), DiffBudget()), 300) < 5


def test_texts_for_which_no_budget_is_left_replace_each_other() -> None:
    budget = DiffBudget(510)
    words = "one two three four five six"
    assert [piece.text for piece in word_diff(words, words.replace("four", "4"), budget)] == [
        "one two three",
        " four",
        " 4",
        " five six",
    ]
    assert [piece.text for piece in word_diff(words, words.replace("two", "2"), budget)] == [
        words,
        words.replace("two", "2"),
    ]


@pytest.mark.parametrize(("steps", "pieces"), [(3, 8 + 8 + 7), (2, 2)])
def test_with_too_small_a_budget_all_between_the_first_and_the_last_difference_is_replaced(
    steps: int, pieces: int
) -> None:
    before, after = (
        f"{'begin ' * 9}{' '.join(f'{letter}{number} k{number}' for number in range(8))}{' end' * 9}" for letter in "xy"
    )
    budget = DiffBudget(200 + 6 * (len(before) + len(after)) + steps)
    assert len(word_diff(before, after, budget)[1:-1]) == pieces


def test_sentences_that_differ_are_whole() -> None:
    before, after = "Be short. Name the clause. Add a date.", "Be short. Name the page. Add a date. Sign it."
    change = TextChange("instructions", before, after, sentence_diff(before, after, DiffBudget()))
    assert (change.removed, change.added) == (["Name the clause."], ["Name the page.", "Sign it."])
