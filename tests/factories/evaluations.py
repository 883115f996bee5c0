"""Evaluations in the data folder, as `manage.py evaluate` leaves them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

from runs.enums import Outcome
from runs.evaluation.expectations import Judged
from runs.evaluation.results import JudgedRun, StoredEvaluation, SuiteResult, store

FIGURE, OUTCOME, FILE = "figure in the answer: 7,567", "outcome: succeeded", "file made: lookup/*"


def judged(repetition: int, *, submission: UUID | None = None, figure: bool = True, cost: str = "0.21") -> JudgedRun:
    """A run of the task “density” that succeeded; without the `figure` its answer has another one."""
    found = "“7,567” in the answer, line 1" if figure else "not in the answer"
    return JudgedRun(
        task="density",
        repetition=repetition,
        submission=submission,
        outcome=Outcome.SUCCEEDED,
        properties=(
            Judged(name=OUTCOME, held=True, found="succeeded"),
            Judged(name=FIGURE, held=figure, found=found),
            Judged(name=FILE, held=True, found="lookup/answer.md"),
        ),
        cost_usd=Decimal(cost),
        calls=21,
        worked_ms=64_000,
    )


def result(*runs: JudgedRun, prompts: str = "4f1c2a90b7de3355") -> SuiteResult:
    left_out = JudgedRun(task="legal-review", repetition=1, why_not="Left out: it needs a model.", left_out=True)
    return SuiteResult(
        suite="reference",
        at=datetime(2026, 11, 30, 12, tzinfo=UTC),
        pevsite="1.0.0",
        prompts=prompts,
        service="Claude answers: claude-opus-5-5, claude-sonnet-5-5, claude-haiku-5-5",
        tasks={"density": "a" * 64, "legal-review": "b" * 64},
        runs=(*runs, left_out),
        spent_usd=Decimal("0.63"),
        asked=63,
    )


def stored_evaluation(submission: UUID | None = None, before: UUID | None = None) -> int:
    """The number of an evaluation with a worsened prompt: the figure was right in three of three runs, and now in one.

    The first runs now and before have these submissions, so that pages link to them.
    """
    baseline = result(judged(1, submission=before), judged(2), judged(3))
    now = result(
        judged(1, submission=submission, figure=False, cost="0.35"),
        judged(2, figure=False),
        judged(3),
        prompts="91bb07c2d4e6a001",
    )
    return store(StoredEvaluation(result=now, baseline=baseline))
