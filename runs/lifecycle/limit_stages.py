"""When the stages of the time limits of a decision are due. The hours count from when it was asked for."""

from datetime import datetime

from django.conf import settings

from runs.enums import GateKind, LimitStage
from runs.lifecycle.business_days import after_hours
from runs.models import Gate, Run
from runs.people.time_zones import zone_of
from runs.pev.decision_limits import DecisionLimits


def limits_of(run: Run, kind: GateKind) -> DecisionLimits:
    """The limits of its policy, within those of the installation."""
    limits = run.policy.limits_for(kind)
    bounds: DecisionLimits | None = settings.DECISION_LIMITS.get(kind)
    return limits.within(bounds) if bounds else limits


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
    """Store the stage after the one that is done. When it ends stays as it was promised, whosever turn it is now.

    An administrator may have changed the limits since: the stages that they have now are those that follow.
    """
    order = list(LimitStage)
    done = order.index(LimitStage(gate.limit_stage))
    following = [stage for stage in limits.stages if order.index(stage) > done]
    zone = zone_of(gate.assigned_to)
    due_at = None
    if limits.end is not None:
        due_at = gate.due_at or after_hours(gate.opened_at, limits.end, zone)
    stage, at = "", None
    if following:
        stage = following[0].value
        at = due_at if stage == LimitStage.END else after_hours(gate.opened_at, limits.stages[following[0]], zone)
    Gate.objects.filter(pk=gate.pk).update(limit_stage=stage, limit_at=at, due_at=due_at)
