"""Costs as bars: all on one scale, the estimate from low to high."""

from decimal import Decimal

from runs.accounting.costs import CostLine, Costs, Guess, Totals
from runs.web.run.overview import bars_of


def line(name: str, actual: str, low: str = "", high: str = "") -> CostLine:
    guess = Guess(Decimal(low), Decimal(high), partly=False, tokens=(0, 0)) if high else None
    return CostLine(name, name, guess, Totals(calls=1, cost=Decimal(actual)), over=True)


def costs(*steps: CostLine, planning: CostLine, earlier: CostLine | None = None) -> Costs:
    return Costs(1, 1, "", steps, (), line("", "0"), planning, earlier, Totals())


def test_the_largest_figure_is_a_whole_bar() -> None:
    bars = bars_of(costs(line("a", "0.10", "0.05", "0.40"), line("b", "0.20"), planning=line("planning", "0.04")))
    assert [(bar.line.name, bar.low, bar.range, bar.actual) for bar in bars] == [
        ("a", 12.5, 87.5, 25.0),
        ("b", 0.0, 0.0, 50.0),
        ("planning", 0.0, 0.0, 10.0),
    ]


def test_other_versions_come_last_and_a_cost_above_its_estimate_is_the_scale() -> None:
    bars = bars_of(costs(line("a", "2", "0.5", "1"), planning=line("p", "0"), earlier=line("earlier", "1")))
    assert [(bar.line.name, bar.range, bar.actual) for bar in bars] == [
        ("a", 25.0, 100.0), ("p", 0.0, 0.0), ("earlier", 0.0, 50.0),
    ]  # fmt: skip


def test_a_run_without_any_cost_has_empty_bars() -> None:
    nothing = Guess(None, None, partly=True, tokens=(0, 0))
    free = CostLine("a", "a", nothing, Totals(), over=False)
    assert [(bar.low, bar.range, bar.actual) for bar in bars_of(costs(free, planning=free))] == [(0.0, 0.0, 0.0)] * 2
