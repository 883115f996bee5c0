"""The rows of a run, read once, in a number of queries that does not grow with steps, attempts or events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q
from django.db.models.functions import Left

from runs.accounting.costs import Totals, totals_by_attempt
from runs.calibration.canaries import passed_in
from runs.lifecycle.coverage import Coverage, coverage_of
from runs.lifecycle.criteria_ledger import overrulings_of
from runs.lifecycle.overruling import IS_OVERRULED, is_overruled
from runs.models import Attempt, Canary, Gate, Overruling, Plan, Run, Step, ToolCall, Tree, User
from runs.pev.tools.registry import subject_of
from runs.pev.tools.service_tools import SERVICE_TOOLS
from runs.text.truncate import cut_after

MAX_PROBLEM = 300
"""Characters of the result of a failed tool call."""

type Detail = Callable[[Sequence[Step]], Iterable[Step]]
"""Chooses the steps whose attempts are read in detail: with files, evidence and tool calls. Gets all steps in order."""


@dataclass(frozen=True)
class ToolReading:
    """A tool call that counts. `problem` is the result of a failed one; `result` is read for the page of its step."""

    row: ToolCall
    problem: str
    result: str

    @property
    def about(self) -> str:
        """What the call is about: a path, a pattern, an address or the like."""
        given = self.row.arguments if isinstance(self.row.arguments, dict) else {}
        return subject_of(self.row.name, given)[:300]

    @property
    def took(self) -> str:
        """How long it took. A call that the model's service made within a reply has no duration of its own."""
        return "at the service" if self.row.name in SERVICE_TOOLS else f"{self.row.duration_ms} ms"


@dataclass(frozen=True, eq=False)
class RunRows:
    """A run's rows, in order: `steps` by plan, `attempts` by step, linked to each other.

    Attempts that are not `detailed` come without their overlay and the results of their verdict. What only some
    readers want is read when it is first asked for.
    """

    run: Run
    plans: Sequence[Plan]
    steps: Mapping[int, Sequence[Step]]
    attempts: Mapping[int, Sequence[Attempt]]
    detailed: Mapping[int, Attempt]
    gates: Sequence[Gate]
    result_chars: int

    @cached_property
    def answers(self) -> Mapping[int, Sequence[Gate]]:
        """The decided gates by the attempt that they are about."""
        return by((gate for gate in self.gates if gate.decided_at), "attempt_id")

    @cached_property
    def overruled(self) -> Mapping[int, Sequence[Overruling]]:
        """What people judge otherwise than the verdicts, by attempt."""
        return overrulings_of(self.run.pk) if self.is_overruled else {}

    @cached_property
    def passed_canaries(self) -> Mapping[int, Canary]:
        """The planted faults that the verifier let pass, by the attempt whose result was copied."""
        return {one.attempt_id: one for one in passed_in(self.run)} if self.run.policy.canary_every else {}

    @property
    def is_overruled(self) -> bool:
        """Whether anyone ever overruled a verdict of the run."""
        return any(is_overruled(attempt) for attempts in self.attempts.values() for attempt in attempts)

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the given files was shown to executors."""
        return coverage_of(self.run)

    @cached_property
    def spent(self) -> Mapping[int, Totals]:
        """The totals by attempt. An attempt that asked no model has none."""
        return totals_by_attempt(self.run)

    @cached_property
    def tools(self) -> Mapping[int, Sequence[ToolReading]]:
        """The tool calls that count, by detailed attempt. A reused result has those of the earlier run."""
        doers = {attempt.pk: attempt.reused_from or attempt for attempt in self.detailed.values()}
        generations = {one.pk: one.work.generation for one in doers.values() if hasattr(one, "work")}
        calls = ToolCall.objects.filter(attempt__in=list(generations)).order_by("attempt_id", "ordinal")
        with_text = calls if self.result_chars else calls.refused()
        beginning = Left("result", max(self.result_chars, MAX_PROBLEM) + 1)
        texts = dict(with_text.order_by().annotate(beginning=beginning).values_list("pk", "beginning"))
        found: dict[int, list[ToolReading]] = defaultdict(list)
        for call in calls.defer("result", "writes", "shown"):
            if call.attempt_id and generations[call.attempt_id] == call.generation:
                text = texts.get(call.pk, "")
                problem = text[:MAX_PROBLEM] if call.is_error else ""
                result = cut_after(text, self.result_chars, "\n… (cut here)") if self.result_chars else ""
                found[call.attempt_id].append(ToolReading(call, problem, result))
        return {pk: found[one.pk] for pk, one in doers.items() if one.pk in found}

    @cached_property
    def lacking(self) -> Mapping[int, frozenset[str]]:
        """By detailed attempt, the expected outputs that it neither wrote nor found.

        Trees are read only where something may lack, and only their own paths.
        """
        wanted = {
            attempt: [path for path in attempt.step.spec.outputs if not attempt.overlay.get(path)]
            for attempt in self.detailed.values()
            if attempt.output
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


def all_steps(steps: Sequence[Step]) -> Sequence[Step]:
    """For reports: every attempt at every step."""
    return steps


def read_rows(run: Run, detail: Detail = all_steps, *, result_chars: int = 0) -> RunRows:
    """Read the rows. `result_chars`: how many characters of tool results are read for detailed attempts."""
    # Gates before what they ask about: the digest that a page sends back is never newer than what it shows (G1).
    gates = list(run.gates.select_related("work", "assigned_group").order_by("id"))
    plans = {plan.pk: plan for plan in run.plans.order_by("version")}
    found = sorted(
        Step.objects.filter(plan__in=plans).order_by(), key=lambda step: (plans[step.plan_id].version, step.position)
    )
    steps = {step.pk: step for step in found}
    for step in found:
        step.plan = plans[step.plan_id]
    _set_people(gates, plans.values())
    chosen = list(detail(list(steps.values())))
    attempts, detailed = _attempts(run, steps, chosen)
    every = {attempt.pk: attempt for listed in attempts.values() for attempt in listed}
    for gate in gates:
        gate.plan = plans.get(gate.plan_id or 0)
        gate.step = steps.get(gate.step_id or 0)
        gate.attempt = every.get(gate.attempt_id or 0)
    return RunRows(run, list(plans.values()), by(steps.values(), "plan_id"), attempts, detailed, gates, result_chars)


def _set_people(gates: Iterable[Gate], plans: Iterable[Plan]) -> None:
    """Set the people of gates and plans. Each person is read once, because most of them occur many times."""
    named = {pk for gate in gates for pk in (gate.decided_by_id, gate.assigned_to_id)}
    named |= {pk for plan in plans for pk in (plan.approved_by_id, plan.author_id)}
    people = User.objects.in_bulk(named - {None})
    for gate in gates:
        gate.decided_by, gate.assigned_to = people.get(gate.decided_by_id), people.get(gate.assigned_to_id)
    for plan in plans:
        plan.approved_by, plan.author = people.get(plan.approved_by_id), people.get(plan.author_id)


def _attempts(
    run: Run, steps: Mapping[int, Step], chosen: Sequence[Step]
) -> tuple[Mapping[int, Sequence[Attempt]], Mapping[int, Attempt]]:
    """All attempts by step, and by id those of the chosen steps, including the ones whose results they keep."""
    kept = [step.reused_from_id for step in chosen if step.reused_from_id]
    whole = Q(step__in=chosen) | Q(pk__in=kept)
    found = Attempt.objects.of_run(run).annotate(is_overruled=IS_OVERRULED).select_related("verdict", "work")
    found = found.defer("reads")
    detailed = {attempt.pk: attempt for attempt in found.filter(whole)}
    every = dict(detailed)
    if len(chosen) < len(steps):
        every |= {attempt.pk: attempt for attempt in found.exclude(whole).defer("overlay", "verdict__results")}
    attempts = {pk: attempt for pk, attempt in every.items() if attempt.step_id in steps}
    if reused := {attempt.reused_from_id for attempt in attempts.values() if attempt.reused_from_id}:
        before = Attempt.objects.select_related("work", "step__plan").defer("reads").in_bulk(reused)
        for attempt in attempts.values():
            attempt.reused_from = before.get(attempt.reused_from_id or 0)
    for attempt in attempts.values():
        attempt.step = steps[attempt.step_id]
    for step in steps.values():
        step.reused_from = attempts.get(step.reused_from_id or 0)
    ordered = sorted(attempts.values(), key=lambda attempt: attempt.number)
    return by(ordered, "step_id"), {pk: attempt for pk, attempt in detailed.items() if pk in attempts}


def by[Row](rows: Iterable[Row], name: str) -> Mapping[int, Sequence[Row]]:
    """Rows grouped by an attribute, in order."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[getattr(row, name)].append(row)
    return dict(found)
