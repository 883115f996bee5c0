"""What a run used, as sums over its journal (T5), and what it was expected to use before its approval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Literal

from django.db.models import BooleanField, Count, ExpressionWrapper, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from runs.enums import SETTLED_STEPS, Role, RunStatus, StepStatus, WorkKind
from runs.models import Attempt, Canary, ModelCall, Plan, Run, Step
from runs.pev.plans.estimate import Estimate, RoleEstimate
from runs.store.journal import CANARIES

_ZERO = Decimal(0)


@dataclass(frozen=True)
class Totals:
    """Sums of the journal. `cost` in USD leaves out `unpriced` calls; of `lower_bounds` calls it has the least.

    `failed` calls had no answer. `duration_ms` is the sum of the calls, including those that ran at the same time.
    """

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cost: Decimal = _ZERO
    unpriced: int = 0
    lower_bounds: int = 0
    duration_ms: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of every kind."""
        written = self.cache_write_5m_tokens + self.cache_write_1h_tokens
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + written

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


NO_CALLS = Totals()


@dataclass(frozen=True)
class RoleTotals:
    """What one model has cost in one role."""

    role: str
    model: str
    totals: Totals


_SUMS: dict[str, Any] = {
    "calls": Count("pk"),
    "failed": Count("pk", filter=~Q(error="")),
    "input_tokens": Coalesce(Sum("input_tokens"), 0),
    "output_tokens": Coalesce(Sum("output_tokens"), 0),
    "cache_read_tokens": Coalesce(Sum("cache_read_tokens"), 0),
    "cache_write_5m_tokens": Coalesce(Sum("cache_write_5m_tokens"), 0),
    "cache_write_1h_tokens": Coalesce(Sum("cache_write_1h_tokens"), 0),
    "cost": Coalesce(Sum("cost_usd"), _ZERO),
    "unpriced": Count("pk", filter=Q(cost_usd__isnull=True)),
    "lower_bounds": Count("pk", filter=Q(cost_is_lower_bound=True)),
    "duration_ms": Coalesce(Sum("duration_ms"), 0),
}
_TOTALS = {f"sum_{name}": value for name, value in _SUMS.items()}


def totals(run: Run) -> Totals:
    """Everything that the run's model calls have used."""
    return _as_totals(ModelCall.objects.filter(run=run).aggregate(**_TOTALS))


def totals_by(calls: QuerySet[ModelCall], *names: str) -> list[tuple[tuple[Any, ...], Totals]]:
    """What these calls have used for each combination of these columns, in the order in which they were first asked."""
    rows = calls.order_by().values(*names).annotate(**_TOTALS, first=Min("pk")).order_by("first")
    return [(tuple(row[name] for name in names), _as_totals(row)) for row in rows]


def totals_of_canaries(runs: QuerySet[Run]) -> Totals:
    """What questions about copies with a planted fault have used in these runs. The totals of the runs include it."""
    tested = Canary.objects.filter(run__in=runs.order_by().values("pk")).values("attempt")
    return _as_totals(ModelCall.objects.filter(attempt__in=tested, ordinal__gte=CANARIES).aggregate(**_TOTALS))


def totals_by_role(run: Run) -> list[RoleTotals]:
    """The totals by role and model, in the order in which they were first asked."""
    found = totals_by(ModelCall.objects.filter(run=run), "role", "model")
    return [RoleTotals(role, model, used) for (role, model), used in found]


def totals_by_attempt(run: Run) -> dict[int, Totals]:
    """The totals by the key of the attempt; planning and the final answer are no attempt's."""
    found = totals_by(ModelCall.objects.filter(run=run, attempt__isnull=False), "attempt_id")
    return {attempt: used for (attempt,), used in found}


def _as_totals(row: Mapping[str, Any]) -> Totals:
    return Totals(**{name: row[f"sum_{name}"] for name in _SUMS})


@dataclass(frozen=True)
class Guess:
    """An estimate in USD from low to high, None if no model had a price. `partly`: some had none, so it will cost more.

    `tokens` of all kinds, low and high.
    """

    low: Decimal | None
    high: Decimal | None
    partly: bool
    tokens: tuple[int, int]


@dataclass(frozen=True)
class CostLine:
    """One part of a run. `guess` is None if nothing was estimated for it. `over`: it was carried out to its end.

    `key` is that of the step or the role, `step` the id of the step. `note` explains the figures.
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
    """The costs of a run (its id): of the newest version of its plan, of planning, and of `earlier` versions.

    `steps` ends with the final answer. `planned` is the sum of `steps`, and of `roles`. `total` adds up `planned`,
    `planning` and `earlier`. `basis` completes the sentence “the estimate rests on …”.
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
    """Read the costs in two queries. None before there is a plan.

    `plans` are in the order of their versions. `steps` and `cost`, the estimate, are those of the newest.
    """
    if not plans:
        return None
    plan = plans[-1]
    spent = _spent(run, plan)
    # By step, the number of the run whose result was taken over.
    taken = Attempt.objects.reused().filter(step__plan=plan)
    reused = dict(taken.values_list("step", "reused_from__step__plan__run"))
    parts = (*(_step_line(step, cost, spent, reused) for step in steps), _final_line(run, cost, spent))
    over = all(part.over for part in parts)
    guessed_in_all = _guess_from(cost.roles) if cost else None
    planned_first = "done before the estimate was made" if spent.planning.calls else "without a model"
    return Costs(
        run=run.pk,
        version=plan.version,
        basis=cost.basis.words if cost else "",
        steps=parts,
        roles=tuple(_role_lines(cost, spent, over=over)),
        planned=CostLine("", f"Version {plan.version} of the plan", guessed_in_all, _sum_of(parts), over),
        planning=CostLine("", "Planning", None, spent.planning, over, planned_first),
        earlier=CostLine("", "Earlier versions", None, spent.earlier, over) if len(plans) > 1 else None,
        total=_sum_of(parts) + spent.planning + spent.earlier,
    )


@dataclass(frozen=True)
class _Spent:
    """What the calls of a run used: by step and role of the newest version, for the answer, and for everything else."""

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
    final = planning = earlier = NO_CALLS
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


def _step_line(step: Step, cost: Estimate | None, spent: _Spent, reused: Mapping[int, int]) -> CostLine:
    guessed = {one.step_id: one for one in cost.steps} if cost else {}
    actual = spent.steps.get(step.pk, NO_CALLS)
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
        guess=_guess_from(guessed[step.key].roles) if step.key in guessed else None,
        actual=actual,
        over=step.status in SETTLED_STEPS or step.status == StepStatus.FAILED,
        note=note,
        step=step.pk,
    )


def _final_line(run: Run, cost: Estimate | None, spent: _Spent) -> CostLine:
    guess = _guess_from(cost.final) if cost and cost.final else None
    over = run.status == RunStatus.FINISHED and bool(run.answer)
    note = "" if spent.final.calls else "skipped" if run.status == RunStatus.FINISHED else "not started"
    return CostLine("", "Final answer and its verdict", guess, spent.final, over, note)


def _role_lines(cost: Estimate | None, spent: _Spent, *, over: bool) -> Iterable[CostLine]:
    guessed = {one.role.value: one for one in cost.roles} if cost else {}
    for role in Role:
        if role in guessed or role in spent.roles:
            guess = _guess_from([guessed[role]]) if role in guessed else None
            yield CostLine(role.value, role.value.capitalize(), guess, spent.roles.get(role, NO_CALLS), over)


def _guess_from(parts: Sequence[RoleEstimate]) -> Guess:
    lows = [one.low for one in parts if one.low is not None]
    highs = [one.high for one in parts if one.high is not None]
    return Guess(
        low=sum(lows, Decimal(0)) if lows else None,
        high=sum(highs, Decimal(0)) if highs else None,
        partly=len(highs) < len(parts),
        tokens=(sum(one.tokens_low for one in parts), sum(one.tokens_high for one in parts)),
    )


def _sum_of(parts: Iterable[CostLine]) -> Totals:
    return sum((part.actual for part in parts), NO_CALLS)
