"""Measures how many planted faults verifiers let through: a lazy one, one that tosses a coin, and one that reads.

Judged in memory by the product's own code; a sample of each kind goes through the engine too, and has to end alike.
"""

from __future__ import annotations

from tests.bench.catching.engine import disagreements
from tests.bench.catching.rates import CARELESS, FEW, PLANS, VERIFIERS, by_fault, rates
from tests.bench.figures import Figure


def measure(*, short: bool) -> list[Figure]:
    found = rates(FEW if short else range(PLANS))
    print(by_fault(found), flush=True)
    figures = []
    for name in VERIFIERS:
        now, before = found[name, True], found[name, False]
        goal = 5 if name in CARELESS else None
        figures += [
            Figure(f"{name}: let through", now.share, "%", max=goal, broken_over=goal),
            Figure(f"{name}: passed with a mark that people see", now.marked_share, "%"),
            Figure(f"{name}: let through without the rules", before.share, "%"),
        ]
        if name == "honest":
            refused, suspected = now.refused, now.suspected
            figures.append(Figure(f"{name}: refused without a fault", refused, "plans", max=0, broken_over=0))
            figures.append(Figure(f"{name}: marked without a fault", suspected, "plans", max=0))
    differing = disagreements(FEW[:16] if short else FEW)
    return [*figures, Figure("ends otherwise in the engine", len(differing), "plans", max=0, broken_over=0)]
