"""A missed goal is for people to read; a broken shape stops the benchmarks."""

import math

import pytest

from tests.bench.figures import Figure, ShapeBroken, check_shape


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("time", 6.0, "ms", max=6), "met"),
        (Figure("time", 6.1, "ms", max=6), "missed"),
        (Figure("share", 60.0, "%", min=60), "met"),
        (Figure("share", 59.9, "%", min=60), "missed"),
        (Figure("threads", 7.0, ""), ""),
    ],
)
def test_a_goal_is_met_or_missed(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def test_a_missed_goal_breaks_no_shape() -> None:
    check_shape([Figure("time", 600.0, "ms", max=6), Figure("growth", 2.4, "times", broken_over=2.5)])


@pytest.mark.parametrize(
    "figures", [[], [Figure("growth", 2.6, "times", broken_over=2.5)], [Figure("time", math.nan, "ms")]]
)
def test_what_is_missing_or_grows_too_much_is_broken(figures: list[Figure]) -> None:
    with pytest.raises(ShapeBroken):
        check_shape(figures)
