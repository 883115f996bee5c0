"""Attempts at steps as they are read: what was done and what was planned, what it cost, and what people said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from django.utils import timezone

from runs.accounting.totals import Totals
from runs.contracts.ports import FileInfo
from runs.enums import OPEN_ATTEMPTS, AttemptStatus, GateStatus, StepStatus
from runs.evidence.results import CriterionResult, in_plain_words
from runs.models import Attempt, Gate, Verdict
from runs.pev.contracts import StepOutput
from runs.pev.deviations import deviations
from runs.readmodel.run_rows import Rows, ToolReading

if TYPE_CHECKING:
    from runs.readmodel.plan_view import StepReading


@dataclass(frozen=True, eq=False)
class AttemptReading:
    """One attempt at a step. `heeds` numbers the attempt whose critique it was given, `retry` the next one; 0 for none.

    Files, evidence, tool calls and deviations are there for detailed attempts only.
    """

    step: StepReading
    row: Attempt
    heeds: int
    retry: int

    @property
    def rows(self) -> Rows:
        return self.step.plan.rows

    @property
    def output(self) -> StepOutput | None:
        return self.row.output

    @cached_property
    def confidence(self) -> float | None:
        """What the executor said of itself; of offline rules it would mean nothing."""
        return self.row.output.confidence if self.row.output and not self.rows.run.policy.by_rules else None

    @property
    def verdict(self) -> Verdict | None:
        return getattr(self.row, "verdict", None)

    @property
    def met(self) -> int:
        """How many criteria it met."""
        return sum(1 for result in self.results if result.met)

    @cached_property
    def results(self) -> list[CriterionResult]:
        """The judged criteria, with who judged them."""
        rules = self.rows.run.policy.by_rules
        return [one.judged_by(rules=rules) for one in self.verdict.results] if self.verdict else []

    @property
    def mark(self) -> str:
        """Its status, as pages mark and name it: one that was right in doing nothing has not passed."""
        idle = self.row.found_nothing_to_do and self.row.status == AttemptStatus.PASSED
        return StepStatus.NOT_APPLICABLE.value if idle else self.row.status

    @property
    def open(self) -> bool:
        return self.row.status in OPEN_ATTEMPTS

    @property
    def conflict(self) -> bool:
        """Whether another step had changed the same file in the meantime."""
        return self.row.status == AttemptStatus.CONFLICT

    @property
    def criticised(self) -> bool:
        """Whether there is something that the next attempt is told."""
        return bool(self.rejections or self.conflict or (self.verdict and self.verdict.feedback))

    @property
    def critique(self) -> str:
        """What the next attempt is told, in words for people."""
        verdict = self.verdict
        return in_plain_words(verdict.feedback, verdict.results, verdict.requests) if verdict else ""

    @cached_property
    def decisions(self) -> list[Gate]:
        """What people, or the policy, answered when they were asked about it."""
        return list(self.rows.answers.get(self.row.pk, ()))

    @cached_property
    def rejections(self) -> list[Gate]:
        return [gate for gate in self.decisions if gate.status == GateStatus.REJECTED]

    @cached_property
    def spent(self) -> Totals:
        return self.rows.spent.get(self.row.pk, Totals())

    @cached_property
    def ms(self) -> int | None:
        """Milliseconds from start to verdict; of an attempt under way, up to now."""
        if self.row.finished_at is None and not self.open:
            return None
        ended = self.row.finished_at or timezone.now()
        return max(0, round((ended - self.row.created_at).total_seconds() * 1_000))  # one that is reused took none

    @property
    def tools(self) -> Sequence[ToolReading]:
        return self.rows.tools.get(self.row.pk, ())

    @cached_property
    def written(self) -> list[tuple[str, FileInfo | None]]:
        """What it left at each path, None where it removed a file; sorted."""
        return sorted(self.row.overlay.items())

    @cached_property
    def deviations(self) -> tuple[str, ...]:
        """What was done against what was planned (T4); nothing for one without a report, or with nothing to do."""
        if not self.row.output or self.row.found_nothing_to_do:
            return ()
        spec, lacking = self.step.row.spec, self.rows.lacking.get(self.row.pk, frozenset())
        work = getattr(self.row, "work", None)  # a result that is reused has none
        return deviations(
            spec,
            declared=self.step.plan.declared,
            there=[path for path in spec.outputs if path not in lacking],
            written=self.row.overlay,
            used={call.row.name for call in self.tools if not call.row.is_error},
            withheld=work.withheld if work else {},
        )
