"""Whose turn a decision is: by the policy when it is asked for, and as people take it and hand it on.

Being assigned gives no rights: anyone who may decide can do so, and only they can be assigned.
"""

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import Group
from django.db.models import Count, F, Max, Q, QuerySet
from django.utils import timezone

from runs.enums import AuditKind, EventKind, GateKind, GateStatus, NoticeKind
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.lifecycle.limit_stages import limits_of
from runs.models import Gate, Run, User
from runs.people import outbox
from runs.people.permissions import (
    check_can_decide,
    deciders,
    gates_of_others,
    named_deciders,
    people_asked,
    possible_approvers,
    second_people,
)
from runs.pev.decision_limits import GROUP, OWNER
from runs.store import audit_trail, event_log

NO_ONE_OF_RUN = "no one with whom the run is shared may approve this"
_AT_A_TIME = 100


def assign_new(gate: Gate, assigned_to: str) -> str:
    """Set whose turn a new gate is, by the policy. Returns why, as a clause; empty where it is the owner's by default.

    `assigned_to`: as in `DecisionLimits`. It is no one's turn where no one is left who may decide.
    """
    if assigned_to == OWNER and not gate.needs_second_person:
        gate.assigned_to_id = gate.run.owner_id
        return ""
    if assigned_to.startswith(GROUP):
        name = assigned_to.removeprefix(GROUP)
        gate.assigned_group = Group.objects.filter(name=name).first()
        if gate.assigned_group is None:
            return f"there is no group {name}"
        # Two runs that ask the same group at once take turns: the second one waits for the first.
        event_log.lock_rows(Group.objects.filter(pk=gate.assigned_group.pk))
    gate.assigned_to = in_turn(gate).first()
    if gate.assigned_to is None:
        return (
            f"no one in the group {gate.assigned_group} may decide here"
            if gate.assigned_group
            else "no one else may decide here yet"
        )
    gate.assigned_at = timezone.now()
    if gate.assigned_group:
        return f"it is their turn in the group {gate.assigned_group}"
    return "" if _is_of_run(gate, gate.assigned_to) else NO_ONE_OF_RUN


def _is_of_run(gate: Gate, person: User) -> bool:
    """Whether a person who may decide owns the run or has it shared with them. Otherwise they are an administrator."""
    return person.pk == gate.run.owner_id or named_deciders(gate.run).filter(pk=person.pk).exists()


def follow_policy(gate: Gate) -> None:
    """Make an open gate the turn of someone whom the policy means, if the person whose turn it is may no longer approve
    it, or is an administrator because the run was shared with no one who may. What a person has handed on to an
    administrator stays with them. The run must be locked.
    """
    person = gate.assigned_to
    if person and may_approve(gate, person) and (_is_of_run(gate, person) or _was_handed_on(gate)):
        return
    people = list(_by_policy(gate)) or list(_next_first(possible_approvers(gate)))
    if person in people or (person is None and not people):
        return
    first = people[0] if people else None
    of_run = first is not None and _is_of_run(gate, first)
    assign(gate, first, why="who may decide here has changed" if of_run else NO_ONE_OF_RUN)


def follow_people() -> None:
    """Hand on open gates of people who may not approve them any more, such as those who are no longer active."""
    for gate_id in gates_of_others().order_by("pk").values_list("pk", flat=True)[:_AT_A_TIME]:
        with event_log.writing():
            run = event_log.locked(Gate.objects.values_list("run_id", flat=True).get(pk=gate_id))
            gate = Gate.objects.select_related("plan", "assigned_to", "assigned_group").get(pk=gate_id)
            gate.run = run
            if gate.status == GateStatus.OPEN:
                follow_policy(gate)


def _by_policy(gate: Gate) -> Iterable[User]:
    """The people whose turn an open gate can be by the policy, the next one first."""
    if limits_of(gate.run, GateKind(gate.kind)).assigned_to == OWNER and may_approve(gate, gate.run.owner):
        return [gate.run.owner]
    return in_turn(gate)


def _was_handed_on(gate: Gate) -> bool:
    """Whether a person, and not the policy, has said whose turn it is."""
    handed = gate.run.events.filter(kind=EventKind.GATE_ASSIGNED, data__gate=gate.pk).order_by("seq").last()
    return handed is not None and bool(handed.data.get("by"))


def may_approve(gate: Gate, person: User) -> bool:
    return possible_approvers(gate).filter(pk=person.pk).exists()


def in_turn(gate: Gate) -> QuerySet[User]:
    """The people whose turn a decision can be, the next one first: of the group of the gate, if it has one; otherwise
    those who are named in the run, or who submitted the task, or everyone who may approve: the first of these that is
    not empty.
    """
    people = _next_first(possible_approvers(gate))
    if gate.assigned_group_id:
        members = User.groups.through.objects.filter(group_id=gate.assigned_group_id)
        return people.filter(pk__in=members.values("user_id"))
    named = named_deciders(gate.run).exclude(pk=gate.run.owner_id)
    for some in (people.filter(pk__in=named.values("pk")), people.filter(pk=gate.run.owner_id)):
        if some.exists():
            return some
    return people


def _next_first(people: QuerySet[User]) -> QuerySet[User]:
    """The one with the fewest open decisions first, and of those the one who was assigned one longest ago."""
    annotated = people.annotate(
        waiting=Count("assigned_gates", filter=Q(assigned_gates__status=GateStatus.OPEN)),
        last=Max("assigned_gates__assigned_at"),
    )
    return annotated.order_by("waiting", F("last").asc(nulls_first=True), "pk")


def people_to_remind(gate: Gate) -> QuerySet[User]:
    """Whose turn it is, or everyone for whom the gate waits if it is no one's turn who may still approve."""
    turn = possible_approvers(gate).filter(assigned_gates=gate)
    return turn if turn.exists() else people_asked(gate)


def another_person(gate: Gate) -> User | None:
    """Whose turn it is after the person whose turn it has been: the next of the same people, or anyone who may."""
    for people in (in_turn(gate), _next_first(possible_approvers(gate))):
        if person := people.exclude(assigned_gates=gate).first():
            return person
    return None


def choices_of(run: Run, gates: Sequence[Gate]) -> dict[int, list[User]]:
    """By gate, who can be assigned, by name: in a number of queries that does not grow with the gates."""
    if not gates:
        return {}
    people = list(deciders(run).order_by("username"))
    second = people
    if any(gate.needs_second_person for gate in gates):
        second = list(second_people(deciders(run), run).order_by("username"))
    return {gate.pk: second if gate.needs_second_person else people for gate in gates}


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
            whose = gate.assigned_to.get_username() if gate.assigned_to else "no one"
            raise DecisionRefused(f"The decision was handed on meanwhile: it is assigned to {whose} now.")
        if not may_approve(gate, person):
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
