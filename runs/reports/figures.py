"""The figures of a run for machines: tokens by kind, estimate against actual, and metrics, as JSON values.

USD are decimals as text with six places; durations milliseconds; shares 0 to 1, null where there is nothing to share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal

from pydantic import JsonValue

from runs.accounting.costs import CostLine, Costs, Guess
from runs.accounting.figures import Bucket, Metrics
from runs.accounting.totals import RoleTotals, Totals


def usd(amount: Decimal) -> str:
    return f"{amount:.6f}"


def totals(used: Totals) -> dict[str, JsonValue]:
    """`cost_usd` leaves out the `unpriced` calls; with `lower_bounds` it is a least amount."""
    return {
        "calls": used.calls,
        "failed": used.failed,
        "tokens": {
            "input": used.input_tokens,
            "output": used.output_tokens,
            "cache_read": used.cache_read_tokens,
            "cache_write_5m": used.cache_write_5m_tokens,
            "cache_write_1h": used.cache_write_1h_tokens,
            "all": used.tokens,
        },
        "cost_usd": usd(used.cost),
        "unpriced": used.unpriced,
        "lower_bounds": used.lower_bounds,
        "duration_ms": used.duration_ms,
    }


def by_role(roles: Iterable[RoleTotals]) -> list[JsonValue]:
    return [{"role": one.role, "model": one.model, **totals(one.totals)} for one in roles]


def costs(found: Costs | None) -> JsonValue:
    """Estimate against actual of the newest plan; null before there is one."""
    if found is None:
        return None
    return {
        "version": found.version,
        "rests_on": found.basis,
        "steps": [_line(one) for one in found.steps],
        "roles": [_line(one) for one in found.roles],
        "planned": _line(found.planned),
        "planning": _line(found.planning),
        "earlier": _line(found.earlier) if found.earlier else None,
        "total": totals(found.total),
    }


def _line(one: CostLine) -> JsonValue:
    return {
        "key": one.key,
        "name": one.name,
        "estimate": _guess(one.guess) if one.guess else None,
        "actual": totals(one.actual),
        "over": one.over,
        "standing": one.standing,
        "note": one.note,
    }


def _guess(guess: Guess) -> JsonValue:
    return {
        "low_usd": None if guess.low is None else usd(guess.low),
        "high_usd": None if guess.high is None else usd(guess.high),
        "partly_unpriced": guess.partly,
        "tokens": list(guess.tokens) if guess.tokens else None,
    }


def metrics(found: Metrics) -> JsonValue:
    """What the report calls figures; each is defined in `runs.accounting.figures`."""
    shares = {"first_pass_yield": found.steps.first_pass_yield, "pass_rate": found.steps.pass_rate}
    return {
        "doubt": found.doubt,
        "replans": found.runs.replans,
        "plans_rejected": found.runs.rejected,
        "wall_ms": found.runs.wall.total_ms if found.runs.wall.count else None,
        "steps": asdict(found.steps) | shares,
        "attempts": asdict(found.attempts),
        "phases": [asdict(phase) for phase in found.phases],
        "waiting": [{"kind": one.kind, "open": one.open, **asdict(one.times)} for one in found.waiting],
        "executor_confidence": _buckets(found.executor),
        "verifier_confidence": _buckets(found.verifier),
    }


def _buckets(buckets: Iterable[Bucket]) -> list[JsonValue]:
    return [asdict(one) | {"share": one.share} for one in buckets]
