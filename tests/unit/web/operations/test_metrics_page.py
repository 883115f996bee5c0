"""What the charts of metrics draw, the labels below their columns, and the rows that say the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from runs.accounting.costs import RoleTotals, Totals
from runs.accounting.figures import (
    DOUBTED_VERDICTS,
    AttemptFigures,
    Bucket,
    FailedCriterion,
    FiguresOverTime,
    Metrics,
    RunFigures,
    StepFigures,
    Times,
    Trends,
    Waiting,
)
from runs.web.operations.metrics_page import MetricsPage

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)


def role(name: str, model: str, cost: str) -> RoleTotals:
    return RoleTotals(name, model, Totals(calls=1, cost=Decimal(cost)))


def figures(**changes: Any) -> Metrics:
    nothing: dict[str, Any] = {
        "runs": RunFigures(),
        "steps": StepFigures(),
        "attempts": AttemptFigures(),
        "waited": Times(),
        "verdicts": 0,
        "totals": Totals(),
    }
    empty = dict.fromkeys(("phases", "waiting", "executor", "verifier", "roles"), ())
    return Metrics(**{**nothing, **empty, **changes})


def page(
    *spans: FiguresOverTime, failing: tuple[FailedCriterion, ...] = (), chosen: str = "7", **changes: Any
) -> MetricsPage:
    return MetricsPage(chosen, "", [], figures(**changes), Trends(spans, failing, 0), ever=True)


def span(days: float, runs: RunFigures | None = None, steps: StepFigures | None = None) -> FiguresOverTime:
    return FiguresOverTime(BEGIN + timedelta(days=days), runs or RunFigures(), steps or StepFigures())


@pytest.mark.parametrize(
    ("apart", "labels"),
    [
        (1, ["2 Mar", "3 Mar", "4 Mar"]),
        (7, ["2 Mar", "9 Mar", "16 Mar"]),
        (31, ["Mar 2026", "Apr 2026", "May 2026"]),
        (365, ["2026", "2027", "2028"]),
    ],
)
def test_columns_are_called_by_their_day_month_or_year(apart: int, labels: list[str]) -> None:
    assert page(*(span(number * apart) for number in range(3))).labels == labels


def test_one_column_is_called_by_its_day() -> None:
    assert page(span(0)).labels == ["2 Mar"]


def test_charts_and_rows_say_the_same() -> None:
    whole = span(0, RunFigures(total=2, succeeded=1, failed=1), StepFigures(ended=3, first_pass=2, retried=1))
    later = span(2, RunFigures(total=3, partial=1, cancelled=1, open=1), StepFigures(ended=2, retried=3, recovered=2))
    found = page(whole, span(1), later)
    drawn = found.charts
    assert drawn["labels"] == ["2 Mar", "3 Mar", "4 Mar"]
    assert drawn["outcomes"] == {
        "succeeded": [1, 0, 0],
        "partial": [0, 0, 1],
        "failed": [1, 0, 0],
        "cancelled": [0, 0, 1],
        "open": [0, 0, 1],
    }
    assert drawn["yield"] == [67, None, 0]
    assert drawn["retries"] == {"recovered": [0, 0, 2], "not recovered": [1, 0, 1]}
    assert found.rows == [("4 Mar", later), ("2 Mar", whole)]


def test_what_costs_most_comes_first() -> None:
    roles = (role("planner", "b", "0.1"), role("executor", "a", "0.30004"), role("verifier", "c", "0"))
    assert page(span(0), roles=roles).charts["costs"] == [
        {"name": "executor, a", "usd": 0.3},
        {"name": "planner, b", "usd": 0.1},
        {"name": "verifier, c", "usd": 0.0},
    ]


def test_waiting_confidence_and_failing_criteria() -> None:
    drawn = page(
        span(0),
        failing=(FailedCriterion("x" * 100, failed=5, unsupported=2),),
        waiting=(Waiting("exhausted", open=1, times=Times(2, 240_000, 120_000, 180_000)),),
        executor=(Bucket(0.8, 0.9, count=4, held=3, claimed=0.852),),
    ).charts
    assert drawn["waiting"] == [{"kind": "out of attempts", "mean": 2.0, "longest": 3.0}]
    assert drawn["confidence"] == {"executor": [{"said": 85, "held": 75, "count": 4}], "verifier": []}
    assert drawn["failing"] == [{"text": "x" * 80, "unsupported": 2, "other": 3}]


@pytest.mark.parametrize(
    ("models", "no_ai"),
    [(("offline-executor", "offline-planner"), True), (("offline-executor", "claude-opus-5-5"), False), ((), False)],
)
def test_offline_work_is_told_apart_from_ai(models: tuple[str, ...], no_ai: bool) -> None:
    assert page(span(0), roles=tuple(role("executor", model, "0") for model in models)).no_ai == no_ai


@pytest.mark.parametrize(
    ("judged", "retries", "first_pass", "doubted"),
    [
        (DOUBTED_VERDICTS, 0, 20, True),
        (DOUBTED_VERDICTS - 1, 0, 20, False),
        (DOUBTED_VERDICTS, 1, 20, False),
        (DOUBTED_VERDICTS, 0, 19, False),
    ],
)
def test_a_verifier_that_never_says_no_is_doubted(judged: int, retries: int, first_pass: int, doubted: bool) -> None:
    found = figures(
        steps=StepFigures(ended=20, first_pass=first_pass), attempts=AttemptFigures(judged=judged, retries=retries)
    )
    said = f"100 % without a retry in {judged} verdicts: check that the verifier works."
    assert found.doubt == (said if doubted else "")


@pytest.mark.parametrize(("chosen", "days"), [("7", 7), ("90", 90), ("all", None)])
def test_the_period_in_days(chosen: str, days: int | None) -> None:
    assert page(span(0), chosen=chosen).days == days
