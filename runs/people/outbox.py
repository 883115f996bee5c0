"""Writes notices, in the transaction of what they tell of. Nothing is sent here; the engine does that later."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from django.contrib.auth.models import Group

from runs.enums import NoticeKind
from runs.models import Gate, Notice, Run, User
from runs.people.permissions import gates_asking, named_deciders, people_asked, who_can_see


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
    active = [one for one in people if one.is_active]
    allowed = who_can_see(run, active) if active else set()
    about = f"gate {gate.pk}" if gate else f"run {run.pk}"
    key = _key(kind, about, due_at.isoformat() if due_at else "", occurrence)
    _write(
        Notice(user=one, kind=kind, run=run, gate=gate, key=key, due_at=due_at) for one in active if one.pk in allowed
    )


def announce_gate(gate: Gate) -> None:
    """Tell everyone for whom an open gate waits."""
    announce(NoticeKind.DECISION_NEEDED, people_asked(gate), gate.run, gate)


def announce_to_members(
    instance: User | Group, action: str, *, reverse: bool, pk_set: Collection[int] | None, **_: object
) -> None:
    """A receiver of `m2m_changed`: tell people who join a group of the open gates that wait for them by it, in the
    transaction in which they join. They are notified of each gate once, like everyone else.
    """
    if action != "post_add" or not pk_set:
        return
    kind = NoticeKind.DECISION_NEEDED
    for person in User.objects.filter(pk__in=pk_set if reverse else [instance.pk], is_active=True):
        gates = gates_asking(person).select_related("run")
        _write(
            Notice(user=person, kind=kind, run=gate.run, gate=gate, key=_key(kind, f"gate {gate.pk}")) for gate in gates
        )


def announce_end(run: Run) -> None:
    """Tell the people of a run that it has ended."""
    announce(NoticeKind.RUN_ENDED, {run.owner, *named_deciders(run)}, run)


def tell(person: User, kind: NoticeKind, about: str = "", occurrence: str = "", address: str = "") -> None:
    """Tell a person about something that is not about a run, such as a change of how they sign in."""
    _write([Notice(user=person, kind=kind, about=about, key=_key(kind, occurrence), address=address)])


def _key(kind: NoticeKind, *parts: str) -> str:
    return " ".join([kind.value, *filter(None, parts)])


def _write(notices: Iterable[Notice]) -> None:
    Notice.objects.bulk_create(notices, ignore_conflicts=True)
