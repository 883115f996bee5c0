"""The estimate of a plan's cost: a range, its basis, and what it does not know."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runs.accounting.estimates import History, Measured, Searches, estimate
from runs.enums import Complexity, Role
from runs.pev.plans.estimate import Basis, Estimate
from tests.unit.pev.scripted import plan, step

CLAUDE = {
    Role.PLANNER: "claude-opus-5-5",
    Role.EXECUTOR: "claude-sonnet-5-5",
    Role.VERIFIER: "claude-haiku-5-5",
    Role.SYNTHESIZER: "claude-sonnet-5-5",
}
OFFLINE = {role: f"offline-{'executor' if role is Role.SYNTHESIZER else role}" for role in Role}


def of(*complexities: Complexity, models: Any = CLAUDE, attempts: int = 3, history: History | None = None) -> Estimate:
    steps = [step(f"s{n}", estimated_complexity=complexity) for n, complexity in enumerate(complexities)]
    return estimate(plan(*steps), models, attempts=attempts, history=history)


def measured(runs: int, low: str | None, high: str | None) -> Measured:
    return Measured(runs, low and Decimal(low), high and Decimal(high), 1_000, 4_000)  # type: ignore[arg-type]


def test_the_figures_of_one_small_step() -> None:
    found = of(Complexity.LOW, attempts=1)
    execute = (Decimal("0.034"), Decimal("0.104"))  # 2 to 4 rounds of 4,000 in, 900 (then 1,800) out
    verify = Decimal("0.0016")  # 10,000 in, 1,200 out
    final = Decimal("0.036") + Decimal("0.00275")
    assert (found.steps[0].low, found.steps[0].high) == (execute[0] + verify, execute[1] + 2 * verify)
    assert (found.low, found.high) == (found.steps[0].low + final, found.steps[0].high + final)


def test_a_step_that_reads_much_costs_more_than_one_that_reads_little() -> None:
    one = plan(step("s0", estimated_complexity=Complexity.LOW))

    def found(tokens: int) -> Estimate:
        return estimate(one, CLAUDE, attempts=1, read={"s0": tokens})

    assert found(3_000) == of(Complexity.LOW, attempts=1)
    more = found(40_000).steps[0].roles[0]
    assert (more.tokens_low, more.tokens_high) == (2 * (20_000 + 900), 4 * (40_000 + 1_800))
    assert found(10_000_000) == found(150_000)


def test_a_step_that_may_search_costs_one_search_at_least_and_all_of_every_attempt_at_most() -> None:
    without, searching = (
        estimate(plan(step("s0", tools=tools)), CLAUDE, attempts=3, searches=Searches(8, 1_000))
        for tools in (["write_file"], ["web_search", "write_file"])
    )
    more = (searching.low - without.low, searching.high - without.high)
    assert more == (Decimal("0.01"), 3 * 8 * Decimal("0.01"))
    before, after = without.steps[0].roles[0], searching.steps[0].roles[0]
    assert before.low is not None
    assert before.high is not None
    assert (after.role, after.low, after.high) == (Role.EXECUTOR, before.low + more[0], before.high + more[1])


def test_steps_that_search_share_what_the_run_may_and_keep_it_when_others_are_not_done_again() -> None:
    """Two steps, 24 searches each at most, 30 in the run: what one does not use is the other's."""
    both = plan(*(step(key, tools=["web_search"]) for key in ("s0", "s1")))
    alone = estimate(plan(step("s0", tools=["web_search"])), CLAUDE, attempts=3, searches=Searches(8, 30))
    free, shared, few = (estimate(both, CLAUDE, attempts=3, searches=Searches(8, run)) for run in (1_000, 30, 10))
    assert free.high - shared.high == 18 * Decimal("0.01")
    assert [one.high for one in shared.steps] == [one.high for one in free.steps]
    assert free.high - few.high == (48 - 10) * Decimal("0.01")
    left = shared.without(["s1"])
    assert (left.low, left.high) == (alone.low, alone.high)
    assert few.without([]) == few
    nothing = shared.without(["s0", "s1"])
    assert nothing.high == sum(one.high or 0 for one in nothing.final)


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
    default = of(Complexity.LOW)
    assert (default.basis, default.basis.words) == (Basis(default=4), "typical figures for steps of this risk")
    some: History = {(Role.EXECUTOR, Complexity.LOW): measured(12, "0.01", "0.03")}
    mixed = of(Complexity.LOW, history=some).basis
    assert mixed == Basis(measured=1, default=3, min=12, max=12)
    assert mixed.words == "what was measured in 12 earlier runs, and on typical figures where there were too few"
    parts = [(Role.EXECUTOR, Complexity.LOW), (Role.VERIFIER, Complexity.LOW), (Role.SYNTHESIZER, None)]
    whole: History = {key: measured(4, "0.01", "0.03") for key in [*parts, (Role.VERIFIER, None)]}
    assert of(Complexity.LOW, history={**whole, **some}).basis.words == "what was measured in 4 to 12 earlier runs"


def test_what_was_measured_takes_the_place_of_the_defaults() -> None:
    history: History = {
        (Role.EXECUTOR, Complexity.LOW): measured(5, "0.01", "0.03"),
        (Role.SYNTHESIZER, None): measured(5, "0.02", "0.05"),
    }
    found = of(Complexity.LOW, Complexity.HIGH, attempts=2, history=history)
    executor, verifier = found.steps[0].roles
    assert (executor.low, executor.high) == (Decimal("0.01"), Decimal("0.06")), "two attempts at the most"
    assert (executor.tokens_low, executor.tokens_high) == (1_000, 8_000)
    assert (executor.basis, verifier.basis) == (Basis(measured=1, min=5, max=5), Basis(default=1))
    assert found.steps[1] == of(Complexity.LOW, Complexity.HIGH, attempts=2).steps[1], "nothing known of such a step"
    assert (found.final[0].low, found.final[0].high) == (Decimal("0.02"), Decimal("0.05")), "answered once"


@given(st.lists(st.sampled_from(Complexity), min_size=1, max_size=5), st.integers(1, 10))
def test_the_parts_are_the_whole(complexities: list[Complexity], attempts: int) -> None:
    found = of(*complexities, attempts=attempts)
    assert sum(one.low or 0 for one in found.roles) == found.low
    assert sum(one.high or 0 for one in found.roles) == found.high
    assert [one.role for one in found.roles] == [Role.EXECUTOR, Role.VERIFIER, Role.SYNTHESIZER]
    assert sum(one.tokens_high for one in found.roles) == sum(
        one.tokens_high for one in [*found.final, *(each for step in found.steps for each in step.roles)]
    )


def test_a_model_without_a_price_is_measured_in_tokens_only() -> None:
    local = {**CLAUDE, Role.EXECUTOR: "qwen3-4b"}
    history: History = {(Role.EXECUTOR, Complexity.LOW): measured(3, None, None)}
    executor = of(Complexity.LOW, models=local, attempts=1, history=history).steps[0].roles[0]
    assert (executor.low, executor.high, executor.tokens_high) == (None, None, 4_000)


def test_a_price_that_came_later_is_not_measured_as_nothing() -> None:
    history: History = {(Role.EXECUTOR, Complexity.LOW): measured(3, None, None)}
    assert of(Complexity.LOW, history=history) == of(Complexity.LOW)


def test_a_kept_step_costs_nothing() -> None:
    whole, rest = of(Complexity.LOW, Complexity.HIGH), of(Complexity.LOW)
    left = whole.without(["s1"])
    assert (left.low, left.high, left.basis) == (rest.low, rest.high, rest.basis)
    assert [step.step_id for step in left.steps] == ["s0"]
    assert left.roles == rest.roles


def test_it_is_stored_and_read_again() -> None:
    found = of(Complexity.LOW, history={(Role.VERIFIER, None): measured(3, "0.1", "0.2")})
    assert Estimate.model_validate(found.model_dump(mode="json")) == found
