"""A run, read once for every surface that shows it: its pages, the report in every format, JSON and the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from runs.accounting.costs import Costs, RoleTotals, Totals, costs_of, totals_by_role
from runs.accounting.figures import Metrics
from runs.accounting.metrics import metrics
from runs.enums import EventKind, Outcome, Role, StepStatus
from runs.evidence.results import CriterionResult
from runs.lifecycle.change_requests import ChangeRequest, answered, gap_of, unmet_sentence
from runs.lifecycle.coverage import Coverage, unreadable
from runs.lifecycle.criteria_ledger import ledger_of
from runs.models import Event, Gate, Overruling, Run
from runs.pev.agents import policy_for_agent
from runs.pev.outcome import Ledger, OpenPoint, gaps_in, said_by_people
from runs.readmodel import run_queries
from runs.readmodel.markdown_escaping import line
from runs.readmodel.plan_view import PlanReading
from runs.readmodel.run_files import MadeFile, made_files
from runs.readmodel.run_rows import RunRows, read_rows
from runs.readmodel.shown_citations import RunCitations, citations_of, finished_in
from runs.readmodel.status_words import words
from runs.text.plural import list_with_and

MAX_POINTS = 20
"""Open points that are listed before the answer, few enough that the answer stays in sight. The report names all."""


@dataclass(frozen=True, eq=False)
class RunReading:
    """A run with everything that is shown of it. Each part is read once, when it is first needed."""

    rows: RunRows

    @property
    def run(self) -> Run:
        return self.rows.run

    def row_of(self, read_before: Gate) -> Gate:
        """This gate with its plan, step and attempt, or as it was read before, if its run was deleted since."""
        return next((one for one in self.rows.gates if one.pk == read_before.pk), read_before)

    @cached_property
    def plans(self) -> tuple[PlanReading, ...]:
        """All versions of the plan, the oldest first."""
        found: list[PlanReading] = []
        for plan in self.rows.plans:
            found.append(PlanReading(self.rows, plan, found[-1] if found else None))
        return tuple(found)

    @property
    def plan(self) -> PlanReading | None:
        """The newest version of the plan."""
        return self.plans[-1] if self.plans else None

    @cached_property
    def _ledger(self) -> Ledger | None:
        """What the outcome rests on; None before there is one."""
        newest = self.rows.plans[-1] if self.rows.plans else None
        return ledger_of(self.run, newest, self.rows.overruled) if self.run.outcome else None

    @cached_property
    def open_points(self) -> list[OpenPoint]:
        """What is missing, with its cause. Empty if the run succeeded or is not finished."""
        return gaps_in(self._ledger) if self._ledger else []

    @property
    def by_people(self) -> list[str]:
        """Sentences on what people accepted or rejected against the verdicts. Empty if the run is not finished."""
        return said_by_people(self._ledger) if self._ledger else []

    @cached_property
    def overrulings(self) -> list[Overruling]:
        """What people said against verdicts, by time, also what no longer holds."""
        if not self.rows.is_overruled:
            return []
        rows = Overruling.objects.filter(attempt__step__plan__run=self.run).select_related("by", "attempt__step")
        return list(rows.order_by("pk"))

    @property
    def falls_short(self) -> str:
        """What a result with open points is, as a sentence after the word for the outcome."""
        people = [point.accepted_by for point in self.open_points]
        if people and all(people):
            return f"accepted by {list_with_and(list(dict.fromkeys(people)))}, not verified."
        return "this is not all that was asked for."

    @property
    def gaps(self) -> list[str]:
        """A sentence for each open point."""
        return [point.sentence for point in self.open_points]

    @cached_property
    def answer(self) -> str:
        """The final answer in Markdown. Before it come the outcome and the open points, if there are any, what people
        judged otherwise than the verdicts, and the steps that do not apply. `run.answer` is the answer as it was
        written and judged.
        """
        if not self.run.answer or not (self.open_points or self.by_people or self.does_not_apply):
            return self.run.answer
        lines: list[str] = []
        if self.open_points:
            shown = [f"- {line(sentence)}" for sentence in self.gaps[:MAX_POINTS]]
            more = len(self.gaps) - len(shown)
            shown += [f"- and {more} more, which the report names"] if more else []
            lines += [f"{self.verdict_word}: {self.falls_short}", "", *shown, ""]
        if self.by_people:
            lines += ["Judged by people:", "", *(f"- {line(sentence)}" for sentence in self.by_people), ""]
        if self.does_not_apply:
            lines += ["Does not apply:", "", *(f"- {line(sentence)}" for sentence in self.does_not_apply), ""]
        return "\n".join([*lines, "---", "", self.run.answer])

    @property
    def does_not_apply(self) -> list[str]:
        """The steps that do not apply, each with what was searched for."""
        steps = self.plan.steps if self.plan else ()
        idle = [step for step in steps if step.row.status == StepStatus.NOT_APPLICABLE]
        return [f"{step.name}. {step.searched}" if step.searched else f"{step.name}." for step in idle]

    @cached_property
    def citations(self) -> RunCitations:
        """The citations of the answer and of the documents that the run made."""
        return citations_of(self.run, self.files_without_citations)

    @cached_property
    def files_without_citations(self) -> frozenset[str]:
        """The files that the plan wants without citations."""
        plans = self.rows.plans
        return finished_in(step.spec for step in self.rows.steps.get(plans[-1].pk, ())) if plans else frozenset()

    @property
    def rollback(self) -> str:
        """What the plan says must be done with the results if the task fails.

        Empty if it succeeded, if it made no files, or if a person stopped it.
        """
        missed = self.run.outcome in {Outcome.PARTIAL, Outcome.FAILED}
        return self.rows.plans[-1].header.rollback_strategy if missed and self.rows.plans and self.made else ""

    @property
    def verdict_word(self) -> str:
        """The word that a report begins with: PARTIAL, FAILED, STOPPED or NOT FINISHED; empty if the run succeeded."""
        if not self.run.outcome:
            return "NOT FINISHED"
        return "" if self.run.outcome == Outcome.SUCCEEDED else words(self.run.outcome).upper()

    @cached_property
    def criteria(self) -> list[CriterionResult]:
        """The judged success criteria, with who judged them. Empty before that."""
        rules = self.run.policy.by_rules
        return [one.judged_by(rules=rules) for one in self.run.final.results] if self.run.final else []

    @property
    def met(self) -> int:
        return sum(1 for criterion in self.criteria if criterion.met)

    @cached_property
    def made(self) -> tuple[MadeFile, ...]:
        return made_files(self.run)

    @cached_property
    def requests(self) -> list[ChangeRequest]:
        """The requests with which people rejected plans and results, by number, and what became of each."""
        plan = self.plan
        steps = {step.row.key: step for step in plan.steps} if plan else {}
        return answered(
            sorted((gate for gate in self.rows.gates if gate.request), key=lambda gate: gate.request or 0),
            plan.row if plan else None,
            {key: step.row for key, step in steps.items()},
            lambda step: steps[step.key].tried,
            self.criteria,
        )

    @property
    def left_open(self) -> list[str]:
        """A sentence for each open point, and for each request that is not met and is no open point."""
        unmet = [one for one in self.requests if one.failing and not gap_of(one)] if self.open_points else []
        return [*self.gaps, *map(unmet_sentence, unmet)]

    @property
    def coverage(self) -> Coverage:
        """How much of the given files was shown."""
        return self.rows.coverage

    @cached_property
    def unreadable(self) -> list[str]:
        """A sentence for each group of given files that cannot be read."""
        return unreadable(self.run)

    @cached_property
    def newest_event(self) -> Event | None:
        """The newest event when the run was read."""
        return self.run.events.order_by("-seq").first()

    @property
    def as_of(self) -> datetime | None:
        """The time of that event. Texts refer to it instead of the current time, so that they are always the same."""
        return self.newest_event.at if self.newest_event else None

    @cached_property
    def roles(self) -> list[RoleTotals]:
        return totals_by_role(self.run)

    @property
    def totals(self) -> Totals:
        return sum((one.totals for one in self.roles), Totals())

    @cached_property
    def costs(self) -> Costs | None:
        """Estimated and actual costs; None before there is a plan."""
        plan = self.plan
        steps = [step.row for step in plan.steps] if plan else []
        return costs_of(self.run, self.rows.plans, steps, plan.estimate if plan else None)

    @cached_property
    def figures(self) -> Metrics:
        return metrics(Run.objects.filter(pk=self.run.pk))

    @property
    def no_ai(self) -> bool:
        """Whether offline rules gave all answers."""
        return run_queries.without_ai(one.model for one in self.roles)

    @cached_property
    def no_sources(self) -> str:
        """Who decided when that no sources are needed; empty if they are needed."""
        run = self.run
        if run.policy.sources_needed:
            return ""
        said = run.events.filter(kind=EventKind.GATE_DECIDED, data__no_sources=True).order_by("seq").first()
        where, by, at = "with the task", run.owner.get_username(), run.created_at
        if said:
            where, by, at = "with the answer to a plan", said.data["by"], said.at
        when = f"{at:%Y-%m-%d %H:%M} UTC"
        return f"No sources were needed: a person chose that before it started ({by}, {where}, {when})."

    @property
    def passed_canaries(self) -> list[str]:
        """A sentence for each planted fault that the verifier let pass, with the name of its step."""
        names = {step.row.key: step.row.spec.name for plan in self.plans for step in plan.steps}
        passed = self.rows.passed_canaries.values()
        return [f"“{names.get(one.step_key, one.step_key)}”: {one.sentence}" for one in passed]

    @property
    def same_model(self) -> str:
        """The model that judged its own work, if the policy allowed that; empty if executor and verifier differ."""
        policy = self.run.policy
        own = [attempt for attempts in self.rows.attempts.values() for attempt in attempts]
        agents = [agent for attempt in own for agent in (attempt.agent, *attempt.subagents.values())]
        played_by = (policy, *(policy_for_agent(policy, agent) for agent in agents))
        return next((one.model_for(Role.EXECUTOR).model for one in played_by if one.same_model), "")


def reading_of(run: Run) -> RunReading:
    """The run as it is now, with the details of every attempt at every step."""
    return RunReading(read_rows(run))
