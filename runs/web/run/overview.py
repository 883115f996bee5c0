"""The tabs of a run: a reading of the run, with what only its pages show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from runs.accounting.costs import CostLine, Costs
from runs.enums import SETTLED_STEPS, EventKind, GateStatus, Outcome, RunStatus
from runs.lifecycle.assignments import choices_of
from runs.lifecycle.change_requests import gap_of
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.models import Gate, Run, Step
from runs.readmodel.plan_view import PlanReading, StepReading
from runs.readmodel.run_files import MadeFile
from runs.readmodel.run_rows import read_rows
from runs.readmodel.run_view import RunReading
from runs.reports.formats import FORMATS
from runs.reports.outline import Part
from runs.reports.report_format import ReportFormat
from runs.store import trees
from runs.submission.run_templates import plan_worth_keeping
from runs.web.frame.run_tab import CALLS, EVERYTHING, GATE_EVENTS, RunTab
from runs.web.gates.gate_view import GateView, latest_decision, open_gates
from runs.web.gates.page_opening import opening_of
from runs.web.gates.request_list import RequestGroup
from runs.web.help.tour import is_shown
from runs.web.inbox.next_decision import decisions_elsewhere
from runs.web.markup.diagrams import drawn
from runs.web.markup.prose import cited
from runs.web.run.timeline import Timeline, timeline_of
from runs.web.site.requests import person, visible_run
from runs.web.site.unchanged import of_run, while_unchanged
from runs.web.steps.step_page import step_of
from runs.web.steps.step_rows import StepRow, row_of, rows_of

_ANSWER_LINES = 20
_LINE_CHARS = 90
"""Characters of a line of the answer on the page: see `.answer` in run.css."""


@dataclass(frozen=True)
class CostBar:
    """In percent of the largest figure: the estimate goes from `low` to `low + range`, the cost from 0 to `actual`."""

    line: CostLine
    low: float
    range: float
    actual: float


def bars_of(costs: Costs) -> list[CostBar]:
    """The steps and the final answer, then planning, and other versions of the plan if there were any."""
    lines = [*costs.steps, costs.planning, *([costs.earlier] if costs.earlier else [])]
    largest = max(_figures(lines), default=Decimal(0)) or Decimal(1)
    return [_bar(line, largest) for line in lines]


def _figures(lines: Iterable[CostLine]) -> Iterable[Decimal]:
    for line in lines:
        yield line.actual.cost
        if line.guess and line.guess.high is not None:
            yield line.guess.high


def _bar(line: CostLine, largest: Decimal) -> CostBar:
    low = (line.guess.low if line.guess else None) or Decimal(0)
    high = (line.guess.high if line.guess else None) or low
    return CostBar(line, _percent(low, largest), _percent(high - low, largest), _percent(line.actual.cost, largest))


def _percent(part: Decimal, whole: Decimal) -> float:
    return round(float(100 * part / whole), 1)


def spelled_out(steps: Sequence[Step]) -> list[Step]:
    """The steps of the newest version whose attempts the pages of the run show in detail: those not settled."""
    current = (step for step in steps if step.plan_id == steps[-1].plan_id)
    return [step for step in current if step.status not in SETTLED_STEPS]


@dataclass(frozen=True, eq=False)
class RunPage(RunReading):
    """A reading, with what only the page of the run shows. Regions that are not sent again are not read again.

    `view`: how the address asks the overview to show the steps.
    """

    view: str = ""

    @property
    def finished(self) -> bool:
        return self.run.status == RunStatus.FINISHED

    @property
    def report_formats(self) -> Iterable[ReportFormat]:
        return FORMATS.values()

    @property
    def report_parts(self) -> Iterable[Part]:
        return list(Part)

    @property
    def steps(self) -> tuple[StepReading, ...]:
        """The steps of the newest version."""
        return self.plan.steps if self.plan else ()

    @cached_property
    def rows_of_steps(self) -> list[StepRow]:
        """The steps as lines."""
        return rows_of([step.row for step in self.steps], [step.mark for step in self.steps])

    @property
    def left_open_tone(self) -> str:
        """The mark of open points: they explain why a run failed, and belong to any other result."""
        return "bad" if self.run.outcome == Outcome.FAILED else "warn"

    @property
    def met_tone(self) -> str:
        """The mark of the line that counts the criteria that were met."""
        met, criteria = self.plan.met_in_steps if self.plan else (0, 0)
        return "bad" if self.met < len(self.criteria) else "warn" if met < criteria else "good"

    @property
    def cost_bars(self) -> list[CostBar]:
        return bars_of(self.costs) if self.costs else []

    @property
    def left(self) -> Decimal | None:
        """USD that may still be spent; None without a budget."""
        budget = self.run.policy.budget
        return None if budget is None else max(Decimal(0), budget - self.totals.cost)

    @cached_property
    def timeline(self) -> Timeline:
        return timeline_of(self.run, self.steps, self.rows.gates)

    @property
    def unfolded(self) -> list[tuple[StepRow, StepReading | None]]:
        """Each row, with what is shown below it if it is open from the beginning."""
        readings = {step.row.pk: step for step in self.steps}
        return [(row, readings[row.step.pk] if row.open else None) for row in self.rows_of_steps]

    @property
    def earlier(self) -> list[PlanReading]:
        """Every version but the newest, the latest first."""
        return list(reversed(self.plans[:-1]))

    @cached_property
    def earlier_steps(self) -> list[StepReading]:
        """The steps of earlier versions, the latest first, that had an attempt and that no step of the newest version
        keeps.
        """
        kept = {attempt.pk for step in self.steps for attempt in step.tried}
        steps = (step for plan in self.earlier for step in plan.steps)
        return [step for step in steps if any(attempt.pk not in kept for attempt in step.own)]

    @property
    def tried(self) -> bool:
        return any(step.tried for step in self.steps)

    @property
    def begun(self) -> bool:
        """Whether there is anything that an estimate can be compared with."""
        return self.finished or self.tried

    @property
    def asked(self) -> list[Gate]:
        return [gate for gate in self.rows.gates if gate.status == GateStatus.OPEN]

    @cached_property
    def gates(self) -> list[GateView]:
        """The open gates."""
        asked = self.asked_for
        return open_gates(
            self.asked,
            self.plan,
            doubtful=asked.doubtful or asked.fails,
            unread=bool(self.unreadable),
            may=choices_of(self.run, self.asked),
        )

    @property
    def open_gates(self) -> frozenset[int]:
        """The keys of the open gates."""
        return frozenset(gate.pk for gate in self.asked)

    @property
    def decided(self) -> Gate | None:
        """The latest decision."""
        return latest_decision(list(self.rows.gates))

    @property
    def asks_for_plan(self) -> bool:
        return any(type_of(gate).subject is Subject.PLAN for gate in self.asked)

    @property
    def steps_as(self) -> str:
        """The region with the steps on the overview: graph, timeline or table. A plan gate shows them itself."""
        listed = self.plan is not None and not self.asks_for_plan
        return self.view if listed and self.view in {"timeline", "table"} else "graph"

    @property
    def outcome_heading(self) -> str:
        """The outcome. If it is less than the whole, the heading says so."""
        known = {Outcome.SUCCEEDED: "Succeeded", Outcome.CANCELLED: "Stopped"}
        outcome = Outcome(self.run.outcome or Outcome.FAILED)
        return known.get(outcome, f"{outcome.upper()}: {self.falls_short}")

    @cached_property
    def asked_for(self) -> RequestGroup:
        """The requests that are not shown as open points."""
        shown = [one for one in self.requests if not (self.open_points and (one.failing or gap_of(one)))]
        return RequestGroup(shown, folds=not self.finished)

    @property
    def told_above(self) -> bool:
        """Whether an open gate shows everything that was said with the latest decision."""
        telling = any(type_of(gate).shows_requests for gate in self.asked)
        return telling and self.decided is not None and self.asked_for.tells(self.decided.pk)

    @cached_property
    def answer_html(self) -> SafeString:
        """The answer as it was written, with its citations as links and its diagrams."""
        return drawn(cited(self.run.answer, self.run), self.run)

    @property
    def long_answer(self) -> bool:
        """Whether the answer would fill more than half a screen."""
        return sum(1 + len(line) // _LINE_CHARS for line in self.run.answer.split("\n")) > _ANSWER_LINES

    @property
    def results(self) -> list[MadeFile]:
        """The files that the run made and did not remove again, without its documents."""
        documents = {file.path for file, _ in self.documents}
        return [file for file in self.made if file.change != "removed" and file.path not in documents]

    @cached_property
    def documents(self) -> list[tuple[MadeFile, str]]:
        """The documents that it made, with their length: the files that people hand on."""
        extents = trees.readings_of(self.run.head).extents
        kept = (file for file in self.made if file.change != "removed")
        return [(file, extents[file.info.sha256]) for file in kept if file.info.sha256 in extents]

    @cached_property
    def why_not_kept(self) -> str:
        """Why no plan of the finished run can become a template; empty if one can."""
        return "" if plan_worth_keeping(self.run) else "No plan of this run was approved, so there is none to save."


def run_page(run: Run, asked: Mapping[str, str] = MappingProxyType({})) -> RunPage:
    """The page of the run as it is now. The number of queries does not depend on the number of steps or events."""
    return RunPage(read_rows(run, spelled_out), asked.get("view", ""))


def _read_gates(page: RunPage) -> None:
    _ = page.gates and page.unreadable
    for gate in page.gates:
        _ = (gate.limits, gate.missing, gate.plan_again, gate.not_by and gate.lacks_second_person)
        if gate.attempt:
            _ = (gate.shown, gate.folds, gate.citations, gate.lead, gate.tables, gate.findings)
            _ = gate.blocked or gate.attempt.deviations


def _read_result(page: RunPage) -> None:
    if page.finished:
        _ = (page.left_open or page.unreadable, page.rollback, page.no_sources, page.coverage, page.documents)
        _ = (page.no_ai, page.why_not_kept, page.criteria and (page.met_tone, page.citations), page.answer_html)


def _read_costs(page: RunPage) -> None:
    if page.begun:
        _ = (page.costs, page.roles)


def _render_step(run: Run, name: re.Match[str]) -> str:
    """The line of a step, with a number of queries that does not grow with the plan, or what is shown below it."""
    step_id = int(name["step"])
    if name["body"]:
        return render_to_string("steps/steps.html#body", {"step": step_of(run, step_id)}).strip()
    step = Step.objects.filter(plan__run=run, pk=step_id).first()
    if step is None:
        raise Http404("The plan has no such step any more.")
    return render_to_string("steps/steps.html#line", {"row": row_of(step)}).strip()


OVERVIEW = RunTab(
    "overview",
    "run/overview.html",
    read=run_page,
    page_query=("view",),
    regions_of=lambda page: ("unread", "gates", "result", page.steps_as),
    shown_in={
        "unread": lambda page: page.unreadable,
        "gates": _read_gates,
        "result": _read_result,
        "timeline": lambda page: page.timeline,
        "table": lambda page: page.rows_of_steps,
    },
    regions={
        "unread": GATE_EVENTS | {EventKind.DOCUMENTS_READ},
        # Only events that open or close a gate: someone may be typing in it.
        "gates": EVERYTHING | GATE_EVENTS,
        "result": frozenset({EventKind.FINISHED, EventKind.VERDICT_OVERRULED}),
        "graph": EVERYTHING,
        "timeline": frozenset(EventKind) - CALLS,
        "table": frozenset(EventKind) - CALLS,
    },
)

STEPS = RunTab(
    "steps",
    "steps/steps.html",
    read=run_page,
    regions={"steps": EVERYTHING},
    shown_in={"steps": lambda page: page.rows_of_steps},
    details={re.compile(r"step-(?P<step>[0-9]{1,18})(?P<body>-body)?"): _render_step},
)

COST = RunTab(
    "cost",
    "run/cost.html",
    read=run_page,
    regions={"costs": frozenset(EventKind) - {EventKind.TOOL_CALLED}},
    shown_in={"costs": _read_costs},
)


_IN_FOLD: Mapping[str, Callable[[GateView], object]] = {"report": lambda gate: gate.rest, "how": lambda gate: gate.said}
"""What the template of a fold shows that was not read with the gate."""


@require_safe
@while_unchanged(of_run, "part")
def run_tab(request: HttpRequest, run_id: int, tab: RunTab) -> HttpResponse:
    run = visible_run(request, run_id)
    if tab is not OVERVIEW or "part" in request.GET:
        return tab.answer(request, run)
    user = person(request)
    return tab.answer(
        request,
        run,
        elsewhere=decisions_elsewhere(request, run),
        sees_tour=is_shown(user, run),
        opening=opening_of(run, user),
    )


@require_safe
@while_unchanged(of_run)
def gate_part(request: HttpRequest, run_id: int, gate_id: int, part: str) -> HttpResponse:
    """A folded part of an open gate. Raises Http404 for a gate that is no longer open."""
    page = run_page(visible_run(request, run_id))
    gate = next((one for one in page.gates if one.row.pk == gate_id), None)
    if gate is None or part not in {fold.name for fold in gate.folds}:
        raise Http404("There is no such question any more.")
    _ = _IN_FOLD[part](gate) if part in _IN_FOLD else None
    return render(request, f"gates/gate_part.html#{part}", {"gate": gate, "run": page.run})
