"""Measures what a step costs beside its models: plan, steps one after the other, verdicts, journal, events, answer.

The engine is the embedded one, notified when work is due; the models answer at once.
"""

from __future__ import annotations

from tests.bench.chain import Cost, cost_of, statements_of, team_of
from tests.bench.figures import Figure


def measure(*, short: bool) -> list[Figure]:
    sizes = (10, 40) if short else (5, 20, 100, 200)
    cost_of(team_of(5))  # the first run of a process imports and compiles
    figures: list[Figure] = []
    for kind, writes in (("report only", False), ("one file", True)):
        costs = {count: cost_of(team_of(count, writes=writes)) for count in sizes}
        for count, cost in costs.items():
            figures += _figures(f"{kind}, {count} steps", cost)
        base = 20 if 20 in costs else sizes[0]
        first, last = costs[base], costs[sizes[-1]]
        name = f"{kind}, {sizes[-1]} steps to {base}"
        figures += [
            Figure(f"{name}: time per step", last.time / first.time, "times", max=1.1),
            Figure(f"{name}: processor per step", last.processor / first.processor, "times", broken_over=2.5),
            Figure(f"{kind}: statements per step", statements_of(team_of(5, writes=writes)), "", max=30),
        ]
    return figures


def _figures(name: str, cost: Cost) -> list[Figure]:
    return [
        Figure(f"{name}: time per step", cost.time, "ms", max=9),
        Figure(f"{name}: processor per step", cost.processor, "ms"),
        Figure(f"{name}: the script's own, left out", cost.script, "ms"),
        Figure(f"{name}: database per step", cost.database, "KB", max=10),
    ]
