"""What a person is told at an error: what was tried, and what each answer leads to."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from runs.contracts.ports import Usage
from runs.engine import claim
from runs.enums import ApprovalPolicy, GateKind, GateStatus, Role, Verb, WorkKind
from runs.errors import ModelError
from runs.lifecycle.gates import error_gate
from runs.models import Gate, ModelCall, Run
from runs.readmodel.gate_details import ErrorGateWords, held_at
from runs.readmodel.run_view import reading_of
from runs.store import journal
from tests import factories as made
from tests.integration.lifecycle.small import done, started

pytestmark = pytest.mark.django_db


def gates_of(run: Run) -> list[Gate]:
    return list(run.gates.filter(status=GateStatus.OPEN, kind=GateKind.ERROR).select_related("work").order_by("id"))


DOWN = ModelError("Down.", kind="api_error", retriable=True)


def held(run: Run) -> ErrorGateWords:
    [only] = held_at(gates_of(run), reading_of(run).plan).values()
    return only


def fail(run: Run, kind: WorkKind, key: str = "", *, answers: int = 0, failures: int = 0, reset: bool = False) -> None:
    """The work had so many answers, then so many calls without one, and waits at an error."""
    lease = claim.claim(made.open_work(run, kind, key).pk)
    assert lease is not None
    with made.committing(lease) as mine:
        for number in range(1, answers + 1):
            made.called(mine, Role.EXECUTOR, 10, 10, number)
        for _ in range(failures):
            question = journal.JournalQuestion(Role.EXECUTOR, "a-model", "q")
            journal.write_failure(mine, journal.CallPlace(0, answers + 1), question, DOWN, Usage(), Decimal(0), 5)
        error_gate.ask(mine, "Something failed.", reset=reset)


def test_calls_without_an_answer_are_counted_with_their_time() -> None:
    run = made.step_error()
    first = ModelCall.objects.exclude(error="").earliest("id")
    ModelCall.objects.filter(pk=first.pk).update(created_at=F("created_at") - timedelta(minutes=7))
    assert held(run) == ErrorGateWords(
        "The executor (claude-sonnet-5-5) was asked 8 times within 7 minutes, each time without an answer.",
        "Attempt 1 goes on from where it stopped. That helps only once the cause is gone.",
        "The planner gets your words and this error. It writes version 2 for approval.",
    )


def test_failures_before_an_answer_do_not_count() -> None:
    fail(run := started("a"), WorkKind.ATTEMPT, "a", failures=2)
    made.decide(run, GateKind.ERROR, Verb.APPROVE)
    fail(run, WorkKind.ATTEMPT, "a", answers=2)
    assert held(run).tried == "The executor (claude-sonnet-5-5) had answered 2 times before."
    made.decide(run, GateKind.ERROR, Verb.APPROVE)
    fail(run, WorkKind.ATTEMPT, "a", failures=1)
    assert held(run).tried == "The executor (a-model) was asked 1 time, each time without an answer."


def test_answers_that_could_not_be_used_are_said_and_not_gone_on_from() -> None:
    fail(run := started("a"), WorkKind.ATTEMPT, "a", answers=3, reset=True)
    told = held(run)
    assert told.tried.endswith("answered 3 times, and no answer could be used.")
    assert told.again == "Attempt 1 goes on from its beginning. That helps only once the cause is gone."


def test_work_that_asked_no_model_has_tried_nothing() -> None:
    fail(run := made.planning(), WorkKind.PLAN)
    assert held(run) == ErrorGateWords("", "The planner is asked again, with what it was told before.", "")


def test_an_answer_that_could_not_be_written_is_written_again() -> None:
    done(run := started("a"), "a", {"a.md": "A"})
    fail(run, WorkKind.FINALISE)
    assert held(run).again == "The answer of the run is written again."


def test_steps_under_way_are_said_to_end_first_and_what_the_policy_lets_run() -> None:
    fail(run := started("a", "b", "c", parallel=3, plan_approval=ApprovalPolicy.FIRST), WorkKind.ATTEMPT, "a")
    assert held(run).changes == (
        "The planner gets your words and this error, once 2 other steps have ended. "
        "It writes version 2 and goes on, unless it asks for less."
    )


def test_any_number_of_errors_costs_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = started("a", "b")
    for key, count in (("a", 1), ("b", 2)):
        fail(run, WorkKind.ATTEMPT, key)
        gates, plan = gates_of(run), reading_of(run).plan
        assert plan
        assert len(plan.steps) == 2
        with django_assert_num_queries(1):
            assert len(held_at(gates, plan)) == count
    with django_assert_num_queries(0):
        assert held_at([], plan) == {}
