"""Estimate against actual: what each part of a run was expected to use before its approval, and what it used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from django.db.models import BooleanField, ExpressionWrapper, Q

from runs.accounting.totals import Totals, totals_by
from runs.enums import SETTLED_STEPS, Role, RunStatus, StepStatus, WorkKind
from runs.models import Attempt, ModelCall, Plan, Run, Step
from runs.pev.plans.estimate import Estimate, RoleEstimate, StepEstimate

_NOTHING = Totals()


@dataclass(frozen=True)
class Guess:
    """Low to high in USD, None where no model in it had a price; `partly`: some had none, so it will cost more.

    `tokens` of all kinds, low and high; None for plans of version 0.1, which did not estimate them.
    """

    low: Decimal | None
    high: Decimal | None
    partly: bool
    tokens: tuple[int, int] | None


@dataclass(frozen=True)
class CostLine:
    """One part of a run. Without a `guess` nothing was estimated for it. `over`: it was carried out to its end.

    `key` is the step's or the role's, `step` the id of the step; `note` says what the figures alone do not.
    """

    key: str
    name: str
    guess: Guess | None
    actual: Totals
    over: bool
    note: str = ""
    step: int | None = None

    @property
    def standing(self) -> Literal["", "below", "within", "above"]:
        """Where the cost ended: below, within or above the estimate. Empty while that cannot be said.

        Calls without a price or broken off make the cost a lower bound: it may be above already, never safely within.
        """
        if self.guess is None or self.guess.low is None or self.guess.high is None or self.guess.partly:
            return ""
        if self.actual.cost > self.guess.high:
            return "above"
        open_ended = not self.over or self.actual.unpriced or self.actual.lower_bounds
        if open_ended or not self.guess.high:
            return ""
        return "within" if self.actual.cost >= self.guess.low else "below"


@dataclass(frozen=True)
class Costs:
    """Of a run (its id) and the newest version of its plan, with all that was spent beside it.

    `steps` ends with the final answer. `planned` is the sum of `steps`, and of `roles`; with `planning` and `earlier`
    (other versions) it gives `total`. `basis` says what the estimate rests on, as it follows “rests on”.
    """

    run: int
    version: int
    basis: str
    steps: tuple[CostLine, ...]
    roles: tuple[CostLine, ...]
    planned: CostLine
    planning: CostLine
    earlier: CostLine | None
    total: Totals


def costs_of(run: Run, plans: Sequence[Plan], steps: Sequence[Step], cost: Estimate | None) -> Costs | None:
    """In two queries; None before there is a plan.

    Given the plans by version, and of the newest the steps in order and what they were expected to cost.
    """
    if not plans:
        return None
    plan = plans[-1]
    spent = _spent(run, plan)
    reused = _reused(plan)
    parts = (*(_step(step, cost, spent, reused) for step in steps), _final(run, cost, spent))
    over = all(part.over for part in parts)
    planned_first = "done before the estimate was made" if spent.planning.calls else "without a model"
    return Costs(
        run=run.pk,
        version=plan.version,
        basis=cost.basis.words if cost else "",
        steps=parts,
        roles=tuple(_roles(cost, spent, over=over)),
        planned=CostLine("", f"Version {plan.version} of the plan", _whole(cost), _sum(parts), over),
        planning=CostLine("", "Planning", None, spent.planning, over, planned_first),
        earlier=CostLine("", "Earlier versions", None, spent.earlier, over) if len(plans) > 1 else None,
        total=_sum(parts) + spent.planning + spent.earlier,
    )


@dataclass(frozen=True)
class _Spent:
    """What the calls of a run used: by step and by role of the newest version, for its answer, and beside it."""

    steps: Mapping[int, Totals]
    roles: Mapping[str, Totals]
    final: Totals
    planning: Totals
    earlier: Totals


def _spent(run: Run, plan: Plan) -> _Spent:
    since = ExpressionWrapper(Q(created_at__gte=plan.created_at), output_field=BooleanField())
    calls = ModelCall.objects.filter(run=run).annotate(since=since)
    steps: dict[int, Totals] = defaultdict(Totals)
    roles: dict[str, Totals] = defaultdict(Totals)
    final = planning = earlier = _NOTHING
    for key, used in totals_by(calls, "work__kind", "attempt__step__plan", "attempt__step", "role", "since"):
        kind, version, step, role, after = key
        if kind == WorkKind.PLAN:
            planning += used
        elif version == plan.pk or (kind == WorkKind.FINALISE and after):
            roles[role] += used
            if version:
                steps[step] += used
            else:
                final += used
        else:
            earlier += used
    return _Spent(steps, roles, final, planning, earlier)


def _reused(plan: Plan) -> dict[int, int]:
    """By step, the run whose result its attempt took over."""
    taken = Attempt.objects.reused().filter(step__plan=plan)
    return dict(taken.values_list("step", "reused_from__step__plan__run"))


def _step(step: Step, cost: Estimate | None, spent: _Spent, reused: Mapping[int, int]) -> CostLine:
    guessed = {one.step_id: one for one in cost.steps} if cost else {}
    actual = spent.steps.get(step.pk, _NOTHING)
    note = ""
    if step.reused_from:
        note = f"kept from version {step.reused_from.step.plan.version}"
    elif step.pk in reused:
        note = f"reused the result of run {reused[step.pk]}"
    elif not actual.calls:
        note = "skipped" if step.status == StepStatus.DROPPED else "not started"
    return CostLine(
        key=step.key,
        name=step.spec.name,
        guess=_of_step(guessed[step.key]) if step.key in guessed else None,
        actual=actual,
        over=step.status in SETTLED_STEPS or step.status == StepStatus.FAILED,
        note=note,
        step=step.pk,
    )


def _final(run: Run, cost: Estimate | None, spent: _Spent) -> CostLine:
    guess = _of(cost.final) if cost and cost.final else None
    over = run.status == RunStatus.FINISHED and bool(run.answer)
    note = "" if spent.final.calls else "skipped" if run.status == RunStatus.FINISHED else "not started"
    return CostLine("", "Final answer and its verdict", guess, spent.final, over, note)


def _roles(cost: Estimate | None, spent: _Spent, *, over: bool) -> Iterable[CostLine]:
    guessed = {one.role.value: one for one in cost.roles} if cost else {}
    for role in Role:
        if role in guessed or role in spent.roles:
            guess = _of([guessed[role]]) if role in guessed else None
            yield CostLine(role.value, role.value.capitalize(), guess, spent.roles.get(role, _NOTHING), over)


def _of(parts: Sequence[RoleEstimate]) -> Guess:
    lows = [one.low for one in parts if one.low is not None]
    highs = [one.high for one in parts if one.high is not None]
    return Guess(
        low=sum(lows, Decimal(0)) if lows else None,
        high=sum(highs, Decimal(0)) if highs else None,
        partly=len(highs) < len(parts),
        tokens=(sum(one.tokens_low for one in parts), sum(one.tokens_high for one in parts)),
    )


def _of_step(step: StepEstimate) -> Guess:
    return _of(step.roles) if step.roles else Guess(step.low, step.high, partly=False, tokens=None)


def _whole(cost: Estimate | None) -> Guess | None:
    if cost is None:
        return None
    return _of(cost.roles) if cost.roles else Guess(cost.low, cost.high, partly=bool(cost.unpriced), tokens=None)


def _sum(parts: Iterable[CostLine]) -> Totals:
    return sum((part.actual for part in parts), _NOTHING)
