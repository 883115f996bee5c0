"""What each part of a run cost against its estimate, as bars on one scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from runs.accounting.costs import CostLine, Costs


@dataclass(frozen=True)
class CostBar:
    """In percent of the largest figure: the estimate goes from `low` to `low + range`, the cost from 0 to `actual`."""

    line: CostLine
    low: float
    range: float
    actual: float


def bars_of(costs: Costs) -> list[CostBar]:
    """The steps and the final answer, then planning, and other versions of the plan if there were any."""
    lines = [*costs.steps, costs.planning, *([costs.earlier] if costs.earlier else [])]
    largest = max(_figures(lines), default=Decimal(0)) or Decimal(1)
    return [_bar(line, largest) for line in lines]


def _figures(lines: Iterable[CostLine]) -> Iterable[Decimal]:
    for line in lines:
        yield line.actual.cost
        if line.guess and line.guess.high is not None:
            yield line.guess.high


def _bar(line: CostLine, largest: Decimal) -> CostBar:
    low = (line.guess.low if line.guess else None) or Decimal(0)
    high = (line.guess.high if line.guess else None) or low
    return CostBar(line, _percent(low, largest), _percent(high - low, largest), _percent(line.actual.cost, largest))


def _percent(part: Decimal, whole: Decimal) -> float:
    return round(float(100 * part / whole), 1)
