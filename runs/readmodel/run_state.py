"""What a run does now, for every surface that says so in few words: the header of its pages, MCP, the REST API and
webhooks. The number of queries does not depend on the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from runs.accounting.costs import Totals, totals
from runs.enums import (
    OPEN_ATTEMPTS,
    SETTLED_STEPS,
    AttemptStatus,
    EventKind,
    Outcome,
    PlanStatus,
    RunStatus,
    WorkStatus,
)
from runs.events.kinds import read
from runs.lifecycle.gates.registry import type_of
from runs.models import Attempt, Gate, Overruling, Plan, Run, Step
from runs.text.plural import pluralize

NAMED_STEPS = 3
"""Steps in progress that the sentence names."""


@dataclass(frozen=True)
class Progress:
    """The number of steps, and how many of them are settled. `overruled`: on how many people overrule a verdict; known
    only of a finished run.
    """

    total: int
    done: int
    overruled: int = 0


@dataclass(frozen=True, eq=False)
class RunState:
    """A run with its state in words. Each part is read once, when it is first needed."""

    run: Run

    @property
    def finished(self) -> bool:
        return self.run.status == RunStatus.FINISHED

    @cached_property
    def asked(self) -> list[Gate]:
        """The open gates, the oldest first."""
        return list(self.run.gates.open().order_by("pk"))

    @cached_property
    def plan(self) -> Plan | None:
        """The newest version, with its number and status."""
        return self.run.plans.only("version", "status").newest()

    @cached_property
    def progress(self) -> Progress:
        """The progress of the newest version."""
        rows = Step.objects.filter(plan=self.plan).order_by().values_list("pk", "status", "reused_from")
        done = sum(status in SETTLED_STEPS for _, status, _ in rows)
        kept = {step: attempt for step, _, attempt in rows}
        return Progress(len(rows), done, self._overruled(kept) if self.finished else 0)

    def _overruled(self, steps: Mapping[int, int | None]) -> int:
        """On how many of these steps people overrule a verdict. The attempt with each: whose results it keeps."""
        kept = [attempt for attempt in steps.values() if attempt]
        of_results = Q(attempt__step__plan=self.plan) | Q(attempt__in=kept)
        if not Overruling.objects.filter(of_results).exists():  # as in most runs; what is in force takes a long query
            return 0
        found = Overruling.objects.in_force().filter(of_results)
        judged = dict(found.order_by().values_list("attempt", "attempt__step"))
        own = set(judged.values())
        return sum(step in own or attempt in judged for step, attempt in steps.items())

    @cached_property
    def totals(self) -> Totals:
        return totals(self.run)

    @property
    def badge(self) -> str:
        """The word for the state of the run, which also colours title and icon."""
        if self.finished:
            return self.run.outcome or ""
        if self.run.paused:
            return "paused"
        return "waiting" if self.asked else self.run.status

    @property
    def moving(self) -> bool:
        return not (self.finished or self.asked or self.run.paused)

    @cached_property
    def question(self) -> str:
        """What is asked now; empty if nothing is."""
        return "" if self.finished else " ".join(dict.fromkeys(type_of(gate).heading_of(gate) for gate in self.asked))

    @cached_property
    def sentence(self) -> str:
        """What happens now, besides a question, or the outcome of a finished run."""
        if self.finished:
            sentence = _OUTCOMES[Outcome(self.run.outcome or Outcome.FAILED)]
            if not (count := self.progress.overruled):
                return sentence
            return f"{sentence} People judged {pluralize(count, 'step')} otherwise than the verdict."
        parts = self._doing() if not self.question or self.run.status == RunStatus.EXECUTING else []
        if self.run.paused:
            parts.insert(0, "Paused: work in progress is finished; nothing new starts.")
        return " ".join(parts)

    def _doing(self) -> list[str]:
        match RunStatus(self.run.status):
            case RunStatus.PLANNING if self._reading:
                return [self._reading]
            case RunStatus.PLANNING:
                again = self.plan and self.plan.status != PlanStatus.PROPOSED
                version = self.plan.version + 1 if self.plan and again else 1
                what = f"version {version} of the plan" if version > 1 else "a plan"
                return [f"The planner writes {what}."]
            case RunStatus.FINALISING:
                return ["The final answer is being written and judged."]
            case RunStatus.EXECUTING:
                return list(_under_way(self._working))
            case _:
                return []

    @cached_property
    def _reading(self) -> str:
        """How far its documents are read, until they all are."""
        kinds = (EventKind.READING, EventKind.DOCUMENTS_READ)
        newest = self.run.events.filter(kind__in=kinds).order_by("seq").last()
        return read(newest.kind, newest.data).sentence({}) if newest and newest.kind == EventKind.READING else ""

    @cached_property
    def _working(self) -> Sequence[Attempt]:
        """Steps that are carried out now, without those that a gate holds."""
        found = Attempt.objects.of_run(self.run).filter(status__in=OPEN_ATTEMPTS).select_related("step")
        found = found.exclude(work__status=WorkStatus.SUSPENDED)
        return list(found.order_by("pk")[:NAMED_STEPS])


_OUTCOMES = {
    Outcome.SUCCEEDED: "Every step passed, and every success criterion has evidence that the server verified.",
    Outcome.PARTIAL: "The run finished with open points. Read them before the answer.",
    Outcome.FAILED: "The run ended without a usable result.",
    Outcome.CANCELLED: "A person stopped the run. What had passed by then is kept.",
}
_VERBS = {AttemptStatus.EXECUTING: "Working on", AttemptStatus.VERIFYING: "Verifying"}


def _under_way(attempts: Sequence[Attempt]) -> Iterator[str]:
    for attempt in attempts:
        again = f" (attempt {attempt.number})" if attempt.number > 1 else ""
        yield f"{_VERBS[AttemptStatus(attempt.status)]} “{attempt.step.spec.name}”{again}."
