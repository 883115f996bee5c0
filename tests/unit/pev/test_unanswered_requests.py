"""A plan says where it meets each request of a person, and what it names exists (T7)."""

from __future__ import annotations

from typing import Any

import pytest

from runs.pev.contracts import PlanContract, RequestAnswer
from runs.pev.soundness import unanswered_requests
from tests.fakes.team import plan, step


def answered(*answers: dict[str, Any]) -> PlanContract:
    given = [RequestAnswer(how="There.", **answer) for answer in answers]
    return PlanContract.model_validate(plan(step("one"), step("two", "one"))).model_copy(update={"answers": given})


@pytest.mark.parametrize(
    "answer",
    [
        {"request": 1, "step_id": "one"},
        {"request": 1, "step_id": "two", "criterion": 2},
        {"request": 1, "criterion": 1},
    ],
)
def test_a_step_a_criterion_or_a_success_criterion_answers(answer: dict[str, Any]) -> None:
    assert unanswered_requests(answered(answer), [1]) == []


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"request": 1, "step_id": "three"}, "names “three”, which is no step of this plan."),
        ({"request": 1, "step_id": "one", "criterion": 3}, "names criterion 3 of step “one”, which has 2."),
        ({"request": 1, "criterion": 2}, "names success criterion 2; there are 1."),
        ({"request": 1}, "names neither a step nor a criterion."),
    ],
)
def test_what_an_answer_names_has_to_exist(answer: dict[str, Any], problem: str) -> None:
    assert unanswered_requests(answered(answer), [1]) == [f"The answer to request 1 {problem}"]


def test_no_request_is_left_out_and_none_is_made_up() -> None:
    assert unanswered_requests(answered({"request": 7, "step_id": "one"}), [1, 2]) == [
        "Request 1 is answered nowhere: name in `answers` the step or criterion that meets it.",
        "Request 2 is answered nowhere: name in `answers` the step or criterion that meets it.",
        "The answer to request 7 answers nothing; there are: 1, 2.",
    ]
    assert unanswered_requests(answered({"request": 1, "step_id": "one"}), []) == [
        "The answer to request 1 answers nothing; no one has asked for anything."
    ]
