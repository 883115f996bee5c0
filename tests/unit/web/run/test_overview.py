"""What the page of a run says of its outcome and its answer."""

from __future__ import annotations

import pytest

from runs.enums import Outcome
from runs.models import Run
from runs.readmodel.run_rows import RunRows
from runs.web.run.overview import RunPage


def page(**fields: object) -> RunPage:
    return RunPage(RunRows(Run(**fields), [], {}, {}, {}, [], 0))


@pytest.mark.parametrize(
    ("answer", "is_long"),
    [
        ("", False),
        ("A line.\n" * 10, False),
        ("\n" * 19, False),
        ("\n" * 20, True),
        ("A line.\n" * 30, True),
        ("x" * 1_700, False),
        ("x" * 2_000, True),
    ],
)
def test_an_answer_of_more_than_half_a_screen_is_long(answer: str, is_long: bool) -> None:
    assert page(answer=answer).long_answer == is_long


@pytest.mark.parametrize(
    ("outcome", "heading"),
    [
        (Outcome.SUCCEEDED, "Succeeded"),
        (Outcome.PARTIAL, "PARTIAL: this is not all that was asked for."),
        (Outcome.FAILED, "FAILED: this is not all that was asked for."),
        (Outcome.CANCELLED, "Stopped"),
    ],
)
def test_what_is_not_whole_says_so_in_its_heading(outcome: Outcome, heading: str) -> None:
    assert page(outcome=outcome).outcome_heading == heading
