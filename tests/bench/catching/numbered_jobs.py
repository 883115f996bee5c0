"""The jobs of the benchmark by number. Deterministic: the same number gives the same job."""

from __future__ import annotations

from random import Random

from runs.enums import Language
from runs.planted_faults.claims import Job
from runs.planted_faults.jobs import PLANTED_EVERYWHERE, WORK, Work

_WORK = WORK[Language.ENGLISH]
ROUND = len(PLANTED_EVERYWHERE) * len(_WORK)
"""Jobs in which each fault occurs once in each kind of work."""


def faulty(number: int) -> Job:
    """Faults in turn, each in every kind of work before the next way to plant it."""
    return _work(number)(
        Random(f"{number} faulty"), PLANTED_EVERYWHERE[number % len(PLANTED_EVERYWHERE)], number // ROUND
    )


def sound(number: int) -> Job:
    """The same kind of work with nothing wrong in it."""
    return _work(number)(Random(f"{number} sound"), None, number // ROUND)


def _work(number: int) -> Work:
    return _WORK[number // len(PLANTED_EVERYWHERE) % len(_WORK)]
