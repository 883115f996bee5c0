"""What is measured of runs: the shapes of the figures, and what each of them counts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from runs.accounting.costs import RoleTotals, Totals

DOUBTED_VERDICTS = 20
"""The least number of verdicts for a doubt. One in eight verifiers that pass 90 % of results rejects none of 20."""


@dataclass(frozen=True)
class Times:
    """The durations of `count` things in milliseconds: sum, mean and maximum; all 0 if there are none."""

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
    """Steps of all versions of the plans. A step that a later version keeps is counted once, where it was carried out.

    * `attempted`: at least one attempt was judged. All others except `reused` are among these.
    * `ended`: passed, accepted with open points, failed, or dropped by a replan or a stop; not if it did not apply.
    * `first_pass`: passed with the first attempt, and no person sent it back.
    * `retried`: with an attempt after one that failed its verdict. `recovered`: retried, and passed in the end.
    * `reused`: passed with the result of an earlier run.
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
    """A criterion, and in how many verdicts it `failed`. In `unsupported` of them the verifier had called it met."""

    text: str
    failed: int
    unsupported: int


@dataclass(frozen=True)
class AttemptFigures:
    """Attempts that were judged. Attempts under way, attempts that a stop ended and reused results are not counted.

    * `passed`: the verdict was a pass.
    * `sent_back`: passed, and then rejected by a person.
    * `conflicts`: passed, and tried again because another step had changed the same file.
    * `retries`: not the first at their step, judged or not.
    * `unsupported`: the verifier claimed something that no evidence supported.
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
    tool calls. Calls may have run at the same time, so the sum may be longer than the time that passed.
    """

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
    """`count` claims with a confidence from `low` to `high`, `claimed` on average. `held` of them were true."""

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
        """A conclusion for people; “too few” for fewer than five claims."""
        if self.count < 5:
            return "too few"
        off = self.claimed - self.share
        return "about right" if abs(off) < 0.1 else "too sure" if off > 0 else "too modest"


@dataclass(frozen=True)
class Metrics:
    """All figures.

    `executor`: its confidence in attempts that it reported as done, compared with the verdicts. `verifier`: its
    confidence in criteria that it called met, compared with the evidence; from the latest `verdicts` verdicts.
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
        """A doubt about the verifier, if every step passed at its first attempt; else empty."""
        at_once = self.steps.ended == self.steps.first_pass and not self.attempts.retries
        if not at_once or self.attempts.judged < DOUBTED_VERDICTS:
            return ""
        return f"100 % without a retry in {self.attempts.judged} verdicts: check that the verifier works."


@dataclass(frozen=True)
class Trends:
    """The same runs by the time of their submission, and the criteria that failed most often, from the latest
    `verdicts` verdicts that did not pass.
    """

    spans: tuple[FiguresOverTime, ...]
    failing: tuple[FailedCriterion, ...]
    verdicts: int
