"""Versions of a plan with their steps and the attempts at them: what was asked for, what was done, what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.utils import timezone

from runs.accounting.costs import Totals
from runs.accounting.past_estimates import estimate_of
from runs.contracts.feedback import Comment
from runs.contracts.ports import FileInfo
from runs.enums import (
    OPEN_ATTEMPTS,
    WHOLE_STEPS,
    About,
    AttemptStatus,
    Complexity,
    EventKind,
    GateStatus,
    StepMoment,
    StepStatus,
)
from runs.evidence.results import CriterionResult, in_plain_words, shared_quotes
from runs.lifecycle.available_agents import NamedAgent, as_used, named_by
from runs.lifecycle.change_requests import READ
from runs.lifecycle.coverage import planned
from runs.lifecycle.criteria_ledger import entry_of
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.overruling import with_people
from runs.lifecycle.toolset import (
    StepEffect,
    checking_commands,
    effects_of,
    is_of_a_server,
    server_of,
    server_tools,
)
from runs.mcp_client.server_config import ServerTool
from runs.models import Attempt, Canary, Gate, Plan, Step, Verdict
from runs.models.plans import FIRST_PLAN
from runs.pev.agents import subagents_of
from runs.pev.checks.material import list_in_words
from runs.pev.contracts import Criterion, PlanStep, StepOutput
from runs.pev.deviations import deviations
from runs.pev.outcome import OpenPoint, point_of
from runs.pev.plans.estimate import Estimate, StepEstimate
from runs.pev.tools.registry import only_runs_commands
from runs.readmodel.plan_differences import (
    AuthoredVersion,
    LostEdit,
    PlanComparison,
    PlanNews,
    PlanVersion,
    compare,
    lost_edits,
    news_of,
)
from runs.readmodel.run_rows import RunRows, ToolReading
from runs.readmodel.status_words import judged_by_people, step_mark, words
from runs.store.trees import files_of
from runs.text.plural import pluralize, word_for
from runs.text.sentences import first_sentence
from runs.text.truncate import quoted, truncate_line

MAX_NAMED = 3
"""Steps that are named."""
RATED = "a mistake costs most here."
UNASKED = "Its result is kept without another question."
MAX_CHECKS = 3
"""Kinds of automatic checks that are named."""
MAX_READS = 2
"""Input files of a step that are named."""


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
    def rows(self) -> RunRows:
        return self.step.plan.rows

    @property
    def output(self) -> StepOutput | None:
        return self.row.output

    @cached_property
    def confidence(self) -> float | None:
        """The executor's confidence; None of offline rules, where it would mean nothing."""
        return self.row.output.confidence if self.row.output and not self.rows.run.policy.by_rules else None

    @property
    def verdict(self) -> Verdict | None:
        return getattr(self.row, "verdict", None)

    @property
    def passed_canary(self) -> Canary | None:
        """The copy of this result with a planted fault that the verifier let pass."""
        return self.rows.passed_canaries.get(self.row.pk)

    @property
    def met(self) -> int:
        """How many criteria the attempt met."""
        return sum(1 for result in self.results if result.met)

    @cached_property
    def results(self) -> list[CriterionResult]:
        """The judged criteria, with who judged them, and what people judge otherwise."""
        rules = self.rows.run.policy.by_rules
        judged = [one.judged_by(rules=rules) for one in self.verdict.results] if self.verdict else []
        return with_people(judged, self.rows.overruled.get(self.row.pk, ())) if judged else []

    @property
    def unmet(self) -> list[CriterionResult]:
        """The criteria that neither the verdict nor a person judges as met."""
        return [one for one in self.results if not one.holds]

    @cached_property
    def by_people(self) -> str:
        """Who judges it otherwise than its verdict, such as “accepted by alice”; empty if no one does."""
        return judged_by_people(self.rows.overruled.get(self.row.pk, ()), self.decisions)

    @property
    def failing_first(self) -> list[CriterionResult]:
        """The judged criteria. Those that are not met, or may not be, come first."""
        return sorted(self.results, key=lambda one: (one.met and one.holds, not one.weak))

    @property
    def shared_quotes(self) -> list[tuple[str, list[CriterionResult]]]:
        """Each quote that is the only evidence of several criteria, with these criteria."""
        return shared_quotes(self.results)

    @property
    def mark(self) -> str:
        """Its status for marks on pages. An attempt that rightly did nothing is “not applicable”."""
        idle = self.row.found_nothing_to_do and self.row.status == AttemptStatus.PASSED
        return StepStatus.NOT_APPLICABLE.value if idle else self.row.status

    @property
    def open(self) -> bool:
        return self.row.status in OPEN_ATTEMPTS

    @property
    def conflict(self) -> bool:
        """Whether another step changed the same file in the meantime."""
        return self.row.status == AttemptStatus.CONFLICT

    @property
    def criticised(self) -> bool:
        """Whether there is anything for the next attempt."""
        return bool(self.rejections or self.conflict or (self.verdict and self.verdict.feedback))

    @property
    def critique(self) -> str:
        """What the next attempt gets to know, in words for people."""
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
        return max(0, round((ended - self.row.created_at).total_seconds() * 1_000))  # a reused attempt took no time

    @property
    def tools(self) -> Sequence[ToolReading]:
        return self.rows.tools.get(self.row.pk, ())

    @cached_property
    def written(self) -> list[tuple[str, FileInfo | None]]:
        """The files that it wrote, by path; None for a removed file. Sorted."""
        return sorted(self.row.overlay.items())

    @cached_property
    def deviations(self) -> tuple[str, ...]:
        """Deviations from the plan (T4); none without a report, or if there was nothing to do."""
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


MAX_SENTENCE = 180
"""Characters of the description of a step on one line."""
MAX_OF_SMALL = 2
"""The most steps of a plan that is called small."""
SMALL = {
    0: "",
    1: "This plan has one step. Where you can check the result at a glance, a chat is quicker and costs less.",
    2: "This plan has two steps; a single step would do. You can edit the plan and join them.",
}


class JudgedCriterion(NamedTuple):
    """A criterion that a verifier judges. `step_id` is empty for a success criterion; `number` counts from 1."""

    step_id: str
    number: int
    text: str
    about_sources: bool


@dataclass(frozen=True, eq=False)
class PlanReading:
    """A version of the plan, with the one before it."""

    rows: RunRows
    row: Plan
    before: PlanReading | None

    @property
    def newest(self) -> bool:
        return self.row is self.rows.plans[-1]

    @cached_property
    def specs(self) -> dict[str, PlanStep]:
        """The definitions of the steps by key, in order."""
        return {step.key: step.spec for step in self.rows.steps.get(self.row.pk, ())}

    @cached_property
    def steps(self) -> tuple[StepReading, ...]:
        return tuple(StepReading(self, step) for step in self.rows.steps.get(self.row.pk, ()))

    @cached_property
    def tried_steps(self) -> tuple[StepReading, ...]:
        """The steps for reports: all of the newest version; of an earlier one only those that were tried."""
        return tuple(step for step in self.steps if self.newest or step.own)

    @cached_property
    def server_tools(self) -> Mapping[str, ServerTool]:
        """The tools of the MCP servers that its steps name."""
        named = {name for spec in self.specs.values() for name in spec.tools if is_of_a_server(name)}
        return server_tools(map(server_of, named))

    @cached_property
    def given(self) -> Set[str]:
        """The paths of the given files."""
        return files_of(self.rows.run.inputs).keys()

    @property
    def judged_criteria(self) -> list[JudgedCriterion]:
        """The criteria of the steps, then the success criteria."""
        steps = [(key, spec.acceptance_criteria) for key, spec in self.specs.items()]
        return [
            JudgedCriterion(key, number, one.text, one.topic is About.SOURCES)
            for key, criteria in (*steps, ("", self.row.header.success_criteria))
            for number, one in enumerate(criteria, 1)
            if not one.check
        ]

    @property
    def small(self) -> str:
        """A hint if a single step would be enough; else empty."""
        if self.before or len(self.steps) > MAX_OF_SMALL:
            return ""
        return SMALL[len(self.steps)]

    @cached_property
    def declared(self) -> frozenset[str]:
        """Every path that a step of this version declares as an output."""
        return frozenset(path for spec in self.specs.values() for path in spec.outputs)

    @cached_property
    def estimate(self) -> Estimate | None:
        """The estimate without steps that keep a result; None for a plan without one."""
        return estimate_of(self.row, [step.row for step in self.steps])

    @cached_property
    def estimates(self) -> dict[str, StepEstimate]:
        """The estimates by key of the step. Steps that keep a result have none."""
        return {part.step_id: part for part in self.estimate.steps} if self.estimate else {}

    @property
    def free(self) -> bool:
        return self.estimate is not None and not self.estimate.unpriced and self.estimate.high == 0

    @cached_property
    def changes(self) -> PlanComparison | None:
        """The differences from the version before."""
        return self.compared_with(self.before) if self.before else None

    def compared_with(self, earlier: PlanReading) -> PlanComparison:
        """The differences from an earlier version, each with the comments on that one or on one between the two."""
        passed = [step.row.spec for step in earlier.steps if step.row.status == StepStatus.PASSED]
        comments: list[Comment] = []
        between = self.before
        while between and between.row.version >= earlier.row.version:
            comments[:0] = [comment for gate in between.rejections for comment in gate.asked]
            between = between.before
        return compare(earlier.version, self.version, passed, comments)

    @property
    def came_from(self) -> str:
        """The origin of a version 1 that no planner wrote for this request; else empty."""
        return "" if self.before or self.row.reason == FIRST_PLAN else self.row.reason

    @property
    def news(self) -> list[PlanNews]:
        """The differences from the version before in a few words."""
        return news_of(self.changes) if self.changes else []

    @cached_property
    def lost_edits(self) -> list[LostEdit]:
        """Edits of people to earlier versions that this version does not have."""
        versions = [self]
        while earlier := versions[-1].before:
            versions.append(earlier)
        return lost_edits([plan.written for plan in reversed(versions)])

    @property
    def written(self) -> AuthoredVersion:
        """The version with its author, and whether a person has approved it after reading."""
        row = self.row
        return AuthoredVersion(self.version, row.author.get_username() if row.author else "", row.approved_how in READ)

    @property
    def version(self) -> PlanVersion:
        return PlanVersion(self.row.version, self.row.header, self.specs)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The names of steps that the version before had and this one does not have."""
        earlier = self.before.specs if self.before else {}
        return tuple(spec.name for key, spec in earlier.items() if key not in self.specs)

    @property
    def kept(self) -> int:
        """How many steps keep a result of an earlier version. The others are `new`."""
        return sum(1 for step in self.steps if step.row.reused_from_id)

    @property
    def new(self) -> int:
        return len(self.steps) - self.kept

    @property
    def criteria(self) -> list[Criterion]:
        """The criteria of its steps, and the success criteria."""
        of_steps = (criterion for spec in self.specs.values() for criterion in spec.acceptance_criteria)
        return [*of_steps, *self.row.header.success_criteria]

    @property
    def checked(self) -> int:
        """How many criteria a check decides. The others are `judged` by a model."""
        return sum(1 for criterion in self.criteria if criterion.check)

    @cached_property
    def met_in_steps(self) -> tuple[int, int]:
        """How many criteria of its steps were met at the last judged attempt, and how many there are."""
        counts = [step.met for step in self.steps]
        return sum(met for met, _ in counts), sum(every for _, every in counts)

    @property
    def sources_needed(self) -> bool:
        return self.rows.run.policy.sources_needed

    @property
    def unsourced(self) -> list[str]:
        """The names of steps whose results are not compared with the sources."""
        return [
            spec.name
            for spec in self.specs.values()
            if all(criterion.topic is About.OUTPUT for criterion in spec.acceptance_criteria)
        ]

    @property
    def judged(self) -> int:
        return len(self.criteria) - self.checked

    @property
    def effect(self) -> str:
        """What judging the whole task does beyond reading files; empty for nothing."""
        return checking_commands(self.row.header.success_criteria)

    @cached_property
    def agents(self) -> list[NamedAgent]:
        """The agents and subagents of its steps, as they are now."""
        return named_by(self.row, self.specs.values(), self.rows.run.policy)

    @property
    def judging(self) -> list[tuple[str, str]]:
        """Who judges how many criteria, and what they look at, such as “a file exists”."""
        found = []
        if checks := [criterion.check for criterion in self.criteria if criterion.check]:
            titles = list(dict.fromkeys(check.title for check in sorted(checks, key=lambda check: check.order)))
            more = f", and {pluralize(len(titles) - MAX_CHECKS, 'other thing')}" if len(titles) > MAX_CHECKS else ""
            tested = ", ".join(titles[:MAX_CHECKS])
            found.append((pluralize(len(checks), "automatic check"), f"{tested}{more}"))
        if count := self.judged:
            sourced = sum(1 for one in self.judged_criteria if one.about_sources)
            compares = f"{word_for(sourced, 'compares', 'compare')} the result with {self.sources}"
            looks = f"{word_for(count - sourced, 'looks', 'look')} only at the result"
            what = f"{sourced} {compares}, {count - sourced} {looks}" if 0 < sourced < count else ""
            found.append((self.rows.run.policy.reviews(count), what or (compares if sourced else looks)))
        return found

    @property
    def sources(self) -> str:
        """What results are compared with."""
        return "your files" if self.given else "sources"

    @property
    def unsourced_words(self) -> str:
        """The results that are not compared with the sources, all or the first by step, and what that means."""
        names = self.unsourced
        if len(names) == 1:
            which = "the result" if len(self.specs) == 1 else f"the result of {quoted(names[0])}"
            return f"{which}, so nothing checks whether it is true."
        some = f"the results of {list_in_words([*map(quoted, names)], MAX_NAMED)}"
        return f"{'all results' if len(names) == len(self.specs) else some}, so nothing checks whether they are true."

    @property
    def why_again(self) -> str:
        """Why there is a further version, if no person asked for it or wrote it."""
        asked = self.before is None or self.row.author_id or self.before.rejections
        return "" if asked else self.row.reason

    @property
    def keeps_goal(self) -> bool:
        """Whether the goal still has the words of the version before, although this version has lost steps."""
        return self.before is not None and bool(self.dropped) and self.before.row.header.goal == self.row.header.goal

    @property
    def high_risk(self) -> str:
        """The names of the high-risk steps that are still to be done; empty for none."""
        waits = (step for step in self.steps if not step.row.reused_from_id)
        names = [step.name for step in waits if step.row.complexity == Complexity.HIGH]
        return list_in_words([*map(quoted, names)], MAX_NAMED)

    @property
    def asks_about_high_risk(self) -> bool:
        """Whether a high-risk step waits for a person before it starts or before its result is kept."""
        return any(self.rows.run.policy.step_waits(Complexity.HIGH, moment) for moment in StepMoment)

    @property
    def high_risk_words(self) -> str:
        """Why steps count as high-risk, and what follows from that."""
        policy = self.rows.run.policy
        if policy.step_waits(Complexity.HIGH, StepMoment.BEFORE):
            follows = f"You are asked before it starts. {UNASKED}"
        elif policy.step_waits(Complexity.HIGH):
            follows = "You are asked before its result is kept."
        else:
            follows = f"The policy asks no one before it starts. {UNASKED}"
        return f"{RATED} {follows}"

    @property
    def reads_alike(self) -> str:
        """What every step reads, if it is the same for all of several; else empty."""
        found = {step.reads for step in self.steps}
        return found.pop() if len(found) == 1 and len(self.steps) > 1 else ""

    @property
    def stays_inside(self) -> bool:
        """Whether no step does anything beyond reading and writing files of the run."""
        return not self.effect and not any(step.effects for step in self.steps)

    @cached_property
    def not_read(self) -> list[str]:
        """Sentences about given files that no step will read, in groups."""
        return planned(self.rows.run, self.specs.values())

    @cached_property
    def decisions(self) -> list[Gate]:
        """What people, or the policy, answered when they were asked about it."""
        return [gate for gate in self._gates if gate.decided_at]

    @property
    def _gates(self) -> list[Gate]:
        """The gates that ask whether it may be carried out."""
        about_it = (gate for gate in self.rows.gates if gate.plan_id == self.row.pk)
        return [gate for gate in about_it if type_of(gate).subject is Subject.PLAN]

    @cached_property
    def rejections(self) -> list[Gate]:
        return [gate for gate in self.decisions if gate.status == GateStatus.REJECTED]

    @cached_property
    def approved_at(self) -> datetime | None:
        """When it was approved. If the policy approved it, there is no gate, only an event."""
        approvals = [gate.decided_at for gate in self.decisions if gate.status == GateStatus.APPROVED]
        if approvals or not self.row.approved_how:
            return approvals[-1] if approvals else None
        events = self.rows.run.events.filter(kind=EventKind.PLAN_APPROVED, data__version=self.row.version)
        return events.values_list("at", flat=True).last()

    @cached_property
    def fingerprint(self) -> str:
        """The digest that its approval is bound to (G1); empty before anyone is asked."""
        asked = [gate.digest for gate in self._gates]
        if asked or not self.row.approved_how:
            return asked[-1] if asked else ""
        events = self.rows.run.events.filter(kind=EventKind.PLAN_APPROVED, data__version=self.row.version)
        return str((events.values_list("data", flat=True).last() or {}).get("digest", ""))


@dataclass(frozen=True, eq=False)
class StepReading:
    """One step of a version of the plan."""

    plan: PlanReading
    row: Step

    @property
    def name(self) -> str:
        return self.row.spec.name

    @property
    def mark(self) -> str:
        """The status by which pages mark it."""
        asked = (gate for gate in self.plan.rows.gates if gate.status == GateStatus.OPEN)
        holds = any(gate.step_id == self.row.pk or gate.step_id is gate.plan_id is None for gate in asked)
        return step_mark(self.row.status, holds)

    @property
    def after(self) -> list[str]:
        """The names of the steps that it depends on."""
        return [self.plan.specs[key].name for key in self.row.spec.dependencies]

    @property
    def reads(self) -> str:
        """The planned inputs in a few words."""
        spec = self.row.spec
        if only_runs_commands(spec):
            return "runs commands"
        if not self.plan.given:
            return "reads none, as no files are given"
        if not spec.inputs:
            return "reads all your files"
        more = f" and {len(spec.inputs) - MAX_READS} more" if len(spec.inputs) > MAX_READS else ""
        return f"reads {', '.join(spec.inputs[:MAX_READS])}{more}"

    @cached_property
    def effects(self) -> list[StepEffect]:
        """What the step may do beyond reading and writing files of the run."""
        return effects_of(self.row.spec, self.plan.rows.run.policy, self.plan.server_tools)

    @property
    def agent(self) -> NamedAgent | None:
        """The agent that carries it out, if it names one."""
        return next((one for one in self.plan.agents if one.name == self.row.spec.agent), None)

    @property
    def subagents(self) -> list[NamedAgent]:
        """Its subagents, as they are now."""
        names = subagents_of(self.row.spec, self.plan.rows.run.policy)
        return [one for one in self.plan.agents if one.name in names]

    @property
    def helpers(self) -> list[str]:
        """The names of its subagents, with their versions in its attempts."""
        kept = [one.row.subagents for one in self.own_attempts]
        return [as_used(one.name, (there.get(one.name) for there in kept)) for one in self.subagents]

    @property
    def number(self) -> int:
        """Its place in the plan, from 1."""
        return self.row.position + 1

    @property
    def sourced(self) -> int:
        """How many of its criteria are about the sources, and need words from outside the run (T1a)."""
        return sum(1 for one in self.row.spec.acceptance_criteria if one.topic is About.SOURCES)

    @property
    def risk_at_start(self) -> str:
        """What to know before a high-risk step starts; empty for any other."""
        return f"{RATED} {UNASKED}" if self.row.complexity == Complexity.HIGH else ""

    @property
    def stays_unsourced(self) -> bool:
        """Whether its result is not compared with the sources, while that of another step is."""
        unsourced = self.plan.unsourced if self.plan.sources_needed else ()
        return not self.sourced and 0 < len(unsourced) < len(self.plan.specs)

    @property
    def does(self) -> str:
        """The first sentence of its description."""
        return truncate_line(first_sentence(" ".join(self.row.spec.description.split())), MAX_SENTENCE)

    @property
    def estimate(self) -> StepEstimate | None:
        return self.plan.estimates.get(self.row.key)

    @property
    def news(self) -> str:
        """The change from the version before: added, changed, reused, or empty."""
        if self.plan.before is None:
            return ""
        if self.row.reused_from_id:
            return "reused"
        earlier = self.plan.before.specs.get(self.row.key)
        return "added" if earlier is None else "" if earlier == self.row.spec else "changed"

    @property
    def kept_from(self) -> int:
        """The version whose result it keeps; 0 for none."""
        return self.row.reused_from.step.plan.version if self.row.reused_from else 0

    @property
    def own(self) -> Sequence[Attempt]:
        """The attempts of this version of the plan, oldest first."""
        return self.plan.rows.attempts.get(self.row.pk, ())

    @cached_property
    def tried(self) -> Sequence[Attempt]:
        """Its own attempts, or the one whose result it keeps."""
        return [self.row.reused_from] if self.row.reused_from else self.own

    @property
    def met(self) -> tuple[int, int]:
        """How many criteria its last judged attempt met, and of how many; 0 of 0 if the step does not apply.

        The whole verdict is read only if it failed, because it is large.
        """
        if self.row.status == StepStatus.NOT_APPLICABLE:
            return 0, 0
        verdicts = (getattr(attempt, "verdict", None) for attempt in reversed(self.tried))
        last = next((verdict for verdict in verdicts if verdict and verdict.criteria), None)
        if last is None:
            return 0, len(self.row.spec.acceptance_criteria)
        return (last.criteria if last.passed else sum(1 for one in last.results if one.met)), last.criteria

    @cached_property
    def attempts(self) -> tuple[AttemptReading, ...]:
        readings: list[AttemptReading] = []
        heeds = 0
        for place, row in enumerate(self.tried, start=1):
            later = self.tried[place:]
            attempt = AttemptReading(self, row, heeds, later[0].number if later else 0)
            readings.append(attempt)
            heeds = row.number if attempt.criticised else heeds
        return tuple(readings)

    @property
    def own_attempts(self) -> tuple[AttemptReading, ...]:
        """Its attempts without the one whose result it keeps, which is shown with its own step."""
        return () if self.row.reused_from_id else self.attempts

    @cached_property
    def shown(self) -> list[str]:
        """What its executors were shown of the given files, up to a limit."""
        return self.plan.rows.coverage.shown_to(self.row.pk)

    @cached_property
    def spent(self) -> Totals:
        return sum((attempt.spent for attempt in self.attempts), Totals())

    @property
    def searched(self) -> str:
        """What code has searched the given files for, if the step does not apply."""
        verdicts = [attempt.verdict for attempt in self.attempts if attempt.verdict]
        found = [item for one in (verdicts[-1].results if verdicts else ()) for item in one.evidence]
        return next((item.sentence for item in found if item.kind == "check" and not item.source), "")

    @property
    def open_point(self) -> OpenPoint:
        """Why it has not passed. For a step that keeps a result, only what concerns the attempt of that result."""
        rows = self.plan.rows
        return point_of(entry_of(self.row, self.tried, rows.answers, rows.overruled))

    @property
    def by_people(self) -> str:
        """Who judges its latest attempt otherwise than the verdict; empty if no one does."""
        return self.attempts[-1].by_people if self.attempts else ""

    @property
    def standing(self) -> list[str]:
        """What became of it in words, and who judges it otherwise. Of what people accepted, only who did."""
        own = [] if self.by_people and self.row.status == StepStatus.ACCEPTED else [words(self.row.status)]
        return [*own, *([self.by_people] if self.by_people else [])]

    @property
    def feedback(self) -> str:
        """What was wrong with its last judged attempt; empty if it passed."""
        judged = [attempt for attempt in self.attempts if attempt.verdict]
        return judged[-1].critique if judged and self.row.status not in WHOLE_STEPS else ""
