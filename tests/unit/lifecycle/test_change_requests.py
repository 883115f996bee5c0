"""What a person said at a gate: their own words first, then what they are about, as text."""

import pytest

from runs.contracts.feedback import Comment
from runs.lifecycle.change_requests import on_what, said_at
from runs.models import Gate
from tests.hostile.bounds import within

CUT = "On point 3 “**F3** (contracts/Büro lease.md, line 23): a date [“1.3 The Tenant…”](contracts/B%C3%BCro%20lea…”"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("", ""),
        (CUT, "on F3"),
        (CUT.replace("**F3** ", ""), "on point 3, ‘(contracts/Büro lease.md, line 23): a date “1.3 The Tenant…”’"),
        ("On point 1 “no `date` in [1.3](<a b.md>)”", "on point 1, “no date in 1.3”"),
        ("On row 2 of t.csv “Clause: 4.2; Risk: high”", "on row 2 of t.csv"),
        ("On step 2 “Review the clauses”, criterion 1", "on step 2 “Review the clauses”, criterion 1"),
        ("On success criterion 2", "on success criterion 2"),
    ],
)
def test_what_it_is_about_is_said_shortly_and_without_markup(place: str, expected: str) -> None:
    assert on_what(Comment(text="State the deadline", place=place)) == expected


def test_the_words_of_a_person_come_first() -> None:
    comments = [Comment(text="Be brief."), Comment(text="State the deadline", place=CUT)]
    assert said_at(Gate(comments=comments, reason="As models are told.")) == "Be brief. · State the deadline (on F3)"
    assert said_at(Gate(reason="Only this.")) == "Only this."


@pytest.mark.slow
def test_hostile_places_are_read_within_limits() -> None:
    pieces = ["[", "[a](", "[a](<", "**", "On row 1 of ", "“", "A"]
    places = [f"{begun}{piece * 10_000}" for piece in pieces for begun in ("On row 1 of ", "On point 1 “")]
    places += [f"On point 1 “[{'A' * 4_000}", f"On point 1 “[a](<{'A' * 4_000}", f"On point 1 “[{'\\' * 4_000}"]
    within(
        0.5,
        50,
        "tests.work.each",
        "runs.lifecycle.change_requests.on_what",
        [(Comment(text="x", place=place),) for place in places],
    )
