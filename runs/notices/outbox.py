"""Writes notices, in the transaction of what they tell of. Nothing is sent here; the engine does that later."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from runs.enums import NoticeKind
from runs.models import Gate, Notice, Run, User
from runs.people.permissions import first_people, named_deciders, who_can_see


def announce(
    kind: NoticeKind,
    people: Iterable[User],
    run: Run,
    gate: Gate | None = None,
    due_at: datetime | None = None,
    occurrence: str = "",
) -> None:
    """Tell these people about a run, or about one of its gates. People who may not see the run are left out.

    The same notice is written once for each person, however often this is called: it is the same if kind, gate (or
    run), `due_at` and `occurrence` are. `occurrence` sets apart what may happen several times, such as assignments.
    """
    told = [one for one in people if one.is_active]
    allowed = who_can_see(run, told) if told else set()
    parts = [f"gate {gate.pk}" if gate else f"run {run.pk}", due_at.isoformat() if due_at else "", occurrence]
    key = " ".join([kind.value, *filter(None, parts)])
    _write(Notice(user=one, kind=kind, run=run, gate=gate, key=key, due_at=due_at) for one in told if one.pk in allowed)


def announce_gate(gate: Gate) -> None:
    """Tell everyone for whom an open gate waits."""
    announce(NoticeKind.DECISION_NEEDED, people_asked(gate), gate.run, gate)


def announce_end(run: Run) -> None:
    """Tell the people of a run that it has ended."""
    announce(NoticeKind.RUN_ENDED, {run.owner, *people_of(run)}, run)


def tell(person: User, kind: NoticeKind, about: str = "", occurrence: str = "", address: str = "") -> None:
    """Tell a person about something that is not about a run, such as a change of how they sign in."""
    _write([Notice(user=person, kind=kind, about=about, key=f"{kind.value} {occurrence}", address=address)])


def people_of(run: Run) -> list[User]:
    """Who submitted the task, and who else may decide."""
    return list(named_deciders(run))


def people_asked(gate: Gate) -> list[User]:
    """For whom a gate waits: those who may approve, of the people of its run."""
    not_by = first_people(gate.run) if gate.second_person else []
    return [one for one in people_of(gate.run) if one not in not_by]


def _write(notices: Iterable[Notice]) -> None:
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
