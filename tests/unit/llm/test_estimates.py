"""Proves the estimate of a plan's cost: a range, its basis, and what it does not know."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runs.enums import Complexity, Role
from runs.llm.estimates import Estimate, estimate
from tests.unit.pev.scripted import plan, step

CLAUDE = {
    Role.PLANNER: "claude-opus-5-5",
    Role.EXECUTOR: "claude-sonnet-5-5",
    Role.VERIFIER: "claude-haiku-5-5",
    Role.SYNTHESIZER: "claude-sonnet-5-5",
}
OFFLINE = {role: f"offline-{'executor' if role is Role.SYNTHESIZER else role}" for role in Role}


def of(*complexities: Complexity, models: Any = CLAUDE, attempts: int = 3) -> Estimate:
    steps = [step(f"s{n}", estimated_complexity=complexity) for n, complexity in enumerate(complexities)]
    return estimate(plan(*steps), models, attempts=attempts)


def test_the_figures_of_one_small_step() -> None:
    found = of(Complexity.LOW, attempts=1)
    execute = (Decimal("0.034"), Decimal("0.104"))  # 2 to 4 rounds of 4,000 in, 900 (then 1,800) out
    verify = Decimal("0.0016")  # 10,000 in, 1,200 out
    final = Decimal("0.036") + Decimal("0.00275")
    assert (found.steps[0].low, found.steps[0].high) == (execute[0] + verify, execute[1] + 2 * verify)
    assert (found.low, found.high) == (found.steps[0].low + final, found.steps[0].high + final)


@given(st.lists(st.sampled_from(Complexity), min_size=1, max_size=5), st.integers(1, 10))
def test_it_is_a_range_that_grows_with_steps_and_attempts(complexities: list[Complexity], attempts: int) -> None:
    found = of(*complexities, attempts=attempts)
    assert Decimal(0) < found.low < found.high
    assert all(Decimal(0) < one.low < one.high for one in found.steps)
    assert of(*complexities, Complexity.LOW, attempts=attempts).low > found.low
    more = of(*complexities, attempts=attempts + 1)
    assert (more.low, more.high > found.high) == (found.low, True)


def test_a_step_that_is_more_complex_costs_more() -> None:
    low, medium, high = (of(complexity) for complexity in Complexity)
    assert low.low < medium.low < high.low
    assert low.high < medium.high < high.high


def test_models_without_a_price_are_named_and_not_taken_for_free() -> None:
    found = of(Complexity.LOW, models={**CLAUDE, Role.EXECUTOR: "qwen3-4b", Role.SYNTHESIZER: "qwen3-4b"})
    assert found.unpriced == ["qwen3-4b"]
    assert of(Complexity.LOW).unpriced == []


def test_offline_rules_cost_nothing_and_are_not_unpriced() -> None:
    found = of(Complexity.HIGH, models=OFFLINE)
    assert (found.low, found.high, found.unpriced) == (Decimal(0), Decimal(0), [])


def test_it_says_what_it_rests_on() -> None:
    assert of(Complexity.LOW).basis == "default token counts per complexity"
