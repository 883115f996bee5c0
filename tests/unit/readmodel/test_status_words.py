"""Decisions as pages and exports say them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter

from runs.enums import GateKind, GateStatus
from runs.models import Gate, Plan, Step
from runs.pev.checks.base import Check
from runs.pev.checks.matches import Matches
from runs.pev.checks.registry import AnyCheck
from runs.pev.checks.word_count import WordCount
from runs.readmodel.status_words import check_in_words, decided, decision_in_words, decision_mark, words
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
        (GateKind.TOOL, GateStatus.REJECTED, {"call": CALL}, "decided against carrying out “send_mail”"),
        (GateKind.TOOL, GateStatus.WITHDRAWN, {"call": CALL}, "was asked about carrying out “send_mail”"),
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


# ---- What checks look for, as a person reads it at the plan gate -----------------------------------------------------


CHECK: TypeAdapter[Check] = TypeAdapter(AnyCheck)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            {"kind": "quotes_occur", "path": "a.md"},
            "each quoted passage of a.md stands word for word in the source named next to it",
        ),
        (
            {"kind": "quotes_occur", "path": "a.csv", "column": "text", "source_column": "document"},
            "each value of the column text of a.csv stands word for word in the source that its column document names",
        ),
        (
            {"kind": "covers", "path": "a.md", "files": "contracts/", "source": "list.csv", "column": "name"},
            "a.md deals with each of the given files contracts/, and of the values of the column name of list.csv",
        ),
        (
            {"kind": "covers", "path": "a.csv", "items": ["x", "y"], "source": "list.md", "in_column": "who"},
            "the column who of a.csv deals with each of list.md, and of “x”, “y”",
        ),
        (
            {
                "kind": "count",
                "path": "a.md",
                "figure": r"(\d+) duplicates",
                "terms": [{"path": "d.csv", "of": "rows"}, {"path": "@result/d.csv", "of": "rows", "minus": True}],
            },
            r"the number in a.md that matches (\d+) duplicates is the number of rows of d.csv minus "
            "the number of rows of d.csv as the run has left it",
        ),
        (
            {
                "kind": "count",
                "path": "a.md",
                "figure": r"(\d+)",
                "terms": [
                    {"path": "b/", "of": "files"},
                    {"path": "b.csv", "of": "sum", "column": "n"},
                    {"path": "b.md", "of": "matches", "pattern": "^x"},
                    {"path": "b.md", "of": "lines"},
                ],
            },
            r"the number in a.md that matches (\d+) is the number of files b/ plus the sum of the column n of b.csv "
            "plus the number of matches of ^x in b.md plus the number of lines of b.md",
        ),
        (
            {"kind": "absent", "path": "contracts/", "terms": ["cap", "limit"]},
            "“cap”, “limit” occur nowhere in contracts/, read whole",
        ),
    ],
)
def test_in_words(check: dict[str, Any], words: str) -> None:
    assert check_in_words(CHECK.validate_python(check)) == words


def test_bounds_are_told_as_they_hold() -> None:
    words = check_in_words(WordCount(kind="word_count", path="a.md", min=10, max=20))
    assert words == "a.md has at least 10 and at most 20 words"
    matches = check_in_words(Matches(kind="matches", path="a.md", pattern="x+", min=2))
    assert matches == "a.md has at least 2 passages of the form x+"
    comments = check_in_words(Matches(kind="matches", path="a.docx", pattern="^F", comments=True))
    assert comments == "a.docx has a passage of the form ^F in its comments"
