"""What is measured of runs: the shapes of the figures, and what each of them counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from runs.accounting.costs import RoleTotals, Totals

DOUBTED_VERDICTS = 20
"""Verdicts from which on a doubt is shown. Of verifiers that let 9 in 10 pass, one in eight rejects none in twenty."""


@dataclass(frozen=True)
class Times:
    """Of `count` things: together, on average and the longest, in milliseconds; all 0 when there are none."""

    count: int = 0
    total_ms: int = 0
    mean_ms: int = 0
    max_ms: int = 0

    def __add__(self, other: Times) -> Times:
        count, total = self.count + other.count, self.total_ms + other.total_ms
        return Times(count, total, round(total / count) if count else 0, max(self.max_ms, other.max_ms))


@dataclass(frozen=True)
class RunFigures:
    """Runs by outcome; `open` ones are not finished. `wall`: from submission to the end, of finished runs.

    `replans`: new versions that the run itself asked for. `rejected`: versions of plans that a person sent back.
    """

    total: int = 0
    succeeded: int = 0
    partial: int = 0
    failed: int = 0
    cancelled: int = 0
    open: int = 0
    replans: int = 0
    rejected: int = 0
    wall: Times = Times()

    def __add__(self, other: RunFigures) -> RunFigures:
        return RunFigures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class StepFigures:
    """Steps that were attempted: at least one attempt at them was judged. Of all versions of the plans.

    A step that a later version keeps is counted once, where it was carried out. `ended`: those of the attempted that
    passed, were accepted with issues, failed, or were dropped by a replan or a stop; what did
    not apply is none of them. `first_pass`: those that passed
    with their first attempt, and were not sent back by a person. `retried`: those with an attempt after one that a
    verdict had failed; `recovered`: of these, those that passed. `reused`, not among the attempted: steps that
    passed with the result of an earlier run.
    """

    attempted: int = 0
    ended: int = 0
    passed: int = 0
    accepted: int = 0
    not_applicable: int = 0
    failed: int = 0
    dropped: int = 0
    first_pass: int = 0
    retried: int = 0
    recovered: int = 0
    reused: int = 0

    def __add__(self, other: StepFigures) -> StepFigures:
        return StepFigures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    @property
    def first_pass_yield(self) -> float | None:
        """The share of ended steps that passed at the first attempt, 0 to 1; None if no step has ended."""
        return self.first_pass / self.ended if self.ended else None

    @property
    def pass_rate(self) -> float | None:
        """The share of ended steps that passed at any attempt, 0 to 1. Accepted steps have not passed."""
        return self.passed / self.ended if self.ended else None


@dataclass(frozen=True)
class FiguresOverTime:
    """The runs that were submitted from `begin` to the next span, and their steps."""

    begin: datetime
    runs: RunFigures
    steps: StepFigures


@dataclass(frozen=True)
class FailedCriterion:
    """A criterion that `failed` in so many verdicts; in `unsupported` of them the verifier had called it met."""

    text: str
    failed: int
    unsupported: int


@dataclass(frozen=True)
class AttemptFigures:
    """Judged attempts, and what came of them. Those under way, and those cut off by a stop, are not judged; results
    taken over from earlier runs are no attempts.

    `passed`: the verdict was a pass. `sent_back`: passed and rejected by a person afterwards. `conflicts`: passed
    and tried again since another step had changed the same file. `retries`: attempts after the first at their step,
    judged or not. `unsupported`: verdicts in which the verifier claimed what no evidence supported; the final judgement
    of the success criteria is not among them.
    """

    judged: int = 0
    passed: int = 0
    sent_back: int = 0
    conflicts: int = 0
    retries: int = 0
    unsupported: int = 0

    def __add__(self, other: AttemptFigures) -> AttemptFigures:
        return AttemptFigures(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class Phase:
    """Sums of the journal for planning, executing, verifying or finalising: `model_ms` in model calls, `tool_ms` in
    tool calls. Calls that ran side by side are added up, so that the sum may be longer than the time that went by."""

    name: str
    calls: int
    model_ms: int
    tool_ms: int

    @property
    def ms(self) -> int:
        return self.model_ms + self.tool_ms


@dataclass(frozen=True)
class Waiting:
    """Gates of one kind. Each waited from its opening to its decision or withdrawal; `open` ones wait until now."""

    kind: str
    open: int
    times: Times


@dataclass(frozen=True)
class Bucket:
    """Claims made with a confidence from `low` to `high`: on average `claimed`, and `held` of `count` held."""

    low: float
    high: float
    count: int
    held: int
    claimed: float

    @property
    def share(self) -> float:
        return self.held / self.count

    @property
    def label(self) -> str:
        """The range of confidence in percent."""
        high = f"{self.high * 100:.0f} %"
        return f"{self.low * 100:.0f} to {high}" if self.low else f"below {high}"

    @property
    def reading(self) -> str:
        """A conclusion for people; empty for fewer than five claims."""
        if self.count < 5:
            return "too few"
        off = self.claimed - self.share
        return "about right" if abs(off) < 0.1 else "too sure" if off > 0 else "too modest"


@dataclass(frozen=True)
class Metrics:
    """All figures. `executor`: its confidence in attempts reported as done, against their verdicts. `verifier`: its
    confidence in criteria that it claimed to be met, against the evidence; from the latest `verdicts` verdicts.
    """

    runs: RunFigures
    steps: StepFigures
    attempts: AttemptFigures
    phases: tuple[Phase, ...]
    waiting: tuple[Waiting, ...]
    waited: Times
    executor: tuple[Bucket, ...]
    verifier: tuple[Bucket, ...]
    verdicts: int
    roles: tuple[RoleTotals, ...]
    totals: Totals

    @property
    def doubt(self) -> str:
        """A doubt, if so much passed at the first attempt that perhaps no one has really checked; else empty."""
        at_once = self.steps.ended == self.steps.first_pass and not self.attempts.retries
        if not at_once or self.attempts.judged < DOUBTED_VERDICTS:
            return ""
        return f"100 % and never a retry in {self.attempts.judged} verdicts: is the verifier awake?"


@dataclass(frozen=True)
class Trends:
    """The same runs by the time of their submission, and the criteria that failed most often, from the latest
    `verdicts` verdicts that did not pass.
    """

    spans: tuple[FiguresOverTime, ...]
    failing: tuple[FailedCriterion, ...]
    verdicts: int
