"""The ledger is read from the newest plan, with what was wrong last, and it decides the outcome."""

from typing import Any

import pytest

from runs import history
from runs.enums import GateKind, Outcome, StepStatus, Verb
from runs.lifecycle import facts, gates
from runs.models import Run
from runs.pev.outcome import Ledger, StepEntry, outcome_of
from runs.reading import ledger
from tests import factories as made
from tests.integration.lifecycle.small import done, started

pytestmark = pytest.mark.django_db


def ledger_of(run: Run, **given: Any) -> Ledger:
    return ledger.ledger_of(run, run.plans.newest(), **given)


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
    made.decide(run, GateKind.EXHAUSTED, Verb.APPROVE)
    with history.writing():
        facts.propose_plan(run, made.plan(), reason="Asked again.", estimate=None)
    book = ledger_of(run)
    assert book.steps[1] == StepEntry("Review the clauses", StepStatus.ACCEPTED, made.CRITIQUE)


def test_the_judged_criteria_are_read_back_with_their_support() -> None:
    run = made.planning()
    weak = made.result("C1", "Done.", [])
    run.final = made.judgement([weak])
    assert ledger_of(run).criteria == [weak]


def test_a_failure_that_is_given_goes_before_the_one_that_is_stored() -> None:
    run = made.planning()
    run.failure = "Stored."
    assert (ledger_of(run).failure, ledger_of(run, failure="Given.").failure) == ("Stored.", "Given.")


def test_the_stored_outcome_is_what_the_ledger_gives() -> None:
    run, over = made.finished_partial(), made.stopped()
    assert run.outcome == outcome_of(ledger_of(run)) == Outcome.PARTIAL
    assert over.outcome == outcome_of(ledger_of(over, cancelled=True)) == Outcome.CANCELLED


def test_an_answer_of_an_earlier_plan_does_not_make_a_later_one_succeed() -> None:
    run = started("a", replans=1)
    done(run, "a", {made.REVIEW: "A"})
    made.final_answer(run, met=False)
    run.refresh_from_db()
    assert (run.status, run.replans, bool(run.final), run.answer) == ("planning", 1, True, made.ANSWER)
    made.propose(run, made.plan(made.plan_step("b", "B")))
    run.refresh_from_db()
    assert (run.final, run.answer) == (None, "")
    gates.cancel(run.pk, made.alice())
    assert outcome_of(ledger_of(run)) is not Outcome.SUCCEEDED
