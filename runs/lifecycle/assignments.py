"""Whose turn a decision is: by the policy when it is asked for, and as people take it and hand it on.

Being assigned gives no rights: anyone who may decide can do so, and only they can be assigned.
"""

from collections.abc import Iterable, Sequence, Set

from django.contrib.auth.models import Group
from django.db.models import Count, F, Max, Q, QuerySet
from django.utils import timezone

from runs.enums import AuditKind, GateStatus, NoticeKind
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.models import Gate, Run, User
from runs.notices import outbox
from runs.people.permissions import check_can_decide, first_people, named_deciders, who_can_decide
from runs.pev.decision_limits import GROUP, OWNER
from runs.store import audit_trail, event_log


def assign_new(gate: Gate, assigned_to: str) -> str:
    """Set whose turn a new gate is, by the policy. Returns why, as a clause; empty where it is the owner's by default.

    `assigned_to`: as in `DecisionLimits`. It is nobody's turn where nobody is left who may decide.
    """
    if assigned_to == OWNER and not gate.second_person:
        gate.assigned_to_id = gate.run.owner_id
        return ""
    if assigned_to.startswith(GROUP):
        name = assigned_to.removeprefix(GROUP)
        gate.assigned_group = Group.objects.filter(name=name).first()
        if gate.assigned_group is None:
            return f"there is no group {name}"
        # Two runs that ask the same group at once take turns: the second one waits for the first.
        event_log.lock_rows(Group.objects.filter(pk=gate.assigned_group.pk))
    gate.assigned_to = next(iter(in_turn(gate)), None)
    if gate.assigned_to is None:
        return (
            f"no one in the group {gate.assigned_group} may decide here"
            if gate.assigned_group
            else "no one else may decide here yet"
        )
    gate.assigned_at = timezone.now()
    return f"it is their turn in the group {gate.assigned_group}" if gate.assigned_group else ""


def in_turn(gate: Gate) -> Sequence[User]:
    """The people whose turn a decision can be, the next one first: who has the fewest open decisions, and of those who
    was assigned one longest ago. Of the group of the gate, if it has one; otherwise those who are named in the run, or
    who submitted the task, or everyone who may decide: the first of these that is not empty.
    """
    people = _people_who_may(gate)
    if gate.assigned_group_id:
        keys = set(User.objects.filter(groups=gate.assigned_group_id).values_list("pk", flat=True))
        return [person for person in people if person.pk in keys]
    named = set(named_deciders(gate.run).exclude(pk=gate.run.owner_id).values_list("pk", flat=True))
    owner = [person for person in people if person.pk == gate.run.owner_id]
    return [person for person in people if person.pk in named] or owner or people


def people_to_remind(gate: Gate) -> Sequence[User]:
    """Whose turn it is, or everyone for whom the gate waits if they may not decide any more."""
    person = gate.assigned_to
    if person is None or not _allowed(gate, [person], who_can_decide(gate.run, [person])):
        return outbox.people_asked(gate)
    return [person]


def another_person(gate: Gate) -> User | None:
    """Whose turn it is after the person whose turn it has been: the next of the same people, or anyone who may."""
    for people in (in_turn(gate), _people_who_may(gate)):
        if others := [person for person in people if person.pk != gate.assigned_to_id]:
            return others[0]
    return None


def _people_who_may(gate: Gate) -> list[User]:
    """Everyone who may answer this gate, those whose turn is next first. Not who submitted the task or wrote the plan,
    where a second person has to approve.
    """
    people = _active().annotate(
        waiting=Count("assigned_gates", filter=Q(assigned_gates__status=GateStatus.OPEN)),
        last=Max("assigned_gates__assigned_at"),
    )
    ordered = list(people.order_by("waiting", F("last").asc(nulls_first=True), "pk"))
    return _allowed(gate, ordered, who_can_decide(gate.run, ordered))


def _active() -> QuerySet[User]:
    return User.objects.filter(is_active=True)


def _allowed(gate: Gate, people: Iterable[User], may: Set[int]) -> list[User]:
    first = first_people(gate.run) if gate.second_person else []
    return [person for person in people if person.pk in may and person not in first]


def choices_of(run: Run, gates: Sequence[Gate]) -> dict[int, list[User]]:
    """By gate, who can be assigned, by name: in a number of queries that does not grow with the gates."""
    if not gates:
        return {}
    people = list(_active().order_by("username"))
    may = who_can_decide(run, people)
    return {gate.pk: _allowed(gate, people, may) for gate in gates}


def hand_on(gate_id: int, user: User, person: User, seen: int | None) -> None:
    """Make a decision someone's turn; who does it for themselves takes it. `seen`: whose turn it was on the page.

    Raises NotAllowed; InvalidInput for a person who may not decide; DecisionRefused if the decision is made, or if it
    has become someone else's turn since.
    """
    with event_log.writing():
        gate = Gate.objects.get(pk=gate_id)
        run = event_log.locked(gate.run_id)
        gate = Gate.objects.select_related("plan", "assigned_to").get(pk=gate_id)  # as it is under the lock
        gate.run = run
        check_can_decide(user, run)
        if gate.status != GateStatus.OPEN:
            raise DecisionRefused("This decision is made already, so that it is no longer anyone's turn.")
        if gate.assigned_to_id == person.pk:
            return
        if gate.assigned_to_id != seen:
            whose = gate.assigned_to.get_username() if gate.assigned_to else "nobody"
            raise DecisionRefused(f"The decision was handed on meanwhile: it is assigned to {whose} now.")
        chosen = list(_active().filter(pk=person.pk))
        if not _allowed(gate, chosen, who_can_decide(run, chosen)):
            raise InvalidInput(f"{person.get_username()} may not make this decision. Choose one of those who may.")
        assign(gate, person, by=user)


def assign(gate: Gate, person: User | None, *, by: User | None = None, why: str = "") -> None:
    """Store and record whose turn it is. The run must be locked."""
    now = timezone.now()
    Gate.objects.filter(pk=gate.pk).update(assigned_to=person, assigned_at=now)
    gate.assigned_to, gate.assigned_at = person, now
    record_assignment(gate, by=by, why=why)


def record_in_history(gate: Gate, *, by: User | None = None, why: str = "") -> None:
    to = gate.assigned_to.get_username() if gate.assigned_to else ""
    event = events.GateAssigned(gate=gate.pk, gate_kind=gate.kind, to=to, by=by.get_username() if by else "", why=why)
    event_log.record(gate.run_id, event)


def record_assignment(gate: Gate, *, by: User | None = None, why: str = "") -> None:
    """In the history and the audit trail, and as a notice to the person."""
    record_in_history(gate, by=by, why=why)
    audit_trail.record(
        AuditKind.ASSIGNED,
        by=by,
        run_id=gate.run_id,
        gate=gate.pk,
        gate_kind=gate.kind,
        person=gate.assigned_to.pk if gate.assigned_to else None,
    )
    if gate.assigned_to and gate.assigned_to != by:
        outbox.announce(NoticeKind.ASSIGNED, [gate.assigned_to], gate.run, gate, occurrence=f"{gate.assigned_at}")
