"""What a plan may cost, before it is approved: ranges by step and role, and what they rest on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from runs.accounting.prices import cost_of, price_of_search
from runs.contracts.ports import Usage
from runs.enums import Complexity, Role
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.conversation.served import WEB_SEARCH
from runs.pev.plans.estimate import Basis, Estimate, RoleEstimate, StepEstimate, basis_of

_ROUNDS = {Complexity.LOW: (2, 4), Complexity.MEDIUM: (3, 8), Complexity.HIGH: (4, 12)}
_CONTEXT = {Complexity.LOW: 4_000, Complexity.MEDIUM: 10_000, Complexity.HIGH: 25_000}
_WRITTEN_TOKENS = 900
"""Guesses while too few runs have finished: rounds (low, high), tokens of context, tokens written per round."""
_MAX_READ_TOKENS = 150_000
"""Tokens of files that are in a context at the same time. Windows are larger, but earlier rounds are shortened."""
_ZERO = Decimal(0)


@dataclass(frozen=True)
class Measured:
    """What a passed attempt (or a final answer) used in one role, from low to high, in `runs` finished runs.

    USD as billed then, None if calls had no price; tokens of all kinds.
    """

    runs: int
    low: Decimal | None
    high: Decimal | None
    tokens_low: int
    tokens_high: int


class Searches(NamedTuple):
    """How often the web may be searched at most, in one attempt and in the whole run."""

    attempt: int = 0
    run: int = 0


NO_SEARCHES = Searches()
type History = Mapping[tuple[Role, Complexity | None], Measured]
"""By role and complexity of the step, or None for the final answer. Without what was never measured."""


def estimate(
    plan: PlanContract,
    models: Mapping[Role, str],
    *,
    attempts: int,
    history: History | None = None,
    read: Mapping[str, int] | None = None,
    executors: Mapping[str, str] | None = None,
    searches: Searches = NO_SEARCHES,
) -> Estimate:
    """The estimate of a plan: from what earlier runs with the same models used, else from default token counts.

    * `read`: by key of the step, the tokens of the files that it must read.
    * `executors`: by key of the step, its model if that differs.
    * `searches`: a step that may search the web is expected to search between once and this often per attempt. All
      steps together search no more often than the run may.
    """
    known, tokens = history or {}, read or {}
    steps, most = [], min(searches.attempt * attempts, searches.run)
    for step in plan.steps:
        own = {**models, Role.EXECUTOR: (executors or {}).get(step.step_id, models[Role.EXECUTOR])}
        of_them = {key: one for key, one in known.items() if own[key[0]] == models[key[0]]}
        cost = _step_estimate(step, own, attempts, of_them, min(tokens.get(step.step_id, 0), _MAX_READ_TOKENS))
        steps.append(_with_searches(cost, most if WEB_SEARCH in step.tools else 0))
    over = sum(WEB_SEARCH in step.tools for step in plan.steps) * most - searches.run
    final = [_final_estimate(role, models[role], known) for role in (Role.SYNTHESIZER, Role.VERIFIER)]
    high = sum((step.high for step in steps), _sum_known(one.high for one in final)) - max(0, over) * _search()
    return Estimate(
        low=min(high, sum((step.low for step in steps), _sum_known(one.low for one in final))),
        high=high,
        steps=steps,
        unpriced=sorted({one for one in [*models.values(), *(executors or {}).values()] if _usd(one, 1, 1) is None}),
        basis=basis_of(steps, final),
        final=final,
    )


def _step_estimate(
    step: PlanStep, models: Mapping[Role, str], attempts: int, history: History, read: int
) -> StepEstimate:
    complexity = step.estimated_complexity
    context = _CONTEXT[complexity]
    few, many = _ROUNDS[complexity]
    half, whole = max(context, read // 2), max(context, read)  # files fill the context from round to round
    defaults = {
        Role.EXECUTOR: ((few, half, _WRITTEN_TOKENS), (many, whole, _WRITTEN_TOKENS * 2)),
        Role.VERIFIER: ((1, context + 6_000, 1_200), (2, context + 6_000, 1_200)),
    }
    roles = [
        _from_history(role, models[role], history.get((role, complexity)), attempts)
        or _default(role, models[role], *counts, attempts)
        for role, counts in defaults.items()
    ]
    return StepEstimate(
        step_id=step.step_id,
        low=_sum_known(one.low for one in roles),
        high=_sum_known(one.high for one in roles),
        roles=roles,
    )


def _with_searches(step: StepEstimate, most: int) -> StepEstimate:
    """The estimate with the cost of 1 to `most` searches by the executor. Searches have a price even if its model has
    none.
    """
    if not most:
        return step
    each = _search()
    executor, *others = step.roles
    if executor.low is not None and executor.high is not None:
        executor = executor.model_copy(update={"low": executor.low + each, "high": executor.high + most * each})
    low, high = step.low + each, step.high + most * each
    return step.model_copy(update={"low": low, "high": high, "roles": [executor, *others]})


def _final_estimate(role: Role, model: str, history: History) -> RoleEstimate:
    counts = (1, 8_000, 2_000) if role is Role.SYNTHESIZER else (1, 20_000, 1_500)
    return _from_history(role, model, history.get((role, None)), 1) or _default(role, model, counts, counts, 1)


def _from_history(role: Role, model: str, found: Measured | None, attempts: int) -> RoleEstimate | None:
    """None if nothing was measured, or if no cost was measured although the model has a price."""
    if found is None or (found.high is None and _usd(model, 1, 1) is not None):
        return None
    return RoleEstimate(
        role=role,
        model=model,
        low=found.low,
        high=None if found.high is None else found.high * attempts,
        tokens_low=found.tokens_low,
        tokens_high=found.tokens_high * attempts,
        basis=Basis(measured=1, min=found.runs, max=found.runs),
    )


type _Counts = tuple[int, int, int]
"""How many calls, with how many tokens given and written in each."""


def _default(role: Role, model: str, low: _Counts, high: _Counts, attempts: int) -> RoleEstimate:
    cheap, dear = (_usd(model, given, written) for _, given, written in (low, high))
    return RoleEstimate(
        role=role,
        model=model,
        low=None if cheap is None else cheap * low[0],
        high=None if dear is None else dear * high[0] * attempts,
        tokens_low=low[0] * (low[1] + low[2]),
        tokens_high=high[0] * (high[1] + high[2]) * attempts,
        basis=Basis(default=1),
    )


def _usd(model: str, prompt: int, written: int) -> Decimal | None:
    return cost_of(model, Usage(input=prompt, output=written), datetime.now(UTC).date())


def _search() -> Decimal:
    return price_of_search(datetime.now(UTC).date())


def _sum_known(amounts: Iterable[Decimal | None]) -> Decimal:
    return sum((amount for amount in amounts if amount is not None), _ZERO)
