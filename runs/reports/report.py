"""Owns the report of a run as one frozen value: page, Markdown and archive are made from it and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runs.accounting.costs import Costs
from runs.accounting.metrics import Metrics
from runs.accounting.totals import RoleTotals, Totals
from runs.enums import Outcome
from runs.reading.files import MadeFile


@dataclass(frozen=True)
class Proof:
    """One piece of evidence. `href` leads to the place in the file; empty where there is none to show."""

    kind: str
    verified: bool
    sentence: str
    quote: str
    source: str
    line: int
    sha256: str
    href: str


@dataclass(frozen=True)
class JudgedCriterion:
    """`passed` is what the server computed; `decided_by` check, model or nobody."""

    label: str
    text: str
    passed: bool
    decided_by: str
    confidence: float
    feedback: str
    proofs: tuple[Proof, ...]


@dataclass(frozen=True)
class Decision:
    """What a person, or the policy, decided. `how` is person, policy or the way it came."""

    about: str
    question: str
    status: str
    by: str
    at: datetime | None
    how: str
    reason: str


@dataclass(frozen=True)
class TriedAttempt:
    """`feedback` is the critique, or why it was rejected; `deviations` what differs from the plan (T4). `source` says
    where a reused result comes from, empty for one of this run.
    """

    number: int
    status: str
    started: datetime
    finished: datetime | None
    confidence: float | None
    action: str
    severity: str
    feedback: str
    criteria: tuple[JudgedCriterion, ...]
    notes: tuple[str, ...]
    deviations: tuple[str, ...]
    source: str
    source_href: str
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class DoneStep:
    """`kept_from` names the plan version whose result this step keeps, 0 for none."""

    key: str
    name: str
    status: str
    complexity: str
    description: str
    kept_from: int
    href: str
    attempts: tuple[TriedAttempt, ...]


@dataclass(frozen=True)
class PlanVersion:
    """`steps` of older versions are listed only where they were tried. `dropped` names the steps of the version before
    that are gone; `relaxed` says what was agreed before and is no longer asked for.
    """

    version: int
    status: str
    goal: str
    reason: str
    dropped: tuple[str, ...]
    relaxed: tuple[str, ...]
    digest: str
    created: datetime
    approved_by: str
    approved_how: str
    approved_at: datetime | None
    decisions: tuple[Decision, ...]
    steps: tuple[DoneStep, ...]


@dataclass(frozen=True)
class Report:
    """Everything a reader needs to judge the result. `gaps` is empty for a run that succeeded or is not finished.

    `same_model` names the model that has judged its own work, where the policy allowed that.
    """

    run_id: int
    title: str
    request: str
    owner: str
    created: datetime
    finished: datetime | None
    status: str
    outcome: str
    gaps: tuple[str, ...]
    answer: str
    criteria: tuple[JudgedCriterion, ...]
    plans: tuple[PlanVersion, ...]
    other_decisions: tuple[Decision, ...]
    files: tuple[MadeFile, ...]
    input_count: int
    input_size: int
    inputs_digest: str
    totals: Totals
    roles: tuple[RoleTotals, ...]
    costs: Costs | None
    figures: Metrics
    no_ai: bool
    same_model: str

    @property
    def verdict(self) -> str:
        """The word a report begins with: PARTIAL, FAILED, CANCELLED or NOT FINISHED; none when it succeeded."""
        if not self.outcome:
            return "NOT FINISHED"
        return "" if self.outcome == Outcome.SUCCEEDED else self.outcome.upper()

    @property
    def met(self) -> int:
        return sum(1 for criterion in self.criteria if criterion.passed)
