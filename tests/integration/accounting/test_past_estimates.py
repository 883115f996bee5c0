"""What earlier runs have used: which of them count, how the range is made, and that the next plan rests on it."""

from decimal import Decimal

import pytest

from runs.accounting import past_estimates as earlier
from runs.accounting.estimates import History
from runs.enums import Complexity, Role
from runs.models import User
from runs.pev.plans.estimate import Basis
from tests import factories
from tests.factories import Submit, drain, finish
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team

pytestmark = pytest.mark.django_db
MODELS = {
    Role.PLANNER: "claude-opus-5-5",
    Role.EXECUTOR: "claude-sonnet-5-5",
    Role.VERIFIER: "claude-haiku-5-5",
    Role.SYNTHESIZER: "claude-sonnet-5-5",
}
INVENTORY = (Role.EXECUTOR, Complexity.LOW)


def history(**models: str) -> History:
    return earlier.history(MODELS | {Role(role): model for role, model in models.items()})


@pytest.mark.slow
def test_two_runs_are_too_few() -> None:
    for _ in range(2):
        factories.finished_succeeded()
    assert history() == {}


def test_the_ends_are_cut_off_from_ten_samples_on() -> None:
    assert earlier.spread([5, 3, 9]) == (3, 9)
    assert earlier.spread([*range(9)]) == (0, 8)
    assert earlier.spread([*range(10)]) == (1, 8)
    assert earlier.spread([*range(200)]) == (20, 179)


def test_the_estimate_of_a_plan_leaves_out_what_is_kept() -> None:
    plan = factories.replanned().plans.newest()
    assert plan is not None
    steps = list(plan.steps.order_by("position"))
    kept = next(step.key for step in steps if step.reused_from_id)
    whole, found = plan.estimate, earlier.estimate_of(plan, steps)
    assert whole is not None
    assert found is not None
    assert found == whole.without([kept])
    assert found.low < whole.low


def test_a_plan_that_was_never_estimated_has_no_estimate() -> None:
    plan = factories.awaiting_plan().plans.get()
    plan.estimate = None
    assert earlier.estimate_of(plan, plan.steps.all()) is None


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_the_fourth_plan_is_estimated_from_three_runs(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team())
    estimates = []
    for _ in range(4):
        run = submitted(reuse=False)
        drain(run)
        estimate = run.plans.get().estimate
        assert estimate is not None
        estimates.append(estimate)
        finish(run, alice)
    assert [one.basis.measured for one in estimates] == [0, 0, 0, 6]
    assert estimates[3].basis == Basis(measured=6, min=3, max=3)
    assert Decimal(0) < estimates[3].low < estimates[0].low
