"""Decisions as pages and exports say them."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import GateKind, GateStatus
from runs.models import Gate, Plan, Step
from runs.readmodel.status_words import decided, decision_in_words, decision_mark, words
from tests import factories

STEP = Step(pk=1, spec=factories.review_step())
CALL = {"name": "send_mail", "arguments": {}}


def gate(kind: GateKind, status: GateStatus, **about: Any) -> Gate:
    return Gate(kind=kind.value, status=status.value, **about)


@pytest.mark.parametrize(
    ("kind", "status", "about", "said"),
    [
        (GateKind.PLAN, GateStatus.APPROVED, {"plan": Plan(version=2)}, "approved version 2 of the plan"),
        (GateKind.PLAN, GateStatus.REJECTED, {}, "requested changes to the plan"),
        (GateKind.START, GateStatus.APPROVED, {"step": STEP}, "approved the start of “Review the clauses”"),
        (
            GateKind.START,
            GateStatus.REJECTED,
            {"step": STEP},
            "asked for another plan instead of the start of “Review the clauses”",
        ),
        (
            GateKind.START,
            GateStatus.STOPPED,
            {"step": STEP},
            "stopped the run when asked about the start of “Review the clauses”",
        ),
        (GateKind.STEP, GateStatus.APPROVED, {"step": STEP}, "accepted the result of “Review the clauses”"),
        (GateKind.STEP, GateStatus.REJECTED, {"step": STEP}, "requested changes to the result of “Review the clauses”"),
        (GateKind.EXHAUSTED, GateStatus.APPROVED, {"step": STEP}, "accepted “Review the clauses” with open points"),
        (
            GateKind.EXHAUSTED,
            GateStatus.REJECTED,
            {"step": STEP},
            "requested changes to the result of “Review the clauses”",
        ),
        (GateKind.ERROR, GateStatus.APPROVED, {"step": STEP}, "let “Review the clauses” be tried again"),
        (GateKind.ERROR, GateStatus.APPROVED, {}, "let it be tried again"),
        (
            GateKind.ERROR,
            GateStatus.REJECTED,
            {"step": STEP, "request": 1},
            "requested changes to the plan instead of trying “Review the clauses” again",
        ),
        (GateKind.ERROR, GateStatus.REJECTED, {}, "decided against trying again"),
        (GateKind.BUDGET, GateStatus.APPROVED, {}, "approved going on beyond the limit"),
        (GateKind.QUESTION, GateStatus.ANSWERED, {"question": "Which?"}, "answered the question “Which?”"),
        (GateKind.TOOL, GateStatus.REJECTED, {"call": CALL}, "decided against the call send_mail"),
        (GateKind.TOOL, GateStatus.WITHDRAWN, {"call": CALL}, "was asked about the call send_mail"),
    ],
)
def test_what_was_decided(kind: GateKind, status: GateStatus, about: dict[str, Any], said: str) -> None:
    assert decision_in_words(gate(kind, status, **about)) == said


@pytest.mark.parametrize(
    ("kind", "status", "about", "word", "mark"),
    [
        (GateKind.EXHAUSTED, GateStatus.APPROVED, {"step": STEP}, "accepted with open points", "accepted"),
        (GateKind.EXHAUSTED, GateStatus.APPROVED, {}, "approved", "approved"),
        (GateKind.STEP, GateStatus.APPROVED, {"step": STEP}, "approved", "approved"),
        (GateKind.STEP, GateStatus.REJECTED, {"step": STEP}, "changes requested", "rejected"),
        (GateKind.BUDGET, GateStatus.REJECTED, {}, "declined", "rejected"),
        (GateKind.ERROR, GateStatus.REJECTED, {}, "declined", "rejected"),
        (GateKind.ERROR, GateStatus.REJECTED, {"request": 1}, "changes requested", "rejected"),
    ],
)
def test_a_result_that_was_kept_with_open_points_is_marked_as_such(
    kind: GateKind, status: GateStatus, about: dict[str, Any], word: str, mark: str
) -> None:
    found = gate(kind, status, **about)
    assert (decided(found), decision_mark(found)) == (word, mark)


def test_the_moments_of_a_policy_have_words() -> None:
    assert (words("after"), words("before")) == ("after verification", "before execution")
