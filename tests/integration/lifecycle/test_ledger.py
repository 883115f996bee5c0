"""Proves that the ledger is read from the newest plan, with what was wrong last, and that it decides the outcome."""

import pytest

from runs.enums import Exhausted, Outcome, StepStatus
from runs.lifecycle import facts
from runs.lifecycle.ledger import ledger_of
from runs.pev.outcome import StepEntry, outcome_of
from tests import factories as made

pytestmark = pytest.mark.django_db


def test_before_there_is_a_plan_nothing_is_achieved() -> None:
    book = ledger_of(made.planning())
    assert (book.steps, book.criteria, book.answered, outcome_of(book)) == ([], [], False, Outcome.FAILED)


def test_only_the_newest_plan_counts() -> None:
    book = ledger_of(made.replanned())
    assert [step.name for step in book.steps] == [
        "List the contracts and their parties",
        "Review the service agreement",
    ]


def test_a_step_carries_the_feedback_on_its_last_attempt() -> None:
    book = ledger_of(made.exhausted_gate())
    assert book.steps[1] == StepEntry("Review the clauses", StepStatus.WAITING, made.CRITIQUE)


def test_feedback_that_was_heeded_is_not_carried_on() -> None:
    book = ledger_of(made.step_gate())
    assert book.steps[1].feedback == ""


def test_the_gap_of_a_step_that_was_accepted_is_carried_into_a_later_plan() -> None:
    run = made.exhausted_gate()
    made.decide(run, made.GateKind.EXHAUSTED, made.Verb.APPROVE)
    facts.propose_plan(run, made.plan(), reason="Asked again.", estimate={})
    book = ledger_of(run)
    assert book.steps[1] == StepEntry("Review the clauses", StepStatus.ACCEPTED, made.CRITIQUE)


def test_the_judged_criteria_are_read_back_with_their_support() -> None:
    book = ledger_of(made.finished_partial())
    assert [(result.label, result.passed, result.supported) for result in book.criteria] == [
        ("C1", False, False),
        ("C2", True, True),
    ]


def test_a_failure_that_is_given_goes_before_the_one_that_is_stored() -> None:
    run = made.planning()
    run.failure = "Stored."
    assert (ledger_of(run).failure, ledger_of(run, failure="Given.").failure) == ("Stored.", "Given.")


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (made.finished_succeeded, Outcome.SUCCEEDED),
        (made.finished_partial, Outcome.PARTIAL),
        (made.stopped, Outcome.CANCELLED),
    ],
)
def test_the_stored_outcome_is_what_the_ledger_gives(state: object, outcome: Outcome) -> None:
    run = state()  # type: ignore[operator]
    assert run.outcome == outcome
    assert outcome_of(ledger_of(run, cancelled=outcome is Outcome.CANCELLED)) == outcome


def test_an_answer_of_an_earlier_plan_does_not_make_a_later_one_succeed() -> None:
    run = made.step_gate(replans=1, exhausted=Exhausted.FAIL)
    made.decide(run, made.GateKind.STEP, made.Verb.APPROVE)
    made.pass_notices(run)
    made.answer(run, met=False)
    run.refresh_from_db()
    assert (run.status, run.replans, run.final) == ("planning", 1, None)
    made.gates.cancel(run.pk, made.alice())
    assert outcome_of(ledger_of(run)) is not Outcome.SUCCEEDED
