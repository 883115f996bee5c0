"""The loop over the fake Messages API: answers of no use, services that are away, and a database that goes away."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from runs.engine.perform import perform
from runs.enums import (
    EventKind,
    GateKind,
    Outcome,
    RunStatus,
    WorkStatus,
)
from runs.models import Attempt, ModelCall, ToolCall, User, WorkItem
from tests.factories import Submit, answer, drain, finish, hurry, open_gate
from tests.fakes.anthropic_answers import (
    Answer,
    CutStream,
    EndEarly,
    ErrorInStream,
    Fail,
    Garbage,
    Overrun,
    Refuse,
    Request,
    Say,
)
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (Say("Here is my plan: first, read everything."), "not valid JSON"),
        (Overrun('{"goal": "Do'), "cut off"),
        (Say(json.dumps(plan(step("one", "nowhere")))), "no step of this plan"),
        (Say(json.dumps(plan(step("one", "two"), step("two", "one")))), "circle"),
        (Say(json.dumps(plan(step("one"), step("one")))), "used twice"),
        (Say(json.dumps(plan(step("one", outputs=("../../etc/passwd",))))), "cannot be written"),
        (Say(json.dumps(plan(*(step(f"s{n}") for n in range(41))))), "allows 40"),
    ],
)
def test_a_bad_plan_goes_back_with_its_errors(
    api: FakeAnthropic, submitted: Submit, alice: User, bad: Answer, told: str
) -> None:
    def first_bad(request: Request, right: Answer) -> Answer:
        return bad if len(team.seen["planner"]) == 1 else right

    team = Team(planner=first_bad)
    api.script(team)
    run = submitted()
    drain(run)
    assert told in team.seen["planner"][1].last_text
    assert run.status == RunStatus.AWAITING_APPROVAL


@pytest.mark.slow
@pytest.mark.parametrize("bad", [Say("No."), Refuse("I would rather not."), Say(json.dumps(plan()))])
def test_a_planner_that_never_delivers_is_a_question_to_a_person(
    api: FakeAnthropic, submitted: Submit, alice: User, bad: Answer
) -> None:
    team = Team(planner=lambda request, right: bad)
    api.script(team)
    run = submitted()
    drain(run)
    assert open_gate(run).kind == GateKind.ERROR
    assert len(team.seen["planner"]) <= 3
    team.planner = None
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


@pytest.mark.parametrize(
    "bad",
    [
        Fail(500, "api_error", "internal"),
        Fail(529, "overloaded_error", "overloaded"),
        Fail(429, "rate_limit_error", "slow down", retry_after=30),
        CutStream("half of"),
        EndEarly("half of"),
        ErrorInStream("overloaded_error"),
        Garbage(),
    ],
    ids=lambda bad: type(bad).__name__ + str(getattr(bad, "status", "")),
)
def test_a_passing_fault_is_waited_for_without_a_thread(
    api: FakeAnthropic, submitted: Submit, alice: User, bad: Answer
) -> None:
    def once(request: Request, right: Answer) -> Answer:
        return bad if len(team.seen["executor"]) == 2 else right

    team = Team(plan=plan(step("one")), executor=once)
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice)
    before = timezone.now()
    drain(run)
    work = WorkItem.objects.get(run=run, kind="attempt")
    assert work.status == WorkStatus.READY
    wait = work.due_at - before
    minimum = 30 if isinstance(bad, Fail) and bad.retry_after else 0.5
    assert timedelta(seconds=minimum) < wait < timedelta(seconds=minimum + 5)
    assert run.events.filter(kind=EventKind.WAITING_FOR_MODEL).count() == 1
    hurry(run)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert ToolCall.objects.count() == 1, "what was journalled is not done again"
    assert len(team.seen["executor"]) == 3, "only the call in flight is paid for twice"


def test_a_refused_key_is_a_question_and_loses_nothing(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def no_key(request: Request, right: Answer) -> Answer:
        return Fail(401, "authentication_error", "invalid x-api-key")

    team = Team(executor=no_key, plan=plan(step("one")))
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.cause) == (GateKind.ERROR, "authentication_error")
    assert "ANTHROPIC_API_KEY" in gate.question
    assert "test-key-of-nobody" not in json.dumps(list(run.events.values_list("data", flat=True)))
    team.executor = None
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert Attempt.objects.count() == 1


def test_a_service_that_stays_down_ends_as_a_question(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(planner=lambda request, right: Fail(529, "overloaded_error", "overloaded")))
    run = submitted()
    for _ in range(12):
        drain(run)
        hurry(run)
    assert open_gate(run).kind == GateKind.ERROR
    assert ModelCall.objects.filter(run=run).count() == 8


@pytest.mark.parametrize("stopped", ['INSERT INTO "runs_modelcall"', 'INSERT INTO "runs_attempt"'])
def test_a_database_that_goes_away_in_mid_work_asks_nobody(api: FakeAnthropic, submitted: Submit, stopped: str) -> None:
    """The lease runs out, and whoever takes the work over does what is left."""
    api.script(Team())
    run = submitted(plan_approval="never")
    item = WorkItem.objects.get(run=run)
    left = [True]

    def away(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(stopped) and left:
            left.clear()
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(away):
        perform(item.pk)
    item.refresh_from_db()
    assert (left, item.status, run.gates.count()) == ([], WorkStatus.LEASED, 0)
    WorkItem.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    perform(item.pk)
    item.refresh_from_db()
    assert (item.status, item.losses, run.gates.count()) == (WorkStatus.DONE, 0, 0)
