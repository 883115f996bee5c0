"""How sure measured shares are, how well confidence agrees with what was right, and how well two judges agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959963984540054
"""The standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True)
class Share:
    """`count` of `total` cases, with the interval that contains the true share in 95 of 100 such measurements.

    `value`, `low` and `high` are between 0 and 1. With no cases at all, `value` is None and the interval is everything.
    """

    count: int
    total: int
    value: float | None
    low: float
    high: float


def wilson(count: int, total: int) -> Share:
    """The share `count` of `total` with its 95 % Wilson score interval, which stays sensible near 0 and 1 and for few
    cases.

    Raises ValueError unless 0 <= count <= total.
    """
    if not 0 <= count <= total:
        raise ValueError(f"{count} of {total} is no share")
    if not total:
        return Share(0, 0, None, 0.0, 1.0)
    share = count / total
    weight = Z_95**2 / total
    center = (share + weight / 2) / (1 + weight)
    half = Z_95 * sqrt((share * (1 - share) + weight / 4) / total) / (1 + weight)
    # At the ends the interval reaches exactly 0 or 1; rounding would leave a remainder of about 1e-17.
    low = 0.0 if count == 0 else center - half
    high = 1.0 if count == total else center + half
    return Share(count, total, share, low, high)


def expected_calibration_error(claims: Sequence[tuple[float, bool]], bins: int = 10) -> float | None:
    """The mean distance between stated confidence and the share that was right, over bins of equal width, weighted by
    their claims; None without claims. `claims` are confidences from 0 to 1, each with whether it was right.
    """
    if not claims:
        return None
    sums = [0.0] * bins
    for confidence, right in claims:
        sums[min(int(confidence * bins), bins - 1)] += confidence - right
    return sum(abs(one) for one in sums) / len(claims)


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """How much two judges agree beyond chance: 1 always, 0 as often as by chance, below 0 less. `pairs` are their
    verdicts on the same cases. None if chance alone explains everything, because both always said the same.
    """
    if not pairs:
        return None
    total = len(pairs)
    first, second = (sum(pair[place] for pair in pairs) / total for place in (0, 1))
    agreed = sum(one == other for one, other in pairs) / total
    by_chance = first * second + (1 - first) * (1 - second)
    return None if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)
