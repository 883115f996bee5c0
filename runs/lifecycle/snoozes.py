"""Decisions that a person has put off: their inbox hides them until a time. A gate does not know of it."""

from datetime import datetime

from django.utils import timezone

from runs.errors import NotAllowed
from runs.models import Gate, Snooze, User
from runs.people.permissions import Person, approvable_gates

SNOOZES = {1: "1 hour", 4: "4 hours", 24: "1 day", 168: "1 week"}
"""For how many hours a decision can be put off, in words."""


def snooze(gate: Gate, user: User, until: datetime | None) -> None:
    """Put a decision off until a time; None brings it back. Raises NotAllowed if it does not wait for this person."""
    if not approvable_gates(user).filter(pk=gate.pk).exists():
        raise NotAllowed("Only a decision that waits for you can be snoozed.")
    if until is None:
        Snooze.objects.filter(user=user, gate=gate).delete()
    else:
        Snooze.objects.update_or_create(user=user, gate=gate, defaults={"until": until})


def snoozed_gates(user: Person) -> list[int]:
    """The gates that this person has put off until later than now, by primary key."""
    if not isinstance(user, User):
        return []
    found = Snooze.objects.filter(user=user, until__gt=timezone.now()).order_by("gate_id")
    return list(found.values_list("gate_id", flat=True))
