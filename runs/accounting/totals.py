"""What model calls have used: sums of the journal, by whatever it is asked for (T5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from runs.models import ModelCall, Run

_ZERO = Decimal(0)


@dataclass(frozen=True)
class Totals:
    """Sums of the journal. `cost` in USD leaves out `unpriced` calls and has the least of `lower_bounds`.

    `failed` calls had no answer; `duration_ms` adds up the calls, also those that ran side by side.
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
        """Of every kind."""
        written = self.cache_write_5m_tokens + self.cache_write_1h_tokens
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + written

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


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
