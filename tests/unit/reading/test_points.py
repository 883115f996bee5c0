"""A report in parts: its lead, its points, and the rest; each line in one of them."""

import time

import pytest

from runs.errors import InvalidInput
from runs.reading.points import MAX_LEAD, MAX_POINTS, Point, points_of, sent_back

LIST = "- one\n- two, which\n  goes on\n- three"


def texts(report: str) -> list[str]:
    return [point.text for point in points_of(report).points]


def test_lead_points_and_rest() -> None:
    found = points_of(f"Three things.\n\n{LIST}\n\n## More\n\nSaid once.")
    assert found.lead == "Three things."
    assert [point.text for point in found.points] == ["one", "two, which\ngoes on", "three"]
    assert found.rest == "## More\n\nSaid once."


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("", []),
        ("- alone", []),
        ("1. first\n2) second", ["first", "second"]),
        ("* a\n\n  more of a\n* b", ["a\n\nmore of a", "b"]),
        ("- a\n    - inner\n- b", ["a\n  - inner", "b"]),
        ("```\n- code\n- code\n```", []),
        ("- a\ntext at the edge\n- b", ["a", "b"]),
        ("-no item\n- \n- x\n- y", ["x", "y"]),
    ],
)
def test_points_are_items_at_the_edge_outside_of_code(report: str, expected: list[str]) -> None:
    assert texts(report) == expected


@pytest.mark.parametrize("first", ["# Heading", "| a | b |", "> quote", "- item", "```"])
def test_a_report_that_begins_with_anything_but_words_has_no_lead(first: str) -> None:
    assert points_of(f"{first}\n\nWords.").lead == ""


def test_a_long_first_paragraph_is_led_by_the_sentences_that_fit() -> None:
    sentence = "This is a sentence of some length. "
    found = points_of(sentence * 40)
    assert found.lead == (sentence * (MAX_LEAD // len(sentence))).strip()
    assert f"{found.lead} {found.rest}" == (sentence * 40).strip()
    assert points_of("x" * (MAX_LEAD + 1)).lead == ""


def test_what_comes_after_the_last_point_that_fits_stays_in_the_rest() -> None:
    found = points_of("\n".join(f"- p{number}" for number in range(MAX_POINTS + 2)))
    assert len(found.points) == MAX_POINTS
    assert found.rest == f"- p{MAX_POINTS}\n- p{MAX_POINTS + 1}"


def test_sent_back_names_the_point_and_what_to_do() -> None:
    points = [Point(1, "one"), Point(2, "two " * 100)]
    short, long = sent_back(points, {2: "", 1: " Quote it. "})
    assert short.words == "On point 1 “one”: Quote it."
    assert len(long.place) < 200
    with pytest.raises(InvalidInput, match="no point 3"):
        sent_back(points, {3: ""})


@pytest.mark.parametrize("piece", ["- \n", "- x\n", "```\n", "a. ", "  ", "1) ", "#", "- x\n  "])
def test_a_hostile_report_is_read_in_linear_time(piece: str) -> None:
    text = piece * (2_000_000 // len(piece))
    begun = time.process_time()
    points_of(text)
    assert time.process_time() - begun < 3
