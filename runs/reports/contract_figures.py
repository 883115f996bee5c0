"""The shape of the figures in the JSON report: tokens and cost, estimate against actual, metrics."""

from __future__ import annotations

from typing import Literal

from runs.contracts.base import Contract
from runs.enums import Role


class Tokens(Contract):
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    all: int


class Totals(Contract):
    """`cost_usd` is a decimal as text. It leaves out the `unpriced` calls; with `lower_bounds` it is a least amount."""

    calls: int
    failed: int
    tokens: Tokens
    cost_usd: str
    unpriced: int
    lower_bounds: int
    duration_ms: int


class RoleTotals(Totals):
    role: Role
    model: str


class Guess(Contract):
    low_usd: str | None
    high_usd: str | None
    partly_unpriced: bool
    tokens: tuple[int, int] | None


class CostLine(Contract):
    key: str
    name: str
    estimate: Guess | None
    actual: Totals
    over: bool
    standing: Literal["", "below", "within", "above"]
    note: str


class Costs(Contract):
    version: int
    rests_on: str
    steps: list[CostLine]
    roles: list[CostLine]
    planned: CostLine
    planning: CostLine
    earlier: CostLine | None
    total: Totals


class StepFigures(Contract):
    attempted: int
    ended: int
    passed: int
    accepted: int
    not_applicable: int
    failed: int
    dropped: int
    first_pass: int
    retried: int
    recovered: int
    reused: int
    first_pass_yield: float | None
    pass_rate: float | None


class AttemptFigures(Contract):
    judged: int
    passed: int
    sent_back: int
    conflicts: int
    retries: int
    unsupported: int


class Phase(Contract):
    name: str
    calls: int
    model_ms: int
    tool_ms: int


class Waiting(Contract):
    kind: str
    open: int
    count: int
    total_ms: int
    mean_ms: int
    max_ms: int


class Bucket(Contract):
    low: float
    high: float
    count: int
    held: int
    claimed: float
    share: float


class Metrics(Contract):
    doubt: str
    replans: int
    plans_rejected: int
    wall_ms: int | None
    steps: StepFigures
    attempts: AttemptFigures
    phases: list[Phase]
    waiting: list[Waiting]
    executor_confidence: list[Bucket]
    verifier_confidence: list[Bucket]
