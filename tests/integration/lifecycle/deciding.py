"""Decisions as a person makes them at a gate, and all that one may change."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import Verb
from runs.errors import PevError
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Attempt, Event, Gate, Run, User
from tests import factories as made


def say(gate: Gate, verb: Verb, reason: str = "", by: User | None = None, **changes: Any) -> None:
    decide(gate.pk, by or made.alice(), Decision(verb, changes.pop("digest", gate.digest), reason, **changes))


def refused(gate: Gate, verb: Verb = Verb.APPROVE, reason: str = "", by: User | None = None, **changes: Any) -> str:
    """The sentence of the refusal; nothing else may have changed."""
    before = state(gate.run_id)
    with pytest.raises(PevError) as caught:
        say(gate, verb, reason, by, **changes)
    assert state(gate.run_id) == before
    return str(caught.value)


def state(run_id: int) -> list[Any]:
    run = Run.objects.get(pk=run_id)
    return [
        (run.status, run.event_count, run.head_id, run.outcome, run.paused),
        list(run.gates.values_list("status", "decided_by", "reason")),
        list(run.plans.values_list("status", "approved_how")),
        list(run.work.values_list("kind", "status")),
        list(Attempt.objects.filter(step__plan__run=run).values_list("status", "step__status")),
    ]


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def kinds(run: Run, after: int) -> list[str]:
    return list(Event.objects.filter(run=run, seq__gt=after).values_list("kind", flat=True))
