"""The forms of decisions: what they make of what was sent, and the sentence for what cannot be used."""

from __future__ import annotations

from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from runs.enums import Verb
from runs.errors import InvalidInput
from runs.lifecycle.gates.gate_type import Decision
from runs.web.gates.decision_form import DecisionForm
from runs.web.run.controls import PauseForm, StopForm


def posted(sent: dict[str, str]) -> QueryDict:
    return QueryDict(urlencode(sent))


def test_an_answer_with_new_limits() -> None:
    sent = {"verb": "approve", "digest": "d1", "reason": " As agreed.\0 ", "budget": " 2.50 ", "minutes": "1.5"}
    expected = Decision(Verb.APPROVE, "d1", " As agreed. ", budget=Decimal("2.50"), time_limit=90)
    assert DecisionForm(posted(sent)).decision() == expected


def test_an_answer_needs_nothing_but_a_verb() -> None:
    assert DecisionForm(posted({"verb": "stop"})).decision() == Decision(Verb.STOP, "", "")


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({}, "Choose one of the buttons: approve, reject or stop."),
        ({"verb": "APPROVE"}, "Choose one of the buttons: approve, reject or stop."),
        (
            {"verb": "reject", "reason": "x" * 20_001},
            "This is too long by 1 character; 20,000 fit. Say it more briefly.",
        ),
        ({"verb": "approve", "budget": "much"}, "Write the new limit as a number, such as 5 or 2.50."),
        ({"verb": "approve", "minutes": "1e999990"}, "Write the new limit as a number, such as 5 or 2.50."),
        ({"verb": "approve", "budget": "1e-999990"}, "Write the new limit as a number, such as 5 or 2.50."),
        ({"verb": "approve", "minutes": "nan"}, "Write the new limit as a number, such as 5 or 2.50."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(sent: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        DecisionForm(sent).decision()
    assert str(refused.value) == sentence


def test_what_was_typed_is_kept_whatever_was_wrong() -> None:
    assert DecisionForm({"verb": "no", "reason": " My\0 words. "}).typed == " My words. "
    assert DecisionForm({}).typed == ""


def test_a_reason_to_stop_is_trimmed_and_never_cut() -> None:
    assert StopForm({"reason": "  wrong\0 folder "}).checked() == {"reason": "wrong folder"}
    assert StopForm({}).checked() == {"reason": ""}
    with pytest.raises(InvalidInput, match="This is too long by 1,000 characters; 2,000 fit"):
        StopForm({"reason": "x" * 3_000}).checked()


def test_words_beside_a_point_are_never_cut() -> None:
    form = DecisionForm(QueryDict(f"verb=reject&back=3&note-3={'x' * 2_001}"))
    with pytest.raises(InvalidInput, match="What you wrote about point 3 is too long by 1 character; 2,000 fit"):
        form.decision()
    assert form.notes == {3: "x" * 2_001}


@pytest.mark.parametrize(("sent", "paused"), [("1", True), ("0", False), (None, False)])
def test_a_run_is_held_by_one_and_goes_on_by_zero(sent: str | None, paused: bool) -> None:
    assert PauseForm({} if sent is None else {"paused": sent}).checked() == {"paused": paused}
