"""The ledger is read from the newest plan, with every attempt that did not pass, and it decides the outcome."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.enums import AttemptStatus, Exhausted, GateKind, GateStatus, Outcome, StepStatus, Verb
from runs.lifecycle import criteria_ledger, gate_decisions, outcomes
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Run
from runs.pev.outcome import Ledger, outcome_of
from runs.store import event_log
from tests import factories as made
from tests.integration.lifecycle.small import done, started, undone

pytestmark = pytest.mark.django_db


def ledger_of(run: Run, **given: Any) -> Ledger:
    return criteria_ledger.ledger_of(run, run.plans.newest(), **given)


def test_before_there_is_a_plan_nothing_is_achieved() -> None:
    book = ledger_of(made.planning())
    assert (book.steps, book.criteria, book.answered, outcome_of(book)) == ([], [], False, Outcome.FAILED)


def test_only_the_newest_plan_counts() -> None:
    book = ledger_of(made.replanned())
    assert [step.name for step in book.steps] == [
        "List the contracts and their parties",
        "Review the service agreement",
    ]


def test_a_step_carries_every_attempt_with_what_was_said_of_it() -> None:
    run = made.exhausted_gate()
    made.decide(run, GateKind.EXHAUSTED, Verb.REJECT, "Look at the schedules.")
    review = ledger_of(run).steps[1]
    assert (review.name, review.status) == ("Review the clauses", StepStatus.RUNNING)
    said = [(one.number, one.status, one.feedback, one.rejections) for one in review.tried]
    assert said == [
        (1, AttemptStatus.FAILED, made.CRITIQUE, []),
        (2, AttemptStatus.FAILED, made.CRITIQUE, [("alice", "Look at the schedules.")]),
        (3, AttemptStatus.EXECUTING, "", []),
    ]
    assert [one.label for one in review.tried[0].results if not one.met] == ["C1", "C2"]


def test_an_attempt_that_repeats_the_one_before_is_told_as_such() -> None:
    run = started("a", attempts=4, replans=0, exhausted=Exhausted.FAIL)
    criticised = [made.result("C1", "a is done", [], claimed=False)]
    for results in ([], criticised, [], []):
        undone(run, "a", results=results)
    assert [one.repeats for one in ledger_of(run).steps[0].tried] == [False, False, True, True]


def test_attempts_at_steps_that_passed_are_not_read() -> None:
    run = made.finished_succeeded()
    plan = run.plans.newest()
    with CaptureQueriesContext(connection) as queries:
        book = criteria_ledger.ledger_of(run, plan)
    assert [list(step.tried) for step in book.steps] == [[], [], []]
    assert not any('runs_attempt"."output' in query["sql"] for query in queries)


def test_the_gap_of_a_step_that_was_accepted_is_carried_into_a_later_plan() -> None:
    run = made.exhausted_gate()
    made.decide(run, GateKind.EXHAUSTED, Verb.APPROVE)
    with event_log.writing():
        outcomes.propose_plan(run, made.plan(), reason="Asked again.", estimate=None)
    review = ledger_of(run).steps[1]
    assert (review.name, review.status) == ("Review the clauses", StepStatus.ACCEPTED)
    assert [one.feedback for one in review.tried] == [made.CRITIQUE, made.CRITIQUE]
    assert review.kept_by_person


@pytest.mark.parametrize(
    ("how", "expected", "kept"),
    [
        ("person", ["a.draft"], True),
        ("terminal", ["a.draft", "b.md"], True),
        ("--approve-all", ["a.draft"], False),
        ("person", [], False),
        ("person", ["b.md"], False),
    ],
)
def test_a_person_who_accepts_a_step_with_an_expected_file_makes_it_count(
    how: str, expected: list[str], kept: bool
) -> None:
    run = made.executing(made.plan(made.plan_step("a", "A", expected_outputs=expected)), attempts=1, replans=0)
    undone(run, "a")
    gate = run.gates.get(status=GateStatus.OPEN)
    gate_decisions.decide(gate.pk, made.alice(), Decision(Verb.APPROVE, gate.digest, how=how))
    assert ledger_of(run).steps[0].kept_by_person is kept


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
    assert over.outcome == outcome_of(ledger_of(over)) == Outcome.CANCELLED


def test_an_answer_of_an_earlier_plan_does_not_make_a_later_one_succeed() -> None:
    run = started("a", replans=1)
    done(run, "a", {made.REVIEW: "A"})
    made.final_answer(run, met=False)
    run.refresh_from_db()
    assert (run.status, run.replans, bool(run.final), run.answer) == ("planning", 1, True, made.ANSWER)
    made.propose(run, made.plan(made.plan_step("b", "B")))
    run.refresh_from_db()
    assert (run.final, run.answer) == (None, "")
    gate_decisions.cancel(run.pk, made.alice())
    assert outcome_of(ledger_of(run)) is not Outcome.SUCCEEDED
