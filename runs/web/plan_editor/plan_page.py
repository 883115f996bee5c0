"""The page of a plan: one of its versions, how it differs from another one, and comments on its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.http import Http404

from runs.enums import EventKind, GateStatus
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.models import Run, Step
from runs.pev.contracts import Criterion
from runs.readmodel.plan_differences import PlanComparison
from runs.readmodel.plan_view import PlanReading, StepReading
from runs.readmodel.run_rows import read_rows
from runs.readmodel.run_view import RunReading
from runs.text.numbers import key
from runs.web.frame.run_tab import EVERYTHING, GATE_EVENTS, STEP_ENDS, RunTab
from runs.web.gates.presenter import GateView, open_gates
from runs.web.gates.request_list import RequestGroup


@dataclass(frozen=True)
class CriterionLine:
    """A criterion to read and comment on. `called` is its name; `field` is the name of the field for a comment, and
    `typed` the text in it.
    """

    number: int
    criterion: Criterion
    called: str
    field: str
    typed: str


@dataclass(frozen=True)
class StepLine:
    step: StepReading
    criteria: Sequence[CriterionLine]
    field: str
    typed: str

    @property
    def called(self) -> str:
        return f"step {self.step.number}"

    @property
    def open(self) -> bool:
        """Whether it has a typed comment that was not sent."""
        return bool(self.typed or any(one.typed for one in self.criteria))


@dataclass(frozen=True, eq=False)
class PlanPage(RunReading):
    """`version` and `against` are numbers of versions, None for the newest and for the one before it; `against` 0 for
    none. `problem`: why comments were not sent, which are `typed` by the names of their fields.
    """

    version: int | None = None
    compared: int | None = None
    problem: str = ""
    typed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def shown(self) -> PlanReading | None:
        """The version to show. Raises Http404 if there is none."""
        return self._of(self.version) if self.version is not None else self.plan

    @cached_property
    def against(self) -> PlanReading | None:
        if self.shown is None or self.compared == 0:
            return None
        return self.shown.before if self.compared is None else self._of(self.compared)

    def _of(self, version: int) -> PlanReading:
        found = next((plan for plan in self.plans if plan.row.version == version), None)
        if found is None:
            raise Http404
        return found

    @cached_property
    def comparison(self) -> PlanComparison | None:
        return self.shown.compared_with(self.against) if self.shown and self.against else None

    @property
    def versions(self) -> list[PlanReading]:
        """All versions, the newest first."""
        return list(reversed(self.plans))

    @property
    def others(self) -> list[PlanReading]:
        """The versions that the shown one can be compared with, the newest first."""
        return [plan for plan in self.versions if plan is not self.shown]

    @cached_property
    def gate(self) -> GateView | None:
        """The open gate about the shown version."""
        asked = [
            gate for gate in self.rows.gates if gate.status == GateStatus.OPEN and type_of(gate).subject is Subject.PLAN
        ]
        doubtful = RequestGroup(self.requests, folds=True).doubtful
        views = open_gates(asked, self.plan, doubtful=doubtful) if self.shown is self.plan else []
        return views[0] if views else None

    @property
    def why_not_edit(self) -> str:
        """Why the version shown cannot be edited; empty if it can."""
        if self.gate:
            return ""
        if self.shown is not self.plan:
            return "Only the newest version can be edited, while it needs a decision."
        return "A plan can be edited while it needs a decision; this one does not need one now."

    @property
    def lines(self) -> list[StepLine]:
        return [
            StepLine(
                step,
                self._criteria(step.row.spec.acceptance_criteria, step.number),
                comment_field(step.number),
                self.typed.get(comment_field(step.number), ""),
            )
            for step in (self.shown.steps if self.shown else ())
        ]

    @property
    def final(self) -> list[CriterionLine]:
        """The success criteria."""
        return self._criteria(self.shown.row.header.success_criteria if self.shown else (), 0)

    def _criteria(self, criteria: Sequence[Criterion], step: int) -> list[CriterionLine]:
        found = []
        for number, criterion in enumerate(criteria, 1):
            name = comment_field(step, number)
            called = f"criterion {number} of step {step}" if step else f"success criterion {number}"
            found.append(CriterionLine(number, criterion, called, name, self.typed.get(name, "")))
        return found

    @property
    def reason(self) -> str:
        return self.typed.get("reason", "")


def comment_field(step: int, criterion: int = 0) -> str:
    """The name of the field for a comment on a step (from 1; 0 for the success criteria) or a criterion of it."""
    return f"comment-{step}-{criterion}"


def _no_details(_: Sequence[Step]) -> Sequence[Step]:
    return ()


def plan_page(
    run: Run, asked: Mapping[str, str], problem: str = "", typed: Mapping[str, str] | None = None
) -> PlanPage:
    """The page as it is now, of the requested `version`, compared with `against`. The number of queries does not depend
    on the number of steps. Raises Http404 for something that is no number.
    """
    version, against = _number(asked.get("version", "")), _number(asked.get("against", ""))
    return PlanPage(read_rows(run, _no_details), version, against, problem, typed or {})


def _number(given: str) -> int | None:
    if given in {"", "0"}:
        return 0 if given else None
    try:
        return key(given)
    except ValueError as error:
        raise Http404 from error


PLAN = RunTab(
    "plan",
    "plan_editor/plan.html",
    read=plan_page,
    regions={"plan": EVERYTHING | GATE_EVENTS | STEP_ENDS | {EventKind.ATTEMPT_REUSED, EventKind.VERDICT}},
    query=("version", "against"),
)
