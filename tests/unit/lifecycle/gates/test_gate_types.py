"""Every kind of gate declares everything about it, and what was decided is said in its words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.template.loader import get_template

from runs.enums import GateKind, GateStatus, Verb
from runs.lifecycle.gates.gate_type import GateFigures, Subject
from runs.lifecycle.gates.registry import GATE_TYPES, type_of
from runs.models import Attempt, Gate, Plan, Run, Step
from tests import factories

STEP = Step(pk=1, key="review", spec=factories.review_step())
CALL = {"name": "send_mail", "arguments": {}}
MAIL = {"name": "mail__send", "arguments": {"to": "bob@example.com", "subject": "Invoice", "body": "Hello"}}


def gate(kind: GateKind, status: GateStatus = GateStatus.OPEN, **about: Any) -> Gate:
    """A gate that has everything its kind may be about."""
    if kind is not GateKind.PLAN:
        about = {"step": STEP, **about}
    subjects = {"plan": Plan(version=2), "attempt": Attempt(number=1), "call": CALL, "question": "Which?"}
    return Gate(run=Run(policy=factories.policy()), kind=kind.value, status=status.value, **{**subjects, **about})


def test_every_kind_has_a_type() -> None:
    assert [(kind, one.kind) for kind, one in GATE_TYPES.items()] == [(kind, kind) for kind in GateKind]


@pytest.mark.parametrize("kind", GateKind)
def test_its_verbs_are_those_of_its_buttons(kind: GateKind) -> None:
    gate_type = GATE_TYPES[kind]
    assert {gate_type.wording.yes, gate_type.wording.no, Verb.STOP, gate_type.unattended} <= gate_type.verbs


@pytest.mark.parametrize("kind", GateKind)
def test_it_says_what_each_answer_does(kind: GateKind) -> None:
    gate_type = GATE_TYPES[kind]
    assert {*gate_type.does, Verb.STOP} == gate_type.verbs
    assert all(sentence.endswith(".") for sentence in gate_type.does.values())
    answers = gate_type.answers(gate_type.wording)
    buttons = [gate_type.wording.approve, gate_type.wording.reject, "Stop the run"]
    assert [(one.button, one.verb in gate_type.verbs) for one in answers] == [(button, True) for button in buttons]


def test_a_button_that_is_not_there_is_not_explained() -> None:
    gate_type = GATE_TYPES[GateKind.ERROR]
    answers = gate_type.answers(replace(gate_type.wording, reject=""))
    assert [one.verb for one in answers] == [Verb.APPROVE, Verb.STOP]


@pytest.mark.parametrize("kind", GateKind)
def test_it_has_words_and_a_template(kind: GateKind) -> None:
    gate_type, asked = GATE_TYPES[kind], gate(kind)
    assert get_template(gate_type.template)
    assert isinstance(gate_type.subject, Subject)
    words = [
        gate_type.title(asked),
        gate_type.short_question(asked),
        gate_type.heading_of(asked),
        gate_type.about(asked, "“Review”"),
        gate_type.bound_to(asked, 1),
        gate_type.terminal_prompt,
        gate_type.waiting,
        gate_type.label,
    ]
    assert all(words)
    assert isinstance(gate_type.facts(GateFigures()), list)


@pytest.mark.parametrize("kind", GateKind)
@pytest.mark.parametrize("status", GateStatus)
def test_every_decision_has_a_sentence(kind: GateKind, status: GateStatus) -> None:
    decided = gate(kind, status)
    for words in (type_of(decided).decided(decided), type_of(decided).decided_in_history(decided)):
        assert words
        assert "{about}" not in words


@pytest.mark.parametrize(
    ("kind", "status", "about", "words"),
    [
        (GateKind.PLAN, GateStatus.REJECTED, {}, "requested changes to the plan"),
        (GateKind.START, GateStatus.REJECTED, {}, "asked for another plan instead of the start of {step}"),
        (GateKind.STEP, GateStatus.APPROVED, {}, "approved the result of {step}"),
        (GateKind.STEP, GateStatus.STOPPED, {}, "stopped the run at the question of the result of {step}"),
        (GateKind.EXHAUSTED, GateStatus.REJECTED, {}, "requested changes to the result of {step}"),
        (GateKind.EXHAUSTED, GateStatus.APPROVED, {}, "accepted the open points of {step}"),
        (GateKind.ERROR, GateStatus.APPROVED, {}, "let {step} be tried again"),
        (GateKind.ERROR, GateStatus.APPROVED, {"step": None}, "let it be tried again"),
        (GateKind.ERROR, GateStatus.REJECTED, {}, "decided against trying {step} again"),
        (
            GateKind.ERROR,
            GateStatus.REJECTED,
            {"request": 1},
            "requested changes to the plan instead of trying {step} again",
        ),
        (GateKind.BUDGET, GateStatus.REJECTED, {}, "decided against going on beyond the limit"),
        (GateKind.QUESTION, GateStatus.ANSWERED, {}, "answered the question of {step}"),
        (GateKind.QUESTION, GateStatus.ANSWERED, {"step": None}, "answered the question of the planner"),
        (GateKind.TOOL, GateStatus.APPROVED, {}, "approved carrying out “send_mail” in {step}"),
        (GateKind.TOOL, GateStatus.REJECTED, {"step": None}, "decided against carrying out “send_mail”"),
        (GateKind.TOOL, GateStatus.APPROVED, {"call": MAIL}, "approved sending an e-mail in {step}"),
        (
            GateKind.TOOL,
            GateStatus.STOPPED,
            {"call": MAIL},
            "stopped the run at the question of sending an e-mail in {step}",
        ),
    ],
)
def test_the_history_keeps_a_place_for_the_name_of_the_step(
    kind: GateKind, status: GateStatus, about: dict[str, Any], words: str
) -> None:
    decided = gate(kind, status, **about)
    assert type_of(decided).decided_in_history(decided) == words


@pytest.mark.parametrize(
    ("spent", "rest", "suggested", "why"),
    [
        ("0.4211", "0.30", "0.73", "$0.73 is $0.42 spent and $0.30 for the rest, the lower end of its estimate."),
        ("0.60", "0.30", "0.90", "$0.90 is $0.60 spent and $0.30 for the rest, the lower end of its estimate."),
        ("0.10", "0.30", "0.51", "$0.51 is a cent more than the budget so far, which covers the lower end"),
        (
            "0.10",
            None,
            "1.00",
            "$1.00 adds the budget so far once more, because the cost of the rest is not estimated.",
        ),
        ("1.201", None, "1.71", "$1.71 adds the budget so far once more"),
    ],
)
def test_a_suggested_budget_is_what_is_spent_and_the_lower_end_of_the_rest(
    spent: str, rest: str | None, suggested: str, why: str
) -> None:
    asked = gate(GateKind.BUDGET)
    asked.run.policy = factories.policy(budget=Decimal("0.50"))
    figures = GateFigures(spent=Decimal(spent), rest_low=Decimal(rest) if rest else None)
    [limit] = type_of(asked).limits(asked, figures)
    assert (limit.suggested, limit.why.startswith(why.removesuffix("."))) == (Decimal(suggested), True)


@pytest.mark.parametrize(
    ("high", "suggested", "why"),
    [
        ("0.40", "0.70", "$0.70 is $0.30 spent and $0.40 for the rest, the upper end of its estimate. It includes"),
        ("4.00", "1.00", "$1.00 is twice the budget so far. The upper end needs $4.30, so you may"),
        ("0.15", "0.51", "$0.51 is a cent more than the budget so far, which covers the upper end of the estimate."),
    ],
)
def test_a_suggested_budget_covers_the_upper_end_up_to_twice_the_budget(high: str, suggested: str, why: str) -> None:
    asked = gate(GateKind.BUDGET)
    asked.run.policy = factories.policy(budget=Decimal("0.50"))
    figures = GateFigures(spent=Decimal("0.30"), rest_low=Decimal("0.10"), rest_high=Decimal(high))
    [limit] = type_of(asked).limits(asked, figures)
    assert (limit.suggested, limit.why.startswith(why)) == (Decimal(suggested), True)


def test_the_facts_of_a_result_say_who_is_confident_of_what() -> None:
    facts = type_of(gate(GateKind.STEP)).facts(GateFigures(attempt=2, allowed=3, confidence=0.86))
    assert facts == ["attempt 2 of 3", "the AI is 86 % confident in its own result"]


def test_a_suggested_budget_is_at_most_twice_what_the_lower_end_needs() -> None:
    asked = gate(GateKind.BUDGET)
    asked.run.policy = factories.policy(budget=Decimal("0.50"))
    figures = GateFigures(spent=Decimal("0.30"), rest_low=Decimal("2.00"), rest_high=Decimal("9.00"))
    [limit] = type_of(asked).limits(asked, figures)
    assert (limit.suggested, "twice what the lower end" in limit.why) == (Decimal("4.60"), True)


@pytest.mark.parametrize(("worked_seconds", "suggested"), [(1_800, 60), (1_861, 62), (600, 30)])
def test_a_suggested_time_limit_counts_from_what_was_worked(worked_seconds: int, suggested: int) -> None:
    asked = gate(GateKind.BUDGET)
    asked.run.policy = factories.policy(budget=None, time_limit=1_800)
    [limit] = type_of(asked).limits(asked, GateFigures(worked_seconds=worked_seconds))
    assert (limit.name, limit.suggested) == ("minutes", suggested)


def test_a_suggested_time_limit_is_enough_for_the_rest_at_the_same_pace() -> None:
    asked = gate(GateKind.BUDGET)
    asked.run.policy = factories.policy(budget=None, time_limit=1_800)
    [limit] = type_of(asked).limits(asked, GateFigures(worked_seconds=1_860, done=2, steps=3))
    assert limit.suggested == 31 + 16
    assert limit.why == "47 minutes are the 31 worked and 16 for the rest at the same pace."
