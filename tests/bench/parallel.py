"""Measures how much later twelve independent one-second steps end than the longest chain: one of them alone."""

from __future__ import annotations

from tests.bench.figures import Figure
from tests.bench.scripted import answering
from tests.bench.site import check_complete, finished, seconds_of, site, submitted
from tests.fakes.team import Team, plan, step

STEPS = 12
SECONDS = 1.0


def measure(*, short: bool) -> list[Figure]:
    _side_by_side(1, 0.0)  # the first run of a process imports and compiles
    chain, _ = _side_by_side(1, SECONDS)
    whole, at_once = _side_by_side(STEPS, SECONDS)
    late = whole - chain
    one_by_one = (STEPS - 1) * SECONDS
    return [
        Figure("the longest chain: plan, one step, answer", chain, "s"),
        Figure(f"{STEPS} steps side by side", whole, "s"),
        Figure("later than the longest chain", late, "s", max=1.25, broken_over=one_by_one),
        Figure("executors at work at the same time", at_once, "", min=STEPS),
    ]


def _side_by_side(count: int, seconds: float) -> tuple[float, int]:
    """Seconds from submission to end, and how many executors worked at the same time."""
    steps = [step(f"s{number:02}") for number in range(count)]
    with site(), answering(Team(plan=plan(*steps)), seconds) as script:
        run = finished(submitted(parallel=STEPS))
        check_complete(run, steps=count, calls=script.asked.total())
    return seconds_of(run), script.max_at_once
