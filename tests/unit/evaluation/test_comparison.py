"""A result next to its baseline: what counts as worse, as chance, and as not measured."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from runs.enums import Outcome
from runs.evaluation.comparison import Change, compare, rate_in_words, summary
from runs.evaluation.expectations import Judged
from runs.evaluation.results import JudgedRun, SuiteResult

NAME = "outcome: succeeded"


def runs(held: int, total: int, task: str = "density", **changes: Any) -> tuple[JudgedRun, ...]:
    return tuple(
        JudgedRun(
            task=task,
            repetition=number,
            outcome=Outcome.SUCCEEDED if number <= held else Outcome.PARTIAL,
            properties=(Judged(name=NAME, held=number <= held, found=f"run {number}"),),
            **changes,
        )
        for number in range(1, total + 1)
    )


def result(*judged: JudgedRun, **changes: Any) -> SuiteResult:
    fields: dict[str, Any] = {
        "suite": "reference",
        "at": "2026-11-30T12:00:00+00:00",
        "pevsite": "1.0.0",
        "prompts": "abc",
        "service": "Claude answers: claude-opus-5-5",
        "tasks": {one.task: "digest" for one in judged},
        "runs": judged,
    }
    return SuiteResult.model_validate(fields | changes)


@pytest.mark.parametrize(
    ("before", "now", "change", "is_worse", "is_certainly_worse"),
    [
        ((1, 1), (1, 1), Change.SAME, False, False),
        ((1, 1), (0, 1), Change.WORSE, True, True),
        ((0, 1), (1, 1), Change.BETTER, False, False),
        ((0, 1), (0, 1), Change.SAME, False, False),
        ((10, 10), (9, 10), Change.LOWER, True, False),
        ((20, 20), (5, 20), Change.WORSE, True, True),
        ((9, 10), (10, 10), Change.HIGHER, False, False),
        ((5, 20), (20, 20), Change.BETTER, False, False),
    ],
)
def test_a_lower_rate_is_worse_and_may_be_chance(
    before: tuple[int, int], now: tuple[int, int], change: Change, is_worse: bool, is_certainly_worse: bool
) -> None:
    compared = compare(result(*runs(*now)), result(*runs(*before)))
    (row,) = compared.tasks[0].properties
    assert row.change == change
    assert compared.is_worse() == is_worse
    assert compared.is_worse(ignore_chance=True) == is_certainly_worse


def test_without_a_baseline_every_property_has_to_hold() -> None:
    assert not compare(result(*runs(3, 3)), None).is_worse()
    compared = compare(result(*runs(2, 3)), None)
    assert compared.is_worse(ignore_chance=True)
    assert summary(compared, has_baseline=False) == "0 of 1 property held in every run."


def test_a_property_that_the_baseline_does_not_have_has_to_hold() -> None:
    baseline = result(*runs(1, 1, "other"))
    assert compare(result(*runs(1, 1)), baseline).count(Change.NEW) == 1
    assert compare(result(*runs(0, 1)), baseline).is_worse()


def test_a_property_that_is_gone_is_named() -> None:
    compared = compare(result(*runs(1, 1)), result(*runs(1, 1), *runs(1, 1, "other")))
    assert [row.change for task in compared.tasks for row in task.properties] == [Change.SAME, Change.GONE]
    assert compared.tasks[1].remarks == ["The suite does not have this task any more."]
    assert summary(compared, has_baseline=True) == "2 properties: 1 in the baseline only."


def test_what_was_found_is_that_of_a_run_without_the_property() -> None:
    (row,) = compare(result(*runs(2, 3)), None).tasks[0].properties
    assert row.found == "run 3"


def test_what_differs_besides_the_properties_is_said() -> None:
    baseline = result(*runs(1, 1), prompts="old", service="Claude answers: claude-opus-4-6", tasks={"density": "other"})
    compared = compare(result(*runs(1, 1)), baseline)
    assert list(compared.remarks) == [
        "The prompts have changed since the baseline (old before, abc now).",
        "Other models answer. Before: Claude answers: claude-opus-4-6. Now: Claude answers: claude-opus-5-5.",
    ]
    assert compared.tasks[0].remarks == ["The task, its files or what is expected have changed since the baseline."]


LEFT_OUT = JudgedRun(task="density", repetition=1, why_not="It needs a model.", left_out=True)
NOT_STARTED = JudgedRun(task="density", repetition=1, why_not="Not started: the budget is used up.")


@pytest.mark.parametrize(
    ("judged", "baseline", "is_incomplete"),
    [
        ([*runs(1, 1)], None, False),
        ([*runs(1, 1, "other"), LEFT_OUT], None, False),
        ([LEFT_OUT], None, True),
        ([*runs(1, 1, "other"), NOT_STARTED], None, True),
        ([*runs(1, 1, "other"), LEFT_OUT], result(*runs(1, 1)), True),
        ([*runs(1, 1, "other"), LEFT_OUT], result(LEFT_OUT), False),
    ],
    ids=["judged", "left out", "all left out", "not started", "left out, judged before", "left out before too"],
)
def test_what_was_not_measured_is_no_success(
    judged: list[JudgedRun], baseline: SuiteResult | None, is_incomplete: bool
) -> None:
    assert compare(result(*judged), baseline).is_incomplete == is_incomplete


def test_means_are_over_the_judged_runs() -> None:
    judged = [
        *runs(1, 1, cost_usd=Decimal("0.2"), calls=10, worked_ms=1_000),
        JudgedRun(task="density", repetition=2, why_not="Not started."),
        *runs(1, 1, cost_usd=Decimal("0.4"), calls=20, worked_ms=3_000),
    ]
    now = compare(result(*judged), None).tasks[0].now
    assert now is not None
    assert (now.runs, now.cost_usd, now.calls, now.worked_ms) == (2, Decimal("0.3"), 15, 2_000)
    unpriced = compare(result(*runs(1, 1, unpriced=1)), None).tasks[0].now
    assert unpriced is not None
    assert unpriced.cost_usd is None


def test_rates_have_an_interval_where_there_are_several_runs() -> None:
    (one,) = compare(result(*runs(0, 1)), None).tasks[0].properties
    (several,) = compare(result(*runs(8, 10)), None).tasks[0].properties
    assert (rate_in_words(one.now), rate_in_words(several.now)) == ("no", "8 of 10 (49–94 %)")
    assert rate_in_words(one.before) == "–"
