"""Estimate against actual: each part in its place, everything spent accounted for, and no figure surer than it is."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from runs.accounting.costs import (
    CostLine,
    Costs,
    Guess,
    RoleTotals,
    Totals,
    costs_of,
    totals,
    totals_by_attempt,
    totals_by_role,
)
from runs.accounting.past_estimates import estimate_of
from runs.enums import GateKind, Role, Verb
from runs.models import Attempt, ModelCall, Plan, Run
from tests import factories

pytestmark = pytest.mark.django_db


def costs(run: Run) -> Costs:
    plans = list(run.plans.order_by("version"))
    steps = list(plans[-1].steps.select_related("reused_from__step__plan").order_by("position"))
    found = costs_of(run, plans, steps, estimate_of(plans[-1], steps))
    assert found is not None
    assert found.total == totals(run), "nothing is lost, nothing counted twice"
    return found


def spent(lines: Any) -> list[tuple[str, Decimal]]:
    return [(line.name, line.actual.cost) for line in lines]


@pytest.mark.slow
def test_each_step_and_role_has_its_own() -> None:
    found = costs(factories.finished_succeeded())
    assert spent(found.steps) == [
        ("List the contracts and their parties", Decimal("0.04815")),
        ("Review the clauses", Decimal("0.15745")),
        ("Draft the notices", Decimal("0.0268")),
        ("Final answer and its verdict", Decimal("0.027")),
    ]
    assert spent(found.roles) == [
        ("Executor", Decimal("0.227")),
        ("Verifier", Decimal("0.0054")),
        ("Synthesizer", Decimal("0.027")),
    ]
    assert (found.planned.actual.cost, found.planning.actual.cost) == (Decimal("0.2594"), Decimal("0.084"))
    assert found.earlier is None
    assert [line.standing for line in found.steps] == ["within", "below", "below", "below"]
    guess = found.steps[0].guess
    assert guess == Guess(Decimal("0.0356"), Decimal("0.3216"), partly=False, tokens=(21_000, 136_800))
    assert found.planned.actual.tokens == 131_400


def test_the_guesses_of_steps_and_of_roles_are_the_guess_for_the_plan() -> None:
    found = costs(factories.awaiting_plan())
    whole = found.planned.guess
    assert whole is not None
    for lines in (found.steps, found.roles):
        assert sum(line.guess.low or 0 for line in lines if line.guess) == whole.low
        assert sum(line.guess.high or 0 for line in lines if line.guess) == whole.high


def test_a_run_under_way_stands_nowhere_yet() -> None:
    found = costs(factories.failed_attempt())
    assert [(line.standing, line.over, line.note) for line in found.steps] == [
        ("within", True, ""),
        ("", False, ""),
        ("", False, "not started"),
        ("", False, "not started"),
    ]
    assert (found.planned.standing, found.planned.over) == ("", False)


@pytest.mark.slow
def test_a_kept_result_is_neither_estimated_nor_paid_again() -> None:
    run = factories.replanned()
    before = costs(run)
    assert [(line.guess is None, line.actual.calls, line.note) for line in before.steps] == [
        (True, 0, "kept from version 1"),
        (False, 0, "not started"),
        (False, 0, "not started"),
    ]
    assert before.earlier is not None
    assert (before.earlier.actual.cost, before.planning.actual.calls) == (Decimal("0.1208"), 2)
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    factories.pass_review(run, "review-service")
    after = costs(run)
    assert spent(after.steps)[1] == ("Review the service agreement", Decimal("0.0848"))
    assert after.earlier == before.earlier


def test_an_answer_of_an_earlier_version_is_not_of_this_one() -> None:
    run = factories.finished_partial()
    plan = run.plans.get()
    Plan.objects.create(run=run, version=2, header=plan.header, digest="2" * 64, created_at=timezone.now())
    found = costs(run)
    assert found.steps[-1].actual == Totals()
    assert found.earlier is not None
    assert found.earlier.actual.cost == totals(run).cost - Decimal("0.084")


def test_a_result_that_was_taken_over_says_from_where() -> None:
    source, run = factories.finished_succeeded(), factories.executing()
    earlier = Attempt.objects.get(step__plan__run=source, step__key="inventory")
    Attempt.objects.filter(step__plan__run=run).update(reused_from=earlier)
    assert costs(run).steps[0].note == f"reused the result of run {source.pk}"


def test_what_was_stopped_is_not_done() -> None:
    found = costs(factories.stopped())
    assert {line.note for line in found.steps} == {"skipped"}
    assert {line.standing for line in (*found.steps, *found.roles, found.planned)} == {""}


def test_a_plan_that_was_never_estimated_has_its_costs() -> None:
    run = factories.finished_succeeded()
    Plan.objects.filter(run=run).update(estimate=None)
    found = costs(run)
    assert (found.planned.guess, found.basis) == (None, "")
    assert found.planned.actual.cost == Decimal("0.2594")


def test_before_the_plan_there_is_nothing_to_compare() -> None:
    assert costs_of(factories.planning(), [], [], None) is None


@pytest.mark.parametrize(
    ("used", "over", "standing"),
    [
        (Totals(cost=Decimal("0.9")), True, "below"),
        (Totals(cost=Decimal(1)), True, "within"),
        (Totals(cost=Decimal(2)), True, "within"),
        (Totals(cost=Decimal("2.1")), True, "above"),
        (Totals(cost=Decimal("1.5")), False, ""),
        (Totals(cost=Decimal("2.1")), False, "above"),
        (Totals(cost=Decimal("1.5"), unpriced=1), True, ""),
        (Totals(cost=Decimal("1.5"), lower_bounds=1), True, ""),
        (Totals(cost=Decimal("2.1"), lower_bounds=1), True, "above"),
    ],
)
def test_where_a_cost_stands(used: Totals, over: bool, standing: str) -> None:
    guess = Guess(Decimal(1), Decimal(2), partly=False, tokens=(1, 2))
    assert CostLine("", "", guess, used, over).standing == standing
    unsure = Guess(Decimal(1), Decimal(2), partly=True, tokens=(1, 2))
    assert CostLine("", "", unsure, used, over).standing == "", "some of its models have no price"


def test_what_costs_nothing_stands_nowhere() -> None:
    free = Guess(Decimal(0), Decimal(0), partly=False, tokens=(1, 2))
    assert CostLine("", "", free, Totals(), over=True).standing == ""


def test_unpriced_models_are_told_apart_from_free_ones() -> None:
    run = factories.executing()
    stored = run.plans.get().estimate
    assert stored is not None
    estimate: Any = stored.model_dump(mode="json")
    for part in [*estimate["final"], *(one for step in estimate["steps"] for one in step["roles"])]:
        if part["role"] == Role.EXECUTOR:
            part |= {"low": None, "high": None, "model": "qwen3-4b"}
    Plan.objects.filter(run=run).update(estimate=estimate)
    ModelCall.objects.filter(run=run, role=Role.EXECUTOR).update(cost_usd=None)
    found = costs(run)
    executor, verifier = found.roles[:2]
    assert executor.guess is not None
    assert verifier.guess is not None
    assert (executor.guess.low, executor.guess.partly, verifier.guess.partly) == (None, True, False)
    assert found.steps[0].guess is not None
    assert (found.steps[0].guess.low, found.steps[0].guess.partly) == (Decimal("0.0016"), True)


# ---- The sums of the journal: nothing lost, each call under the attempt, role and model that it was made for ---------


@pytest.mark.services
def test_sums_are_added_figure_by_figure() -> None:
    one = Totals(calls=1, failed=1, input_tokens=2, cache_read_tokens=3, cost=Decimal("0.5"), unpriced=1, duration_ms=9)
    other = Totals(calls=2, output_tokens=5, cache_write_5m_tokens=7, cost=Decimal("0.25"), lower_bounds=1)
    both = one + other
    assert both == Totals(
        calls=3,
        failed=1,
        input_tokens=2,
        output_tokens=5,
        cache_read_tokens=3,
        cache_write_5m_tokens=7,
        cost=Decimal("0.75"),
        unpriced=1,
        lower_bounds=1,
        duration_ms=9,
    )
    assert both.tokens == 17


@pytest.mark.services
def test_a_run_without_calls_has_used_nothing() -> None:
    run = factories.planning()
    assert (totals(run), totals_by_role(run), totals_by_attempt(run)) == (Totals(), [], {})


@pytest.mark.services
def test_calls_without_a_price_and_calls_that_broke_are_counted_apart() -> None:
    run = factories.executing()
    before = totals(run)
    ModelCall.objects.filter(run=run).update(cost_usd=None, cost_is_lower_bound=True, error="Broken off.")
    after = totals(run)
    assert (after.cost, after.unpriced, after.lower_bounds, after.failed) == (Decimal(0), *[before.calls] * 3)
    assert after.tokens == before.tokens > 0


@pytest.mark.slow
@pytest.mark.services
def test_each_attempt_has_its_own_and_the_rest_is_planning_and_the_answer() -> None:
    run = factories.finished_succeeded()
    found = totals_by_attempt(run)
    assert set(found) == set(Attempt.objects.filter(step__plan__run=run).values_list("pk", flat=True))
    beside = ModelCall.objects.filter(run=run, attempt=None)
    assert beside.exists()
    assert sum(
        (one.cost for one in found.values()), sum((call.cost_usd or Decimal(0) for call in beside), Decimal(0))
    ) == (totals(run).cost)
    assert sum(one.calls for one in found.values()) == totals(run).calls - beside.count()


@pytest.mark.services
def test_roles_come_in_the_order_in_which_they_were_asked() -> None:
    run = factories.finished_succeeded()
    found = totals_by_role(run)
    assert [one.role for one in found] == ["planner", "executor", "verifier", "synthesizer"]
    assert sum((one.totals for one in found), Totals()) == totals(run)
    assert found[0] == RoleTotals("planner", "claude-opus-5-5", found[0].totals)
