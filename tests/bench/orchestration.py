"""Measures what a step costs beside its models: plan, steps one after the other, verdicts, journal, events, answer.

The engine is the embedded one, woken by its doorbell; the models answer at once. The whole time of a run, from its
submission to the commit that ends it, less what the script itself computed, is divided by the number of its steps.
"""

from __future__ import annotations

import time

from tests.bench.figures import Figure
from tests.bench.scripted import answering
from tests.bench.site import check_complete, database_bytes, finished, seconds_of, site, submitted
from tests.fakes.team import Team, plan, step


def measure(*, short: bool) -> list[Figure]:
    sizes = (10, 40) if short else (5, 20, 100, 200)
    _chain(5, writes=True)  # the first run of a process imports and compiles
    figures: list[Figure] = []
    for kind, writes in (("report only", False), ("one file", True)):
        costs = {count: _chain(count, writes=writes) for count in sizes}
        for count, (ms, processor, script, grown) in costs.items():
            name = f"{kind}, {count} steps"
            figures += [
                Figure(f"{name}: time per step", ms, "ms", max=6),
                Figure(f"{name}: processor per step", processor, "ms"),
                Figure(f"{name}: the script's own, left out", script, "ms"),
                Figure(f"{name}: database per step", grown, "KB", max=25),
            ]
        base = 20 if 20 in costs else sizes[0]
        first, last = costs[base], costs[sizes[-1]]
        name = f"{kind}, {sizes[-1]} steps to {base}"
        figures += [
            Figure(f"{name}: time per step", last[0] / first[0], "times", max=1.2),
            Figure(f"{name}: processor per step", last[1] / first[1], "times", broken_over=2.5),
        ]
    return figures


def _chain(count: int, *, writes: bool) -> tuple[float, float, float, float]:
    """A run of `count` steps, each after the one before. Milliseconds per step, thrice, and kilobytes per step."""
    keys = [f"s{number:03}" for number in range(count)]
    outputs = None if writes else ()
    steps = [step(key, *keys[max(n - 1, 0) : n], outputs=outputs) for n, key in enumerate(keys)]
    with site(), answering(Team(plan=plan(*steps))) as script:
        before, began = database_bytes(), time.process_time()
        run = finished(submitted(max_steps=count))
        used = time.process_time() - began
        check_complete(run, steps=count, calls=script.asked.total())
        grown = database_bytes() - before
    whole = seconds_of(run) - script.thinking
    return 1_000 * whole / count, 1_000 * used / count, 1_000 * script.thinking / count, grown / count / 1_000
