"""How a question to a person is shown: its words and buttons, and what an approval is bound to."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import zip_longest
from types import MappingProxyType

from django.conf import settings
from django.utils import timezone
from django.utils.safestring import SafeString

from runs.accounting.usage import spent_usd, worked_seconds
from runs.acts.call import Call
from runs.acts.shape import Remark
from runs.contracts.ports import FileInfo
from runs.enums import SETTLED_STEPS, Complexity, GateStatus, StepStatus, Verb
from runs.errors import NoVerdict
from runs.evidence.citations.citation import Citation, Cited
from runs.evidence.results import CriterionResult, Evidence, UntracedFigure, distinct
from runs.lifecycle.gate_decisions import problem_with_revision
from runs.lifecycle.gates.gate_type import Answer, GateFigures, GateType, Limit, Subject, Wording
from runs.lifecycle.gates.question_gate import choices_beyond
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.gates.tool_gate import call_of, reasons_for
from runs.lifecycle.snoozes import SNOOZES
from runs.lifecycle.supplied_files import PlanAgain, asks_for_files, missing_at, plan_again
from runs.models import Canary, Gate, User
from runs.people import second_person
from runs.people.permissions import first_people
from runs.pev.checks.material import list_in_words
from runs.pev.outcome import OpenPoint, Unmet
from runs.pev.plans.estimate import Estimate
from runs.pev.plans.ordering import levels
from runs.readmodel.gate_details import ErrorGateWords, held_at
from runs.readmodel.plan_view import AttemptReading, PlanReading, StepReading
from runs.readmodel.result_points import (
    Point,
    Points,
    PointsCited,
    labelled,
    points_cited,
    points_in,
    points_of,
    sampled,
    wants_sources,
)
from runs.readmodel.run_again import Again, again_of
from runs.readmodel.shown_citations import cited_in
from runs.store.trees import files_of
from runs.text.plain_markdown import plain
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted
from runs.web.gates.first_findings import Finding, first_findings
from runs.web.gates.unmet_criteria import Unpassed
from runs.web.markup.point_tables import PointsTable, point_tables
from runs.web.markup.prose import cited, named_in
from runs.web.steps.attempt_changes import Changes, changes_of

MAX_OPEN_STEPS = 8
"""Steps of a plan that are listed at once; of a longer plan the gate shows its stages."""
MAX_STAGES = 4
MAX_NEWS = 3
MAX_READERS = 3
MAX_STAGE_STEPS = 2
_LOOK_AT = re.compile(r" Check [A-Z][A-Z0-9_]*\.")
NOT_JUDGED = "not judged"
"""The status of a criterion that nobody judged."""
QUESTION_TEMPLATE = "gates/gate_question.html"
RESULT_TEMPLATE = "gates/gate_result.html"


@dataclass(frozen=True)
class GateFold:
    """A part of a gate that is folded: the last part of its address, and what its summary says."""

    name: str
    title: str
    count: int


@dataclass(frozen=True)
class PlanStage:
    """The names of the first steps of a stage and of its last; `left_out` counts those between them.

    Without a number it stands for so many stages between the first and the last ones.
    """

    number: int
    left_out: int
    first: Sequence[str] = ()
    last: str = ""

    @property
    def steps(self) -> int:
        return len(self.first) + self.left_out + bool(self.last)


def stages_of(steps: Sequence[tuple[str, int]]) -> list[PlanStage]:
    """The stages of a plan from the names of its steps and their levels, shortened to its first and last ones."""
    names = defaultdict[int, list[str]](list)
    for name, level in steps:
        names[level].append(name)
    found = []
    for number, level in enumerate(sorted(names), start=1):
        *first, last = names[level]
        shown = first[:MAX_STAGE_STEPS]
        found.append(PlanStage(number, len(first) - len(shown), shown or [last], last if shown else ""))
    if len(found) <= MAX_STAGES:
        return found
    between = PlanStage(0, len(found) - MAX_STAGES)
    return [*found[: MAX_STAGES - 1], between, found[-1]]


@dataclass(frozen=True, eq=False)
class GateView:
    """An open gate, with the step and attempt that it is about and the `newest` plan; `next` is the gate after it, and
    `held` what is said of an error. `doubtful`: something that people asked for in the run may not have been done.
    `unread`: some given files cannot be read. `cost`: what the attempt cost, at a gate that offers another. `may`: the
    people who may decide, by name. `passed_canary`: a copy of the result that the verifier let pass.
    """

    row: Gate
    newest: PlanReading | None
    step: StepReading | None
    attempt: AttemptReading | None
    next: Gate | None = None
    held: ErrorGateWords | None = None
    doubtful: bool = False
    unread: bool = False
    cost: Decimal = Decimal(0)
    may: Sequence[User] = ()
    passed_canary: Canary | None = None

    @property
    def type(self) -> GateType:
        return type_of(self.row)

    @cached_property
    def wording(self) -> Wording:
        """The words of the buttons. Without a plan there is none to change, and without a result none to accept."""
        wording = self.type.wording_of(self.row, self._figures)
        if self.blocked:
            wording = replace(wording, approve="Go on without this step")
        return replace(wording, reject="", hint="") if self.held and not self.newest else wording

    @property
    def key(self) -> str:
        return str(self.row.pk)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The buttons with what each does."""
        return self.type.answers(self.wording)

    @property
    def default(self) -> bool:
        """Whether approving is the default: not if the gate warns of anything, or shows nothing of what is approved."""
        return self.wording.default and self.shows_content and not self.warns

    @property
    def shows_content(self) -> bool:
        """Whether something of the plan or the result is visible before anything is opened."""
        if self.plan:
            return not self.stages
        return not self.attempt or bool(self.lead or self.file_lead or self.findings)

    @property
    def rests_on(self) -> list[StepReading]:
        """The steps right before it of which people judge a result otherwise than its verdict."""
        if not self.step:
            return []
        before = self.step.row.spec.dependencies
        return [step for step in self.step.plan.steps if step.row.key in before and step.by_people]

    @property
    def warns(self) -> bool:
        """Whether a line of the gate is marked as a warning or as bad."""
        if self.rests_on:
            return True
        asked = self.type.shows_requests and (self.doubtful or self.unread)
        if self.plan:
            unasked = self.plan.high_risk and not self.plan.asks_about_high_risk
            return asked or bool(self.missing or self.moved or unasked or warns_of_plan(self.plan))
        if self.attempt:
            return asked or self.unread or self.warns_of_result
        if self.step and self.type.subject is Subject.START:
            agents = [self.step.agent, *self.step.subagents]
            return (
                asked
                or bool(self.step.risk_at_start or self.step.effects)
                or any(agent and agent.problem for agent in agents)
            )
        return False

    @cached_property
    def warns_of_result(self) -> bool:
        """Whether a line about the content of the result is marked as a warning or as bad."""
        if self.attempt is None:
            return False
        unmet = self.unmet or self.shown or self.sampled or self.broken or self.uncited
        verdict = self.attempt.verdict
        unproved = self.passed_canary or (verdict and verdict.uncalibrated)
        weak = self.untraced or self.weak or self.attempt.shared_quotes or unproved
        return bool(unmet or weak or (not self.blocked and self.attempt.deviations))

    @property
    def criteria_mark(self) -> str:
        """The mark of the line that counts the criteria: they may be met although the result has faults."""
        if self.met < len(self.results):
            return "bad"
        return "calm" if self.warns_of_result else "good"

    @property
    def doubts(self) -> str:
        """What is doubtful although every criterion is met, counted, as the line on the criteria says it."""
        if self.criteria_mark != "calm" or self.attempt is None:
            return ""
        counts = [
            (len(self.broken), "broken citation"),
            (len(self.untraced), "figure without a source"),
            (len(self.weak), "criterion with weak evidence"),
        ]
        plurals = {"figure without a source": "figures without a source"}
        plurals["criterion with weak evidence"] = "criteria with weak evidence"
        found = [pluralize(count, one, plurals.get(one, "")) for count, one in counts if count]
        if self.uncited:
            found.insert(0, self.uncited.words[:1].lower() + self.uncited.words[1:])
        return "but " + ", ".join(found or ["see the warnings above"])

    @property
    def title(self) -> str:
        """What is asked, in a few words."""
        return self.type.title(self.row)

    @property
    def template(self) -> str:
        """If the newest plan does not have what the gate is about, only the question is shown."""
        if self.attempt:  # a verdict that is missing holds work at an error gate: its result is shown
            return RESULT_TEMPLATE
        subjects = {
            Subject.PLAN: self.newest,
            Subject.START: self.step,
            Subject.ERROR: self.held,
            Subject.CALL: self.call,
        }
        return self.type.template if subjects.get(self.type.subject) else QUESTION_TEMPLATE

    @property
    def facts(self) -> list[str]:
        """The facts after the title."""
        return self.type.facts(self._figures)

    @cached_property
    def _figures(self) -> GateFigures:
        if self.plan:
            return GateFigures(
                version=self.plan.row.version,
                steps=len(self.plan.steps),
                high_risk_steps=sum(1 for step in self.plan.steps if step.row.complexity == Complexity.HIGH),
                cost=_cost_of(self.plan),
            )
        if not self.step:
            return self._figures_of_limits if self.type.raises_limits else GateFigures()
        return GateFigures(
            steps=len(self.step.plan.steps),
            cost=_step_cost_of(self.step) if self.type.subject is Subject.START else "",
            step_name=self.step.name,
            step_number=self.step.number,
            complexity=self.step.row.complexity,
            attempt=self.attempt.row.number if self.attempt else 0,
            allowed=self.row.run.policy.attempts if self._counts else 0,
            confidence=self.attempt.confidence if self.attempt and not self.blocked else None,
        )

    @property
    def _figures_of_limits(self) -> GateFigures:
        run, rest = self.row.run, self._rest
        return GateFigures(
            steps=len(self.newest.steps) if self.newest else 0,
            done=_done_in(self.newest) if self.newest else 0,
            rest_low=rest.low if rest else None,
            rest_high=rest.high if rest else None,
            spent=spent_usd(run),
            worked_seconds=worked_seconds(run, self.row.opened_at),
        )

    @property
    def moved(self) -> str:
        """What changed since the plan was approved: the question without the words of the title. Empty for a
        new plan.
        """
        asked = self.row.question.removesuffix(" Approve it again?")
        return asked if asked != self.row.question else ""

    @property
    def message(self) -> str:
        """The message of an error. What an administrator has to look at is left out where the cause is known."""
        known = self.held and self.held.cause
        return _LOOK_AT.sub("", self.row.question) if known else self.row.question

    @property
    def call_means(self) -> str:
        """Why the question is asked again: the question without the words of the title."""
        return self.row.question.partition("? ")[2]

    @cached_property
    def call(self) -> Call | None:
        """The call that acts outside."""
        if not self.row.call:
            return None
        tree = self.row.run.head
        return call_of(self.row, files_of(tree).keys() if tree else ())

    @property
    def remarks(self) -> list[Remark]:
        """What to know before one reads the fields of the call."""
        return self.call.remarks(reasons_for(self.row)) if self.call else []

    @property
    def has_whole_question(self) -> bool:
        """Whether the title already says the whole question."""
        return self.title == self.row.question

    @cached_property
    def named(self) -> list[tuple[str, str]]:
        """The files and places that a question, its reason and its choices name: words and address of each."""
        if self.type.subject is not Subject.QUESTION:
            return []
        return named_in("\n".join([self.row.question, self.row.why, *(self.row.choices or ())]), self.row.run)

    @property
    def ways_out(self) -> tuple[str, ...]:
        """The answers that are offered next to those of the AI: a question need not fit."""
        return choices_beyond(self.row)

    @property
    def plan(self) -> PlanReading | None:
        """The plan of a plan gate."""
        return self.newest if self.type.subject is Subject.PLAN else None

    @cached_property
    def again(self) -> Again | None:
        """The differences from the run that it repeats, and what would be reused."""
        return again_of(self.plan.row, self.row.run) if self.plan else None

    @property
    def writes(self) -> list[tuple[str, list[str]]]:
        """The files that the plan says it writes: their names by folder, in the order of its steps."""
        folders = defaultdict[str, list[str]](list)
        steps = self.plan.steps if self.plan else ()
        for path in dict.fromkeys(path for step in steps for path in step.row.spec.outputs):
            folder, slash, name = path.rpartition("/")
            folders[folder + slash].append(name)
        return list(folders.items())

    @property
    def readers_of_missing(self) -> str:
        """Which steps of a plan read what is missing, as the beginning of a sentence."""
        steps = self.plan.steps if self.plan else ()
        names = [quoted(step.name) for step in steps if any(path in self.missing for path in step.row.spec.inputs)]
        return f"{list_in_words(names, MAX_READERS)} {word_for(len(names), 'reads', 'read')}"

    @cached_property
    def stages(self) -> list[PlanStage]:
        """The stages of a plan that is too long for its steps to be listed at once."""
        if not self.plan or len(self.plan.steps) <= MAX_OPEN_STEPS:
            return []
        level = levels({step.row.key: step.row.spec.dependencies for step in self.plan.steps})
        return stages_of([(step.name, level[step.row.key]) for step in self.plan.steps])

    @property
    def news_steps(self) -> list[StepReading]:
        """The first steps that are new or changed, of a plan that is too long for its steps to be listed at once."""
        steps = self.plan.steps if self.plan and self.stages else ()
        return [step for step in steps if step.news in ("added", "changed")][:MAX_NEWS]

    @property
    def folds(self) -> list[GateFold]:
        """The parts that are fetched when they are opened, in order, without empty ones."""
        if self.attempt is None:
            return [GateFold("json", "Technical details", 0)] if self.call else []
        calls, changed = len(self.attempt.tools), self.changes
        differing = len(changed.files) if changed else 0
        found = [
            GateFold("report", "The full result" if self.report.lead or self.report.all else "Report", 0),
            GateFold("criteria", "Criteria", len(self.results)),
            GateFold("changes", f"Changes since {changed.since if changed else ''}", differing),
            GateFold("how", "How it was done", calls),
        ]
        there = {"report": bool(self.report.rest), "criteria": bool(self.results), "changes": differing > 0}
        return [fold for fold in found if there.get(fold.name, True)]

    @cached_property
    def unpassed(self) -> Unpassed | None:
        """What is asked about a step that did not pass."""
        if not (self.step and self.attempt and self.type.subject is Subject.UNPASSED):
            return None
        return Unpassed(self.step, self.attempt, [one.found for one in self._open], self.cost)

    @property
    def blocked(self) -> bool:
        return self.unpassed is not None and self.unpassed.blocked

    @cached_property
    def missing(self) -> list[str]:
        """The files that are missing, as far as the plan or the executor names them."""
        return missing_at(self.row) if self.type.takes_files else []

    @property
    def file_bytes(self) -> int:
        """Bytes that one given file may have."""
        return settings.FILE_BYTES

    @property
    def room(self) -> int:
        """Bytes that the run can still be given."""
        return max(0, settings.UPLOAD_BYTES - self.row.run.inputs.total_size)

    @cached_property
    def takes_files(self) -> bool:
        """Whether missing files can be given here."""
        return asks_for_files(self.row)

    @cached_property
    def plan_again(self) -> PlanAgain:
        """Why the plan needs an approval again when files are given at this step."""
        return plan_again(self.row) if self.takes_files and not self.plan else PlanAgain()

    @property
    def given(self) -> list[str]:
        """What people gave while this version of the plan waited for a decision, as sentences."""
        rows = self.newest.rows.gates if self.plan and self.newest else ()
        mine = (one for one in rows if one.status == GateStatus.SUPPLIED and one.decided_at)
        return [
            f"{one.decided_by} gave {list_in_words(one.supplied or [])}."
            for one in mine
            if one.decided_at and self.plan and one.decided_at > self.plan.row.created_at
        ]

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        return self.type.limits(self.row, self._figures)

    @property
    def rest_of_work(self) -> str:
        """At a limit: how much of the plan is done, which steps wait, and what the rest may need; empty elsewhere."""
        if not (self.limits and self.newest):
            return ""
        steps = self.newest.steps
        held = [quoted(step.name) for step in steps if step.row.status == StepStatus.RUNNING]
        waits = f" In progress: {list_in_words(held)}." if held else ""
        left = [quoted(step.name) for step in steps if step.row.status not in SETTLED_STEPS]
        done = f"{_done_in(self.newest)} of {pluralize(len(steps), 'step')} done.{waits}"
        done += f" Finishing now leaves out {list_in_words(left)}." if left else ""
        rest, minutes = self._rest, self._figures.rest_minutes
        if all(limit.name == "minutes" for limit in self.limits):
            return f"{done} At the same pace the rest takes about {pluralize(minutes, 'minute')}." if minutes else done
        if rest is None or not rest.high:
            return done
        return f"{done} The rest is estimated at ${rest.low:,.2f} to ${rest.high:,.2f} ({rest.basis.words})."

    @cached_property
    def _rest(self) -> Estimate | None:
        """What the steps that are not done may cost."""
        if not self.newest or not self.newest.estimate:
            return None
        done = [step.row.key for step in self.newest.steps if step.row.status in SETTLED_STEPS]
        return self.newest.estimate.without(done)

    @property
    def open_point(self) -> OpenPoint | None:
        """What a person accepts by going on: the criteria that were not met, and the critique that each attempt got."""
        return self.step.open_point if self.step and self.type.subject is Subject.UNPASSED else None

    @cached_property
    def report(self) -> Points:
        """The report and files of the attempt, as points to decide on one by one."""
        return points_in(self.attempt.row) if self.attempt else points_of("")

    @cached_property
    def results(self) -> list[CriterionResult]:
        """The judged criteria, those that are not met first."""
        return self.attempt.failing_first if self.attempt else []

    @property
    def unmet(self) -> list[tuple[Unmet, Evidence | None]]:
        """The criteria that were judged and not met, with what was found and the place that fails. For a step that is
        out of attempts, at any attempt.
        """
        places = {one.text: one.failing_place for one in self.results if not one.met}
        return [(one, places.get(one.text)) for one in self._open if one.status != NOT_JUDGED]

    @property
    def unjudged(self) -> list[Unmet]:
        """The criteria that were not judged, because code had failed the attempt before."""
        return [one for one in self._open if one.status == NOT_JUDGED]

    @property
    def _open(self) -> list[Unmet]:
        if self.open_point:
            return list(self.open_point.unmet)
        return [Unmet(one.text, one.status, one.feedback) for one in self.results if not one.met]

    @property
    def overrulable(self) -> list[CriterionResult]:
        """The criteria that a person can judge as met while they accept the result."""
        return self.attempt.unmet if self.attempt and self.type.marks_open_points else []

    @property
    def weak(self) -> list[CriterionResult]:
        """Criteria whose evidence may prove something else."""
        return [one for one in self.results if one.weak]

    @property
    def untraced(self) -> list[UntracedFigure]:
        """Figures of the result without a source, each once."""
        verdict = self.attempt.verdict if self.attempt else None
        return distinct(verdict.untraced) if verdict else []

    @property
    def unknown_names(self) -> list[UntracedFigure]:
        """Names in the result that occur in no source, each once. This is a hint."""
        verdict = self.attempt.verdict if self.attempt else None
        return distinct(verdict.untraced, names=True) if verdict else []

    @property
    def met(self) -> int:
        return sum(1 for one in self.results if one.met)

    @property
    def checked(self) -> int:
        """How many criteria an automatic check decided; a model, or offline rules, reviewed `reviewed`."""
        return sum(1 for one in self.results if one.decided_by == "check")

    @property
    def reviewed(self) -> int:
        return sum(1 for one in self.results if one.decided_by in ("model", "rules"))

    @property
    def judged_by(self) -> str:
        """How many criteria no automatic check decided, and who did."""
        return self.row.run.policy.reviews(self.reviewed)

    @cached_property
    def changes(self) -> Changes | None:
        """How the files differ from what people saw last."""
        return changes_of(self.attempt) if self.attempt else None

    @cached_property
    def citations(self) -> Cited:
        """The citations in the report of the attempt."""
        if not (self.attempt and self.attempt.output):
            return Cited()
        return cited_in(self.attempt.output.findings, self.attempt.row)

    @cached_property
    def lead(self) -> SafeString:
        """The beginning of the report, before its points, with its citations as links."""
        return self._cited(self.report.lead)

    @property
    def file_lead(self) -> str:
        """The beginning of the main written file as text, if the report has no beginning of its own."""
        return plain(self.report.file_lead)

    @property
    def file_lead_info(self) -> FileInfo | None:
        return self.attempt.row.overlay.get(self.report.lead_file) if self.attempt else None

    @cached_property
    def tables(self) -> list[PointsTable]:
        """The points of the result as tables."""
        return point_tables(self.report, self.attempt.row) if self.attempt else []

    @cached_property
    def findings(self) -> list[Finding]:
        """The first points of the result."""
        return first_findings(self.report, self.tables, self.attempt.row) if self.attempt else []

    @property
    def more_findings(self) -> int:
        """How many points of the main list are shown only when it is opened."""
        return max(0, self.report.count - len(self.findings))

    @cached_property
    def rest(self) -> SafeString:
        """The report after its beginning and without its points."""
        return self._cited(self.report.rest)

    @cached_property
    def said(self) -> list[SafeString]:
        """What the executor says of its work: reasoning and notes."""
        output = self.attempt.output if self.attempt else None
        return [self._cited(text) for text in (output.reasoning, output.notes) if text] if output else []

    def _cited(self, text: str) -> SafeString:
        return cited(text, self.attempt.row) if self.attempt and text else SafeString()

    @property
    def broken(self) -> list[tuple[str, Citation]]:
        """The broken citations, each with its place: the point, or the line of the report."""
        named = [(self.report.at(one.line), one) for one in self.citations.broken]
        return [(_name_of(point) if point else f"line {one.line} of the report", one) for point, one in named]

    @cached_property
    def uncited(self) -> PointsCited | None:
        """How many points have a citation, if sources are needed and some points have none."""
        wanted = self.step and self.row.run.policy.sources_needed and wants_sources(self.step.row.spec, self.results)
        return points_cited(self.report, self.citations) if wanted else None

    @property
    def shown(self) -> str:
        """How many of the files that the step deals with were shown, if sources are needed; empty if all were."""
        found = self.step.plan.rows.coverage if self.step and self.row.run.policy.sources_needed else None
        return found.shown_of(self.step.row.spec) if found and self.step else ""

    @property
    def sampled(self) -> list[CriterionResult]:
        return sampled(self.results)

    @property
    def others(self) -> Sequence[User]:
        """Those to whom the decision can be handed on."""
        return [person for person in self.may if person.pk != self.row.assigned_to_id]

    @property
    def is_overdue(self) -> bool:
        return self.row.due_at is not None and self.row.due_at <= timezone.now()

    @property
    def snoozes(self) -> list[tuple[int, str]]:
        """For how many hours a person can put the decision off, in words."""
        return list(SNOOZES.items())

    @property
    def asks_for_sources(self) -> bool:
        """Whether a person can still say that no sources are needed: only before anything was carried out."""
        run = self.row.run
        return self.type.subject is Subject.PLAN and run.policy.sources_needed and run.head_id == run.inputs_id

    @cached_property
    def not_by(self) -> list[str]:
        """The people who cannot approve it, where a second person has to."""
        return [one.get_username() for one in first_people(self.row.run)] if self.row.needs_second_person else []

    @cached_property
    def lacks_second_person(self) -> bool:
        """Whether only an administrator could approve it."""
        return self.row.needs_second_person and not second_person.has_one(self.row.run)

    @property
    def why_not_reject(self) -> str:
        """Why changes can no longer be requested; empty if they can."""
        if not self.wording.reject:
            return ""
        rows = self.newest.rows if self.newest else None
        return problem_with_revision(self.row, rows.plans if rows else (), rows.gates if rows else ())

    @property
    def _counts(self) -> bool:
        """Whether the attempt counts against the number in the policy. One that a person sent back does not."""
        sent_back = any(one.rejections for one in self.step.attempts) if self.step else False
        return self.attempt is not None and not sent_back and self.attempt.row.number <= self.row.run.policy.attempts

    @property
    def beyond(self) -> str:
        """What follows a rejection, if that may be a surprise."""
        return self.type.after_rejection(self.row, self.attempt.row.number if self.attempt else 0)

    @property
    def binds(self) -> str:
        """What an approval is bound to, in words; empty if nothing is approved."""
        if Verb.APPROVE not in self.type.verbs:
            return ""
        return self.type.bound_to(self.row, self.attempt.row.number if self.attempt else 0)


def _name_of(point: Point) -> str:
    """The name of a point in the table of points."""
    return point.name if point.cells else labelled(point.text)[0] or point.name


def open_gates(
    gates: list[Gate],
    plan: PlanReading | None,
    *,
    doubtful: bool = False,
    unread: bool = False,
    may: Mapping[int, Sequence[User]] = MappingProxyType({}),
) -> list[GateView]:
    """The gates that wait, each with the step or attempt of the newest version that it is about."""
    steps = {step.row.pk: step for step in plan.steps} if plan else {}
    found, held = [], held_at(gates, plan)
    for gate, following in zip_longest(gates, gates[1:]):
        step = steps.get(gate.step_id or 0)
        tried = step.attempts if step else ()
        about = gate.work.attempt_id if gate.work and gate.cause == NoVerdict.kind else gate.attempt_id
        attempt = next((attempt for attempt in tried if attempt.row.pk == about), None)
        cost = attempt.spent.cost if attempt and type_of(gate).subject is Subject.UNPASSED else Decimal(0)
        found.append(
            GateView(
                gate,
                plan,
                step,
                attempt,
                following,
                held.get(gate.pk),
                doubtful,
                unread,
                cost,
                may.get(gate.pk, ()),
                attempt.passed_canary if attempt else None,
            )
        )
    return found


def warns_of_plan(plan: PlanReading) -> bool:
    """Whether the gate of this plan has a line that is marked as a warning or as bad."""
    changed = plan.lost_edits or plan.row.relaxed or any(agent.problem for agent in plan.agents)
    effects = plan.effect or any(step.effects for step in plan.steps)
    return bool(changed or effects or plan.not_read or (plan.sources_needed and plan.unsourced))


def _done_in(plan: PlanReading) -> int:
    return sum(1 for step in plan.steps if step.row.status in SETTLED_STEPS)


def _step_cost_of(step: StepReading) -> str:
    if step.plan.free:
        return "nothing to pay"
    if step.estimate is None:
        return "cost not estimated"
    return f"${step.estimate.low:,.2f} to ${step.estimate.high:,.2f}" if step.estimate.high else "unpriced"


def _cost_of(plan: PlanReading) -> str:
    estimate = plan.estimate
    if estimate is None:
        return "cost not estimated"
    if plan.free:
        return "nothing to pay"
    if estimate.unpriced and not estimate.high:
        return "unpriced"
    low, high = (f"${amount:,.2f}" for amount in (estimate.low, estimate.high))
    return f"{low} to {high}{' and unpriced calls' if estimate.unpriced else ''}"


def latest_decision(gates: list[Gate]) -> Gate | None:
    decided = [gate for gate in gates if gate.decided_at]
    return max(decided, key=lambda gate: (gate.decided_at, gate.pk), default=None)
