"""Money and time: a person is asked before the call that could break a limit, and nothing is lost by the question."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from runs.accounting.prices import Bound, bound_of, price_of
from runs.contracts.ports import Usage
from runs.engine import recording
from runs.engine.perform import perform
from runs.enums import AttemptStatus, EventKind, GateKind, GateStatus, Outcome, RunStatus, Verb, WorkStatus
from runs.errors import DecisionRefused, InvalidInput
from runs.lifecycle import run_limits
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Gate, ModelCall, Run, User, WorkItem
from tests.factories import Submit, answer, drain, finish, hurry, leave_budget, open_gate
from tests.fakes.anthropic_answers import Answer, Fail, Overrun, Request, Slow
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.mark.parametrize(("budget", "starts"), [("0.05", False), ("0.20", True)])
def test_a_budget_that_pays_for_no_plan_is_refused_before_anything_runs(
    api: FakeAnthropic, submitted: Submit, alice: User, budget: str, starts: bool
) -> None:
    api.script(Team())
    if not starts:
        with pytest.raises(InvalidInput, match=r"does not pay for a plan: .* may cost up to \$0\.[01]\d\. "):
            submitted(budget=Decimal(budget))
        assert Run.objects.count() == 0
        return
    run = submitted(budget=Decimal(budget), files={"notes.md": b"Some notes.\n"})
    drain(run)
    assert open_gate(run).kind == GateKind.PLAN


def spent(run: Run) -> Decimal:
    return ModelCall.objects.filter(run=run).aggregate(sum=Sum("cost_usd"))["sum"] or Decimal(0)


def raise_to(run: Run, user: Any, **limits: Any) -> None:
    gate = open_gate(run)
    decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest, **limits))


def at_the_budget(api: FakeAnthropic, submitted: Submit, alice: User, **policy: Any) -> Run:
    """A run that may plan, but whose first step could cost more than what is left."""
    api.script(Team())
    run = submitted(budget=Decimal("0.70"), **policy)
    drain(run)
    leave_budget(run, "0.02")
    answer_again(run, alice)
    drain(run)
    return run


def answer_again(run: Run, user: Any) -> None:
    """Approve the plan under the policy as it is now: the first click is refused, since it has changed (G1)."""
    with pytest.raises(DecisionRefused):
        answer(run, user)
    answer(run, user)


def test_a_call_that_could_exceed_the_budget_is_not_made(api: FakeAnthropic, submitted: Submit) -> None:
    api.script(Team())
    run = leave_budget(submitted(), "0.05")
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, len(api.requests)) == (GateKind.BUDGET, 0)
    assert gate.question.startswith("$0.00 of the budget of $0.05 is spent; the next call may cost up to $0.1")
    assert ". Raise the limit, or finish" in gate.question
    assert WorkItem.objects.get(run=run).status == WorkStatus.SUSPENDED


@pytest.mark.slow
def test_raised_the_run_goes_on_with_its_approval(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    run = at_the_budget(api, submitted, alice)
    asked = len(api.requests)
    raise_to(run, alice, budget=Decimal("5.00"))
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(api.requests) > asked
    assert [gate.kind for gate in run.gates.filter(status=GateStatus.APPROVED)] == [GateKind.PLAN, GateKind.BUDGET]
    assert run.events.get(kind=EventKind.LIMITS_RAISED).data["budget"] == "5.00"
    assert spent(run) < 5


def test_finished_with_what_is_there_it_is_partial_at_most(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    run = at_the_budget(api, submitted, alice)
    answer(run, alice, Verb.REJECT)
    run.refresh_from_db()
    assert (run.status, run.outcome) == (RunStatus.FINISHED, Outcome.FAILED), "no step had passed"
    assert run.ended == "The limit was reached, and alice finished the run with what was there."
    assert run.gates.get(status=GateStatus.REJECTED).reason == "Finish now, with what is done."


def test_what_has_passed_is_kept_when_it_is_finished(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team())
    run = submitted()
    drain(run)
    answer(run, alice)
    perform(WorkItem.objects.get(run=run, status=WorkStatus.READY).pk)
    assert Attempt.objects.get(step__key="one").status == AttemptStatus.PASSED
    leave_budget(run, "0.01")
    perform(WorkItem.objects.get(run=run, status=WorkStatus.READY).pk)
    answer(run, alice, Verb.REJECT)
    run.refresh_from_db()
    assert (run.outcome, run.head.file_count) == (Outcome.PARTIAL, 2)
    told = run.events.get(kind=EventKind.FINISHED).data["gaps"]
    assert told[0] == run.ended
    assert any("Do two" in gap for gap in told)
    assert "There is no final answer." in told


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "higher than the old one"),
        ({"budget": Decimal("0.05")}, "higher than the old one"),
        ({"budget": Decimal("0.04")}, "not lowered"),
        ({"time_limit": 9_000}, "higher than the old one"),
        ({"budget": Decimal(1_000_000)}, "cannot be set"),
    ],
)
def test_a_limit_can_only_be_raised(
    api: FakeAnthropic, submitted: Submit, alice: User, limits: dict[str, Any], said: str
) -> None:
    run = leave_budget(submitted(), "0.05")
    drain(run)
    with pytest.raises(InvalidInput, match=said):
        raise_to(run, alice, **limits)
    assert Gate.objects.get().status == GateStatus.OPEN


def test_calls_in_flight_count_as_spent_and_one_gate_asks_for_all(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two steps at once, and money for one: while the first is asked, the second is not."""
    api.script(Team(plan=plan(step("one"), step("two"))))
    run = submitted()
    drain(run)
    answer(run, alice)
    leave_budget(run, "0.06")
    first, second = WorkItem.objects.filter(run=run, status=WorkStatus.READY).order_by("pk")
    clients = recording.clients()

    class InFlight:
        def ask(self, ask: Any, keep_going: Any, draft: Any) -> Any:
            perform(second.pk)
            return clients.ask(ask, keep_going, draft)

    monkeypatch.setattr("runs.engine.perform.clients", InFlight)
    perform(first.pk)
    assert Gate.objects.filter(kind=GateKind.BUDGET).count() == 1
    assert "and calls in progress may cost up to $0.0" in open_gate(run).question
    assert not ModelCall.objects.filter(work=second).exists()
    assert spent(run) < Decimal("0.06")


@pytest.mark.parametrize(
    ("budget", "calls", "first"), [("0.05", 0, None), ("0.20", 1, 0), ("0.67", 1, 30_000), ("2.00", 8, 30_000)]
)
def test_no_budget_is_ever_overshot_and_answers_get_what_it_leaves(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    budget: str,
    calls: int,
    first: int | None,
) -> None:
    """Three steps side by side, and every call costs all that it may. `first`: the room of the first answer in tokens,
    in ten thousands; the rest changes with the words of the prompts.
    """
    clients = recording.clients()

    class Dear:
        def ask(self, ask: Any, keep_going: Any, draft: Any) -> Any:
            bound = bound_of(ask, timezone.now().date())
            held = WorkItem.objects.filter(run=run).aggregate(sum=Sum("reserved_usd"))["sum"]
            assert bound is not None
            assert bound.of(ask.max_tokens) <= held <= Decimal(budget) - spent(run)
            price = price_of(ask.model, 1, timezone.now().date())
            assert price is not None
            question = int(bound.question * 1_000_000 / price.cache_write_5m)
            usage = Usage(cache_write_5m=question, output=ask.max_tokens)
            return replace(clients.ask(ask, keep_going, draft), usage=usage)

    monkeypatch.setattr("runs.engine.perform.clients", Dear)
    api.script(Team(plan=plan(step("one"), step("two"), step("three"))))
    run = leave_budget(submitted(), budget)
    drain(run)
    if open_gate(run).kind == GateKind.PLAN:
        answer(run, alice)
        drain(run)
    asked = [request.body["max_tokens"] for request in api.requests]
    assert spent(run) <= Decimal(budget)
    assert open_gate(run).kind == GateKind.BUDGET
    assert all(tokens >= run_limits.MIN_ANSWER for tokens in asked)
    assert (len(asked), asked[0] // 10_000 * 10_000 if asked else None) == (calls, first)


def cut_off_while_short(request: Request, right: Answer) -> Answer:
    return right if request.body["max_tokens"] == 32_000 else Overrun("{")


def test_answers_that_a_low_limit_cuts_off_lead_to_the_budget_gate_and_raised_it_goes_on(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    team = Team(planner=cut_off_while_short)
    api.script(team)
    run = submitted(budget=Decimal("0.30"))
    drain(run)
    assert (open_gate(run).kind, len(team.seen["planner"])) == (GateKind.BUDGET, 2)
    assert open_gate(run).question.startswith("The last two answers were cut off because")
    assert "of the budget of $0.30 is spent" in open_gate(run).question
    raise_to(run, alice, budget=Decimal("5.00"))
    drain(run)
    assert (open_gate(run).kind, len(team.seen["planner"])) == (GateKind.PLAN, 3), "two were recorded (D3)"


def test_a_lower_limit_asks_the_same_question(api: FakeAnthropic, submitted: Submit) -> None:
    api.script(Team())
    runs = [submitted(budget=budget) for budget in (None, Decimal("0.20"))]
    for run in runs:
        drain(run)
    first, second = (ModelCall.objects.get(run=run, role="planner").question for run in runs)
    assert first == second
    assert api.requests[0].body["max_tokens"] > api.requests[1].body["max_tokens"]


def test_those_about_to_ask_share_what_is_left(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(plan=plan(step("one"), step("two"))))
    run = submitted()
    drain(run)
    answer(run, alice)
    leave_budget(run, "0.21")
    first, second = WorkItem.objects.filter(run=run, status=WorkStatus.READY).select_related("run").order_by("pk")
    bound, left = Bound(Decimal("0.01"), Decimal("0.00001")), Decimal("0.21") - spent(run)
    allowed = run_limits.allowance(first, bound, 32_000, timezone.now())
    assert allowed == run_limits.Allowance(int((left / 2 - bound.question) / bound.token))
    WorkItem.objects.filter(pk=first.pk).update(status=WorkStatus.LEASED, lease_until=timezone.now())
    assert run_limits.allowance(second, bound, 32_000, timezone.now()).tokens in {allowed.tokens, allowed.tokens + 1}


def test_over_its_time_a_run_asks(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team())
    run = submitted(time_limit=60)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(seconds=61))
    drain(run)
    assert open_gate(run).question.startswith("The run has worked for 61 seconds; its limit is 60 seconds.")
    raise_to(run, alice, time_limit=3_600)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


@pytest.mark.slow
def test_an_attempt_that_takes_too_long_has_failed(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def dawdle(request: Request, right: Answer) -> Answer:
        return Slow(1.2, right) if len(team.seen["executor"]) == 2 else right

    team = Team(plan=plan(step("one")), executor=dawdle)
    api.script(team)
    run = finish(submitted(attempt_seconds=1), alice)
    first, second = Attempt.objects.order_by("number")
    assert (first.status, second.status) == (AttemptStatus.FAILED, AttemptStatus.PASSED)
    assert first.verdict.feedback == "The attempt has used the 1 seconds that it may take."
    assert run.outcome == Outcome.SUCCEEDED


def test_a_resumed_attempt_gets_no_new_time(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def cut_once(request: Request, right: Answer) -> Answer:
        return Fail(529, "overloaded_error", "busy") if len(team.seen["executor"]) == 2 else right

    team = Team(plan=plan(step("one")), executor=cut_once)
    api.script(team)
    run = submitted(attempt_seconds=60)
    drain(run)
    answer(run, alice)
    drain(run)
    ModelCall.objects.filter(work__kind="attempt").update(duration_ms=60_000)
    hurry(run)
    drain(run)
    first = Attempt.objects.order_by("number").first()
    assert first is not None
    assert first.verdict.feedback == "The attempt has used the 60 seconds that it may take."
