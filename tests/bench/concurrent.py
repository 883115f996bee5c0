"""Measures 200 one-second attempts at the same time in one process: runs of ten parallel steps, submitted at once.

No attempt's second begins before all are at work: each has a thread, a lease and a call in flight then.
"""

from __future__ import annotations

import resource
import threading
import time
from collections import Counter

from runs.enums import EventKind
from runs.models import Event
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.scripted import answering
from tests.bench.site import check_complete, finished, site, submitted
from tests.fakes.team import Team, plan, step

STEPS = 10
SECONDS = 1.0


def measure(*, short: bool) -> list[Figure]:
    runs = 4 if short else 20
    attempts = runs * STEPS
    team = Team(plan=plan(*(step(f"s{number}") for number in range(STEPS))))
    at_rest = _memory()
    with site(workers=attempts), answering(team, SECONDS, together=attempts) as script:
        submitted_at = time.monotonic()
        under_way = [submitted(parallel=STEPS, reuse=False) for _ in range(runs)]
        ended = [finished(run) for run in under_way]
        ended_at = time.monotonic()
        threads = threading.active_count()  # those of the pool stay until it is shut down
        for run in ended:
            check_complete(run, steps=STEPS, calls=3 * STEPS + 3)
        once = Counter(planner=runs, executor=2 * attempts, verifier=attempts + runs, synthesizer=runs)
        if script.asked != once:
            raise ShapeBroken(f"Asked {dict(script.asked)}, not {dict(once)}: something was asked twice or never.")
        if again := Event.objects.filter(kind=EventKind.RECOVERED).count():
            raise ShapeBroken(f"{again} items of work were taken over from a worker that was alive.")
    return [
        Figure(f"{runs} runs submitted, {attempts} attempts at work", script.began_at - submitted_at, "s", max=5),
        Figure("from there to the end of the last run", ended_at - script.began_at, "s"),
        Figure("executors at work at the same time", script.max_at_once, "", min=attempts),
        Figure("threads", threads, ""),
        Figure("memory at rest", at_rest, "MB"),
        Figure("memory at the peak", _memory(), "MB", max=160),
    ]


def _memory() -> float:
    """The maximum that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
