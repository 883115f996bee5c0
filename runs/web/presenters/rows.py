"""Owns the reading of a run for its pages: everything in a number of queries that does not grow with the run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models.functions import Left

from runs.accounting.totals import Totals, totals_by_attempt
from runs.models import Attempt, Gate, Plan, Run, Step, ToolCall, Tree
from runs.pev.contracts import PlanStep

WITH_ATTEMPT = ("verdict", "work", "reused_from__work", "reused_from__step__plan")
"""What pages need beside an attempt's own row."""


@dataclass(frozen=True)
class Rows:
    """A run's rows, indexed. `attempts`, `tools` and `problems` (what a failed tool call said) by the key of
    step, attempt and call; `lacking` by attempt."""

    run: Run
    plans: Sequence[Plan]
    steps: Mapping[int, Sequence[Step]]
    specs: Mapping[int, PlanStep]
    attempts: Mapping[int, Sequence[Attempt]]
    tools: Mapping[int, Sequence[ToolCall]]
    problems: Mapping[int, str]
    gates: Sequence[Gate]
    spent: Mapping[int, Totals]
    lacking: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @property
    def plan(self) -> Plan | None:
        return self.plans[-1] if self.plans else None

    @property
    def current(self) -> Sequence[Step]:
        """The steps of the newest plan, in order."""
        return self.steps.get(self.plan.pk, ()) if self.plan else ()

    def tried(self, step: Step) -> Sequence[Attempt]:
        """The attempts at a step, oldest first; for a kept step the one that it keeps."""
        return [step.reused_from] if step.reused_from else self.attempts.get(step.pk, ())


def read(run: Run) -> Rows:
    """All rows that the page of this run shows."""
    plans = list(run.plans.select_related("approved_by").order_by("version"))
    kept = "reused_from__verdict", "reused_from__work", "reused_from__step__plan"
    steps = by(
        Step.objects.of_run(run).select_related("plan", *kept).order_by("plan_id", "position"),
        "plan_id",
    )
    every = [step for listed in steps.values() for step in listed]
    specs = {step.pk: step.spec for step in every}
    newest = plans[-1] if plans else None
    attempts = by(_attempts(run, newest), "step_id")
    detailed = [step.reused_from for step in every if step.reused_from and step.plan == newest]
    detailed += [a for step in steps.get(newest.pk, ()) for a in attempts.get(step.pk, ())] if newest else []
    return Rows(
        run=run,
        plans=plans,
        steps=steps,
        specs=specs,
        attempts=attempts,
        tools=tools_of(detailed),
        problems=problems_of(detailed),
        gates=list(run.gates.select_related("decided_by", "plan", "step", "attempt", "work").order_by("id")),
        spent=totals_by_attempt(run),
        lacking=lacking_in(detailed, specs),
    )


def _attempts(run: Run, newest: Plan | None) -> list[Attempt]:
    """Those of the newest plan whole; those of earlier plans without what only the page of their step shows."""
    found = Attempt.objects.select_related(*WITH_ATTEMPT).order_by("number")
    whole = list(found.filter(step__plan=newest)) if newest else []
    earlier = found.of_run(run).exclude(step__plan=newest) if newest else found.none()
    return whole + list(earlier.defer("output", "overlay", "verdict__results"))


def doer(attempt: Attempt) -> Attempt:
    """The attempt that did the work: of a reused result the one of the earlier run."""
    return attempt.reused_from or attempt


def tools_of(attempts: Iterable[Attempt]) -> dict[int, list[ToolCall]]:
    """The tool calls that count, by attempt, without their results; a reused result has those of the earlier run."""
    doers = {attempt.pk: doer(attempt) for attempt in attempts}
    generations = {one.pk: one.work.generation for one in doers.values() if hasattr(one, "work")}
    calls = ToolCall.objects.filter(attempt__in=list(generations)).defer("result").order_by("attempt_id", "ordinal")
    counting = by((call for call in calls if generations[call.attempt_id or 0] == call.generation), "attempt_id")
    return {pk: counting[one.pk] for pk, one in doers.items() if one.pk in counting}


def problems_of(attempts: Iterable[Attempt]) -> dict[int, str]:
    """The beginning of what failed tool calls answered, by call."""
    failed = ToolCall.objects.refused().filter(attempt__in=[doer(one).pk for one in attempts]).order_by()
    return dict(failed.annotate(said=Left("result", 300)).values_list("pk", "said"))


def lacking_in(attempts: Iterable[Attempt], specs: Mapping[int, PlanStep]) -> dict[int, frozenset[str]]:
    """By attempt, the expected outputs that it neither wrote nor found. Reads trees only where something may lack."""
    wanted = {
        attempt: {path for path in spec.expected_outputs if not attempt.overlay.get(path)}
        for attempt in attempts
        if attempt.output and (spec := specs.get(attempt.step_id))
    }
    wanted = {attempt: paths for attempt, paths in wanted.items() if paths}
    bases = Tree.objects.in_bulk({attempt.base_id for attempt in wanted})
    roots = Tree.objects.in_bulk({tree.root_id for tree in bases.values() if tree.root_id})
    found: dict[int, frozenset[str]] = {}
    for attempt, paths in wanted.items():
        tree = bases[attempt.base_id]
        root = roots[tree.root_id].changes if tree.root_id else {}
        found[attempt.pk] = frozenset(path for path in paths if not tree.changes.get(path, root.get(path)))
    return found


def by[Row](rows: Iterable[Row], name: str) -> dict[int, list[Row]]:
    """Rows grouped by an attribute, in order."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[getattr(row, name)].append(row)
    return dict(found)
