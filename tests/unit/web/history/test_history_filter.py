"""What an address may ask of a history: what it cannot name is as if it were not there."""

from __future__ import annotations

import pytest

from runs.web.history.history_filter import MAX_NUMBER, MAX_WORDS, HistoryFilter, Show, filter_from


def chosen(**asked: str) -> HistoryFilter:
    return filter_from(asked, {"review"}, {"bob"})


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"show": "x'--"},
        {"step": "nowhere"},
        {"person": "mallory"},
        {"before": "x"},
        {"before": "99999999999"},
        {"before": str(MAX_NUMBER + 1)},
        {"before": "²"},
        {"event": "-1"},
        {"open": "1.5"},
        {"q": " \t"},
    ],
)
def test_what_is_not_there_cannot_be_asked_for(asked: dict[str, str]) -> None:
    assert chosen(**asked) == HistoryFilter()


def test_what_is_there_is_taken() -> None:
    asked = {"show": "problems", "step": "review", "person": "bob", "q": " no  date ", "before": "7", "open": "3"}
    assert chosen(**asked) == HistoryFilter(Show.PROBLEMS, "review", "bob", "no date", before=7, open=3)
    assert chosen(q="x" * 1_000).words == "x" * MAX_WORDS
    assert chosen(before=str(MAX_NUMBER)).before == MAX_NUMBER


def test_the_first_page_is_after_nothing_and_differs_from_the_newest() -> None:
    assert [chosen(after=number).after for number in ("0", "x", "9")] == [0, 0, 9]
    assert chosen().after is None


@pytest.mark.parametrize(
    ("asked", "narrowed", "folds"),
    [
        ({}, False, True),
        ({"step": "review"}, True, True),
        ({"person": "bob"}, True, False),
        ({"q": "date"}, True, False),
        ({"show": "calls"}, True, False),
        ({"before": "7"}, False, True),
    ],
)
def test_calls_are_folded_where_all_lines_of_a_step_are_shown(
    asked: dict[str, str], narrowed: bool, folds: bool
) -> None:
    assert (chosen(**asked).narrowed, chosen(**asked).folds_calls) == (narrowed, folds)


def test_the_addresses_of_other_pages_keep_the_choice_without_the_page() -> None:
    assert chosen().query == ""
    asked = {"show": "problems", "step": "review", "person": "bob", "q": "a&b", "before": "7", "open": "3"}
    assert chosen(**asked).query == "show=problems&step=review&person=bob&q=a%26b"
