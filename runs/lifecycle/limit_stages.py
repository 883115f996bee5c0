"""When the stages of the time limits of a decision are due. The hours count from when it was asked for."""

from datetime import datetime

from runs.enums import LimitStage
from runs.lifecycle.business_days import after_hours
from runs.models import Gate
from runs.people.time_zones import zone_of
from runs.pev.decision_limits import DecisionLimits


def begin(gate: Gate, limits: DecisionLimits, now: datetime) -> None:
    """Set when the limit of a gate that opens now ends, and its first stage."""
    if not limits.stages:
        return
    zone = zone_of(gate.assigned_to)
    if limits.end is not None:
        gate.due_at = after_hours(now, limits.end, zone)
    stage, hours = next(iter(limits.stages.items()))
    gate.limit_stage, gate.limit_at = stage.value, after_hours(now, hours, zone)


def go_on(gate: Gate, limits: DecisionLimits) -> None:
    """Store the stage after the one that is done. When it ends stays as it was promised, whosever turn it is now."""
    stages = list(limits.stages)
    done = LimitStage(gate.limit_stage)
    following = stages[stages.index(done) + 1 :] if done in stages else []
    stage, at = "", None
    if following:
        stage = following[0].value
        ends = gate.due_at if following[0] is LimitStage.END else None
        at = ends or after_hours(gate.opened_at, limits.stages[following[0]], zone_of(gate.assigned_to))
    Gate.objects.filter(pk=gate.pk).update(limit_stage=stage, limit_at=at)
