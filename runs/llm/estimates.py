"""Owns the estimate of a plan's cost before it is approved: a range, and what it rests on."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from runs.enums import Complexity, Role
from runs.llm.prices import cost_of
from runs.pev.contracts import Contract, PlanContract
from runs.pev.ports import Usage

_ROUNDS = {Complexity.LOW: (2, 4), Complexity.MEDIUM: (3, 8), Complexity.HIGH: (4, 12)}
_CONTEXT = {Complexity.LOW: 4_000, Complexity.MEDIUM: 10_000, Complexity.HIGH: 25_000}
_WRITTEN = 900


class StepEstimate(Contract):
    """USD for one step, verification included."""

    step_id: str
    low: Decimal
    high: Decimal


class Estimate(Contract):
    """USD for what is still to be done. `unpriced`: the models without a known price; `basis`: what it rests on.

    `low`: every step passes at once. `high`: every step uses all of its attempts.
    """

    low: Decimal
    high: Decimal
    steps: list[StepEstimate]
    unpriced: list[str]
    basis: str


def estimate(plan: PlanContract, models: Mapping[Role, str], *, attempts: int) -> Estimate:
    """A range from default token counts per complexity; nothing is known yet of these files and models."""
    unpriced = sorted({model for model in models.values() if _usd(model, 1, 1) is None})
    steps = []
    for step in plan.steps:
        low, high = _step(models, step.estimated_complexity)
        steps.append(StepEstimate(step_id=step.step_id, low=low, high=high * attempts))
    final = (_usd(models[Role.SYNTHESIZER], 8_000, 2_000) or Decimal(0)) + (
        _usd(models[Role.VERIFIER], 20_000, 1_500) or Decimal(0)
    )
    return Estimate(
        low=sum((step.low for step in steps), final),
        high=sum((step.high for step in steps), final),
        steps=steps,
        unpriced=unpriced,
        basis="default token counts per complexity",
    )


def _step(models: Mapping[Role, str], complexity: Complexity) -> tuple[Decimal, Decimal]:
    context = _CONTEXT[complexity]
    verify = _usd(models[Role.VERIFIER], context + 6_000, 1_200) or Decimal(0)
    few, many = _ROUNDS[complexity]
    low = _usd(models[Role.EXECUTOR], few * context, few * _WRITTEN) or Decimal(0)
    high = _usd(models[Role.EXECUTOR], many * context, many * _WRITTEN * 2) or Decimal(0)
    return low + verify, high + 2 * verify


def _usd(model: str, prompt: int, written: int) -> Decimal | None:
    return cost_of(model, Usage(input=prompt, output=written), datetime.now(UTC).date())
