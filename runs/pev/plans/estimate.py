"""The estimate of a plan as it is stored with it and shown: ranges in USD and tokens, and what they rest on."""

from collections.abc import Collection, Iterable
from decimal import Decimal
from functools import reduce
from operator import add

from runs.contracts.base import Contract
from runs.enums import Role


class Basis(Contract):
    """What figures rest on: `default` of them on default token counts, `measured` of them on earlier runs.

    Each measured figure rests on `min` to `max` finished runs.
    """

    measured: int = 0
    default: int = 0
    min: int = 0
    max: int = 0

    def __add__(self, other: "Basis") -> "Basis":
        return Basis(
            measured=self.measured + other.measured,
            default=self.default + other.default,
            min=min((one.min for one in (self, other) if one.measured), default=0),
            max=max(self.max, other.max),
        )

    @property
    def words(self) -> str:
        """As it follows “based on” or stands alone."""
        if not self.measured:
            return "typical figures for steps of this risk"
        runs = f"{self.max}" if self.min == self.max else f"{self.min} to {self.max}"
        if not self.default:
            return f"what was measured in {runs} earlier runs"
        return f"what was measured in {runs} earlier runs, and on typical figures where there were too few"


class RoleEstimate(Contract):
    """What a model should use in one role, low to high: USD, None without a known price, and tokens of all kinds. A sum
    over several models names them all.
    """

    role: Role
    model: str
    low: Decimal | None
    high: Decimal | None
    tokens_low: int
    tokens_high: int
    basis: Basis

    def __add__(self, other: "RoleEstimate") -> "RoleEstimate":
        return RoleEstimate(
            role=self.role,
            model=", ".join(dict.fromkeys([*self.model.split(", "), other.model])),
            low=_sum(self.low, other.low),
            high=_sum(self.high, other.high),
            tokens_low=self.tokens_low + other.tokens_low,
            tokens_high=self.tokens_high + other.tokens_high,
            basis=self.basis + other.basis,
        )


class StepEstimate(Contract):
    """USD for one step, verification included; roles without a known price left out."""

    step_id: str
    low: Decimal
    high: Decimal
    roles: list[RoleEstimate]


class Estimate(Contract):
    """USD for what is still to be done. `unpriced`: the models without a known price; `final`: answer and its verdict.

    `low`: every step passes at once. `high`: every step uses all of its attempts. Planning is not in it: it is done
    when the estimate is made.
    """

    low: Decimal
    high: Decimal
    steps: list[StepEstimate]
    unpriced: list[str]
    basis: Basis
    final: list[RoleEstimate]

    @property
    def roles(self) -> list[RoleEstimate]:
        """The sums by role."""
        return by_role([*(one for step in self.steps for one in step.roles), *self.final])

    def without(self, kept: Collection[str]) -> "Estimate":
        """The same without these steps: they keep a result and are not carried out again. All steps together may cost
        less than each at its most, since a run has only so many searches; what is left is free to use them.
        """
        left = [step for step in self.steps if step.step_id not in kept]
        gone = [step for step in self.steps if step.step_id in kept]
        shared = sum(one.high for one in self.steps) + sum(one.high or 0 for one in self.final) - self.high
        shared = max(shared, Decimal(0))
        return self.model_copy(
            update={
                "steps": left,
                "low": self.low - sum(step.low for step in gone),
                "high": min(self.high, self.high + shared - sum(step.high for step in gone)),
                "basis": basis_of(left, self.final),
            }
        )


def by_role(parts: Iterable[RoleEstimate]) -> list[RoleEstimate]:
    """The sums by role, in the order of the roles."""
    found: dict[Role, RoleEstimate] = {}
    for one in parts:
        found[one.role] = found[one.role] + one if one.role in found else one
    return [found[role] for role in Role if role in found]


def basis_of(steps: Iterable[StepEstimate], final: Iterable[RoleEstimate]) -> Basis:
    return reduce(add, (one.basis for one in [*(each for step in steps for each in step.roles), *final]), Basis())


def _sum(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other
