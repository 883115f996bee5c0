"""Owns how steps and their attempts are shown: what was done, what came of it, and what was said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils import timezone

from runs.accounting.totals import Totals
from runs.enums import OPEN_ATTEMPTS, SETTLED_STEPS, AttemptStatus, GateStatus, StepStatus
from runs.models import Attempt, Gate, Step, ToolCall
from runs.pev.contracts import PlanStep
from runs.pev.deviations import deviations
from runs.pev.ordering import levels
from runs.reports.build import file_href
from runs.web.presenters.rows import Rows
from runs.web.presenters.verdicts import VerdictView, verdict_view

DETAILED_STEPS = 40
"""In a plan with more steps, settled ones are shown in one line with a link to their own page."""
LISTED_CALLS = 60
_SPELLED_OUT = {StepStatus.RUNNING, StepStatus.JUDGED, StepStatus.PENDING, StepStatus.FAILED}
"""A settled step is folded, and one that waits is spelled out at its gate."""


@dataclass(frozen=True)
class ToolView:
    """`number` is the N of `@tool-N`; `about` the path or pattern; `result` is there on the step's page only."""

    id: int
    number: int
    name: str
    about: str
    ms: int
    failed: bool
    problem: str
    result: str = ""


@dataclass(frozen=True)
class WrittenView:
    path: str
    size: int
    url: str
    gone: bool


@dataclass(frozen=True)
class WordsView:
    """What a person said when they rejected an attempt."""

    who: str
    when: datetime | None
    text: str


@dataclass(frozen=True)
class Source:
    """Where a reused result comes from."""

    run: int
    attempt: int
    url: str


@dataclass(frozen=True)
class AttemptView:
    """`heeds` numbers the attempt whose critique this one was given, `retry` the next attempt; 0 for none."""

    id: int
    number: int
    status: str
    started: datetime
    finished: datetime | None
    ms: int | None
    reasoning: str
    findings: str
    notes: str
    claims: tuple[tuple[str, bool, str], ...]
    confidence: float | None
    blocked: bool
    tools: tuple[ToolView, ...]
    more_tools: int
    written: tuple[WrittenView, ...]
    deviations: tuple[str, ...]
    verdict: VerdictView | None
    people: tuple[WordsView, ...]
    spent: Totals
    heeds: int
    retry: int
    conflict: bool
    open: bool
    url: str
    source: Source | None


@dataclass(frozen=True)
class StepView:
    """`level` counts from 0. `detailed`: whether attempts are spelled out here, or only on the step's own page."""

    id: int
    key: str
    name: str
    description: str
    level: int
    status: str
    complexity: str
    after: tuple[str, ...]
    outputs: tuple[str, ...]
    attempts: tuple[AttemptView, ...]
    tries: int
    kept_from: int
    confidence: float | None
    ms: int | None
    cost: Totals
    detailed: bool
    open: bool
    url: str

    @property
    def moving(self) -> bool:
        return self.status in {StepStatus.RUNNING, StepStatus.JUDGED}


def step_views(rows: Rows, only: frozenset[str] | None = None) -> list[StepView]:
    """The steps of the newest plan in order; with `only`, those keys."""
    specs = {step.key: rows.specs[step.pk] for step in rows.current}
    level = levels({key: spec.dependencies for key, spec in specs.items()})
    declared = frozenset(path for spec in specs.values() for path in spec.expected_outputs)
    few = len(rows.current) <= DETAILED_STEPS
    return [
        step_view(rows, step, specs, declared, level=level[step.key], few=few)
        for step in rows.current
        if only is None or step.key in only
    ]


def step_view(
    rows: Rows,
    step: Step,
    specs: Mapping[str, PlanStep],
    declared: frozenset[str],
    *,
    level: int = 0,
    few: bool,
) -> StepView:
    """One step; `specs` are those of its plan, by key. With `few`, settled steps are detailed too."""
    spec = rows.specs[step.pk]
    tried = rows.tried(step)
    detailed = bool(tried) and (few or step.status not in SETTLED_STEPS)
    attempts = attempt_views(rows, step, spec, declared) if detailed else ()
    last = tried[-1] if tried else None
    return StepView(
        id=step.pk,
        key=step.key,
        name=spec.name,
        description=spec.description,
        level=level,
        status=step.status,
        complexity=step.complexity,
        after=tuple(specs[key].name for key in spec.dependencies),
        outputs=tuple(spec.expected_outputs),
        attempts=attempts,
        tries=len(tried),
        kept_from=step.reused_from.step.plan.version if step.reused_from else 0,
        confidence=_confidence(last),
        ms=sum(filter(None, map(_took, tried))) or None,
        cost=sum((rows.spent.get(attempt.pk, Totals()) for attempt in tried), Totals()),
        detailed=detailed,
        open=step.status in _SPELLED_OUT and bool(tried),
        url=reverse("step", args=[rows.run.pk, step.pk]),
    )


def attempt_views(rows: Rows, step: Step, spec: PlanStep, declared: frozenset[str]) -> tuple[AttemptView, ...]:
    """The attempts at a step, oldest first. `declared`: the paths that any step of the plan declared."""
    tried = rows.tried(step)
    views = []
    heeds = 0
    for attempt in tried:
        later = [other.number for other in tried if other.number > attempt.number]
        view = _attempt_view(rows, attempt, spec, declared, heeds=heeds, retry=later[0] if later else 0)
        views.append(view)
        if view.people or view.conflict or (view.verdict and view.verdict.feedback):
            heeds = attempt.number
    return tuple(views)


def _attempt_view(
    rows: Rows, attempt: Attempt, spec: PlanStep, declared: frozenset[str], *, heeds: int, retry: int
) -> AttemptView:
    run_id = rows.run.pk
    url = reverse("step", args=[run_id, attempt.step_id])
    calls = rows.tools.get(attempt.pk, ())
    output = attempt.output
    verdict = getattr(attempt, "verdict", None)
    return AttemptView(
        id=attempt.pk,
        number=attempt.number,
        status=attempt.status,
        started=attempt.created_at,
        finished=attempt.finished_at,
        ms=_took(attempt),
        reasoning=output.reasoning if output else "",
        findings=output.findings if output else "",
        notes=output.notes if output else "",
        claims=tuple((c.criterion, c.met, c.how) for c in output.criteria_met) if output else (),
        confidence=output.confidence if output else None,
        blocked=bool(output and output.status == "blocked"),
        tools=tuple(_tool_view(call, rows.problems) for call in calls[:LISTED_CALLS]),
        more_tools=max(len(calls) - LISTED_CALLS, 0),
        written=_written(run_id, attempt),
        deviations=_deviations(spec, attempt, declared, calls, rows) if attempt.output else (),
        verdict=verdict_view(run_id, verdict, url, f"attempt-{attempt.number}-") if verdict else None,
        people=tuple(_words(gate) for gate in rows.gates if _rejects(gate, attempt)),
        spent=rows.spent.get(attempt.pk, Totals()),
        heeds=heeds,
        retry=retry,
        conflict=attempt.status == AttemptStatus.CONFLICT,
        open=attempt.status in OPEN_ATTEMPTS,
        url=f"{url}#attempt-{attempt.number}",
        source=source_of(attempt.reused_from) if attempt.reused_from else None,
    )


def source_of(earlier: Attempt) -> Source:
    run_id = earlier.step.plan.run_id
    url = f"{reverse('step', args=[run_id, earlier.step_id])}#attempt-{earlier.number}"
    return Source(run_id, earlier.number, url)


def _deviations(
    spec: PlanStep, attempt: Attempt, declared: frozenset[str], calls: Sequence[ToolCall], rows: Rows
) -> tuple[str, ...]:
    lacking = rows.lacking.get(attempt.pk, frozenset())
    return deviations(
        spec,
        declared=declared,
        there=[path for path in spec.expected_outputs if path not in lacking],
        written=attempt.overlay,
        used={call.name for call in calls if not call.is_error},
    )


def _tool_view(call: ToolCall, problems: Mapping[int, str]) -> ToolView:
    given = call.arguments if isinstance(call.arguments, dict) else {}
    about = next((str(given[name]) for name in ("path", "pattern", "query", "glob") if given.get(name)), "")
    return ToolView(
        id=call.pk,
        number=call.ordinal,
        name=call.name,
        about=about[:300],
        ms=call.duration_ms,
        failed=call.is_error,
        problem=problems.get(call.pk, ""),
    )


def _written(run_id: int, attempt: Attempt) -> tuple[WrittenView, ...]:
    found = []
    for path, entry in sorted(attempt.overlay.items()):
        sha256, size = entry or ("", 0)
        url = file_href(run_id, path, sha256) if entry else ""
        found.append(WrittenView(path, size, url, gone=not entry))
    return tuple(found)


def _rejects(gate: Gate, attempt: Attempt) -> bool:
    return gate.attempt_id == attempt.pk and gate.status == GateStatus.REJECTED


def _words(gate: Gate) -> WordsView:
    return WordsView(gate.decided_by.get_username() if gate.decided_by else "", gate.decided_at, gate.reason)


def _took(attempt: Attempt) -> int | None:
    """Milliseconds from start to verdict; of an attempt under way, up to now."""
    if attempt.finished_at is None and attempt.status not in OPEN_ATTEMPTS:
        return None
    ended = attempt.finished_at or timezone.now()
    return round((ended - attempt.created_at).total_seconds() * 1_000)


def _confidence(attempt: Attempt | None) -> float | None:
    return attempt.output.confidence if attempt and attempt.output else None
