"""The time limits of decisions: a reminder, then another person, then what the policy says. Never an approval (G4).

A limit that ends races people who decide. Both do it under the lock of the run and with the same condition on the row,
so that exactly one wins; the other one finds the decision made.
"""

import logging
from datetime import timedelta

from django.utils import timezone

from runs.enums import AtLimit, GateKind, GateStatus, LimitStage, NoticeKind, Verb
from runs.errors import PevError
from runs.events import kinds as events
from runs.lifecycle import assignments, gate_decisions, limit_stages
from runs.logs import about
from runs.models import Gate
from runs.people import outbox
from runs.pev.decision_limits import DecisionLimits
from runs.store import event_log
from runs.text.plural import pluralize

log = logging.getLogger(__name__)
_AT_A_TIME = 100
_AGAIN = timedelta(minutes=1)
"""After an error the limit of this gate is tried again so much later, so that it keeps no others waiting."""


def perform_due() -> int:
    """Carry out what the limits of open gates say is due. Returns for how many something was done."""
    due = Gate.objects.open().known().filter(limit_at__lte=timezone.now()).order_by("limit_at", "pk")
    return sum(_try(gate_id) for gate_id in due.values_list("pk", flat=True)[:_AT_A_TIME])


def _try(gate_id: int) -> bool:
    try:
        return perform(gate_id)
    except PevError as error:
        log.warning("a time limit is tried again later: %s", error, extra=about(gate=gate_id))
    except Exception:
        log.exception("a time limit could not be carried out", extra=about(gate=gate_id))
    Gate.objects.open().filter(pk=gate_id, limit_at__isnull=False).update(limit_at=timezone.now() + _AGAIN)
    return False


def perform(gate_id: int) -> bool:
    """Carry out the stage that is due, in one transaction. Returns False if none is any more."""
    with event_log.writing():
        run_id = Gate.objects.values_list("run_id", flat=True).get(pk=gate_id)
        run = event_log.locked(run_id)
        rows = Gate.objects.select_related("plan", "step", "attempt", "work", "assigned_to", "assigned_group")
        gate = rows.get(pk=gate_id)  # as it is under the lock
        gate.run = run
        if gate.status != GateStatus.OPEN or gate.limit_at is None or gate.limit_at > timezone.now():
            return False
        limits = limit_stages.limits_of(run, GateKind(gate.kind))
        stage = LimitStage(gate.limit_stage)
        if stage not in limits.stages:  # an administrator has taken it out since
            limit_stages.go_on(gate, limits)
            return False
        match stage:
            case LimitStage.REMIND:
                to = gate.assigned_to.get_username() if gate.assigned_to else ""
                event_log.record(run_id, events.GateReminded(gate=gate_id, gate_kind=gate.kind, to=to))
                people = assignments.people_to_remind(gate)
                outbox.announce(NoticeKind.DECISION_DUE, people, run, gate, due_at=gate.due_at)
                limit_stages.go_on(gate, limits)
            case LimitStage.ANOTHER:
                _ask_another(gate, limits)
                limit_stages.go_on(gate, limits)
            case LimitStage.END:
                _end(gate, limits)
        return True


def _ask_another(gate: Gate, limits: DecisionLimits) -> None:
    person = assignments.another_person(gate)
    hours = f"no one has decided within {pluralize(limits.another or 0, 'hour')}"
    if person:
        assignments.assign(gate, person, why=hours)
    else:
        assignments.record_in_history(gate, why=f"{hours}, and no one else may")


def _end(gate: Gate, limits: DecisionLimits) -> None:
    hours = limits.end or 0
    if limits.then is AtLimit.WAIT:
        Gate.objects.filter(pk=gate.pk).update(limit_stage="", limit_at=None)
        event_log.record(gate.run_id, events.GateOverdue(gate=gate.pk, gate_kind=gate.kind, hours=hours))
    else:
        verb = Verb.STOP if limits.then is AtLimit.STOP else Verb.REJECT
        gate_decisions.decide_by_limit(gate, verb, hours)
