"""Measures a step that writes a file beside a peer's, one after the other in turns, so that both meet the same machine.

Both write and report the same text, and both are durable after each model reply and each tool result.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from statistics import median

from tests.bench.chain import Cost, cost_of, statements_of, team_of
from tests.bench.figures import Figure
from tests.bench.process import environment_of_peer

PEER = Path(__file__).parent / "peers" / "langgraph_sqlite.py"
CHARS = 1_800
"""Of what a step writes and reports: a page, as models do."""
MAX_RATIO = {20: 1.0, 200: 0.5}
"""By steps: our time as a part of the peer's. Its checkpoints grow with the run, so long runs cost it more."""


def measure(*, short: bool, python: str) -> list[Figure]:
    """`python` is the interpreter that has the peer's packages."""
    sizes, rounds = ((4, 8), 1) if short else (tuple(MAX_RATIO), 5)
    cost_of(team_of(3, chars=CHARS))  # the first run of a process imports and compiles
    ours: dict[int, list[Cost]] = {size: [] for size in sizes}
    theirs: dict[int, list[Cost]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size in sizes:
            ours[size].append(cost_of(team_of(size, chars=CHARS)))
            theirs[size].append(_cost_of_peer(python, size))
    figures: list[Figure] = []
    for size in sizes:
        mine, other = (median(cost.time for cost in costs[size]) for costs in (ours, theirs))
        figures += [
            Figure(f"{size} steps: pevsite, time per step", mine, "ms"),
            Figure(f"{size} steps: LangGraph with SQLite, time per step", other, "ms"),
            Figure(f"{size} steps: pevsite to LangGraph", mine / other, "times", max=MAX_RATIO.get(size)),
        ]
    return figures + _of_ours(ours, theirs)


def _of_ours(ours: dict[int, list[Cost]], theirs: dict[int, list[Cost]]) -> list[Figure]:
    first, last = min(ours), max(ours)
    growth = median(b.time / a.time for a, b in zip(ours[first], ours[last], strict=True))
    return [
        Figure(f"pevsite, {last} steps to {first}: time per step", growth, "times", max=1.1),
        Figure(f"pevsite, {last} steps: database per step", median(cost.database for cost in ours[last]), "KB"),
        Figure(f"LangGraph, {last} steps: database per step", median(cost.database for cost in theirs[last]), "KB"),
        Figure("pevsite: statements per step", statements_of(team_of(5, chars=CHARS)), "", max=25),
    ]


def _cost_of_peer(python: str, steps: int) -> Cost:
    command = [python, str(PEER), "--steps", str(steps), "--runs", "1", "--chars", str(CHARS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment_of_peer(), timeout=600)
    if done.returncode:
        raise RuntimeError(f"{PEER.name} failed under {python}: {done.stderr.strip()[-500:]}")
    figures = json.loads(done.stdout)
    return Cost(figures["ms_per_step"], 0, 0, figures["bytes_per_step"] / 1_000)
