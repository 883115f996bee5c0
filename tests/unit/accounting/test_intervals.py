"""Intervals of shares, and the error of stated confidence."""

from __future__ import annotations

from math import comb

import pytest

from runs.accounting.intervals import cohens_kappa, expected_calibration_error, wilson


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [  # of the published tables of Newcombe (1998), method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_agrees_with_published_intervals(count: int, total: int, low: float, high: float) -> None:
    share = wilson(count, total)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)
    assert share.value == count / total


def test_no_cases_say_nothing() -> None:
    share = wilson(0, 0)
    assert (share.value, share.low, share.high) == (None, 0.0, 1.0)


@pytest.mark.parametrize(("count", "total"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(count: int, total: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        wilson(count, total)


def test_the_interval_contains_the_true_share_about_as_often_as_it_says() -> None:
    """Computed from the binomial distribution, not sampled: averaged over true shares from 5 to 95 %."""
    total = 60
    shares = [number / 100 for number in range(5, 96)]
    intervals = [wilson(count, total) for count in range(total + 1)]
    covered = [
        sum(
            comb(total, one.count) * true**one.count * (1 - true) ** (total - one.count)
            for one in intervals
            if one.low <= true <= one.high
        )
        for true in shares
    ]
    assert 0.945 < sum(covered) / len(covered) < 0.955


@pytest.mark.parametrize(
    ("claims", "error"),
    [
        ([], None),
        ([(0.95, True)] * 19 + [(0.95, False)], 0.0),
        ([(1.0, False)], 1.0),
        ([(0.9, True), (0.9, False)], 0.4),
        ([(0.9, True), (0.9, False), (0.2, False), (0.2, False)], 0.3),
    ],
)
def test_calibration_error_is_the_mean_distance_from_what_was_right(
    claims: list[tuple[float, bool]], error: float | None
) -> None:
    found = expected_calibration_error(claims)
    assert (found if found is None else round(found, 6)) == error


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], None),
        ([(True, True)] * 5, None),
        ([(True, True), (False, False)] * 5, 1.0),
        ([(True, False), (False, True)] * 5, -1.0),
        ([(True, True), (True, False), (False, True), (False, False)] * 5, 0.0),
        # the example of Wikipedia: 20 and 15 agreements, 5 and 10 disagreements
        ([(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15, 0.4),
    ],
)
def test_kappa_is_the_agreement_beyond_chance(pairs: list[tuple[bool, bool]], kappa: float | None) -> None:
    found = cohens_kappa(pairs)
    assert (found if found is None else round(found, 6)) == kappa
