"""The sums of the journal: nothing lost, each call under the attempt, role and model that it was made for."""

from decimal import Decimal

import pytest

from runs.accounting.costs import RoleTotals, Totals, totals, totals_by_attempt, totals_by_role
from runs.models import Attempt, ModelCall
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]


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


def test_a_run_without_calls_has_used_nothing() -> None:
    run = factories.planning()
    assert (totals(run), totals_by_role(run), totals_by_attempt(run)) == (Totals(), [], {})


def test_calls_without_a_price_and_calls_that_broke_are_counted_apart() -> None:
    run = factories.executing()
    before = totals(run)
    ModelCall.objects.filter(run=run).update(cost_usd=None, cost_is_lower_bound=True, error="Broken off.")
    after = totals(run)
    assert (after.cost, after.unpriced, after.lower_bounds, after.failed) == (Decimal(0), *[before.calls] * 3)
    assert after.tokens == before.tokens > 0


@pytest.mark.slow
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


def test_roles_come_in_the_order_in_which_they_were_asked() -> None:
    run = factories.finished_succeeded()
    found = totals_by_role(run)
    assert [one.role for one in found] == ["planner", "executor", "verifier", "synthesizer"]
    assert sum((one.totals for one in found), Totals()) == totals(run)
    assert found[0] == RoleTotals("planner", "claude-opus-5-5", found[0].totals)
