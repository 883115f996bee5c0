"""Whose turn a decision is: by the policy, and as people take it and hand it on. It gives no rights."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection

from runs.enums import EventKind, GateKind, GateStatus, Verb
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.events.kinds import read
from runs.lifecycle.assignments import choices_of, hand_on
from runs.models import Event, Gate, Run, User
from tests import factories as made
from tests.integration.lifecycle.deciding import say

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def plan_gate(**policy: Any) -> Gate:
    return made.open_gate(made.awaiting_plan(**policy), GateKind.PLAN)


def said(run_id: int) -> list[str]:
    found = Event.objects.filter(run=run_id, kind=EventKind.GATE_ASSIGNED).order_by("seq")
    return [read(event.kind, event.data).sentence({}) for event in found]


def legal(*people: User) -> Group:
    group, _ = Group.objects.get_or_create(name="Legal")
    group.user_set.set(people)
    return group


def fresh(gate: Gate) -> Gate:
    return Gate.objects.select_related("assigned_to", "assigned_group").get(pk=gate.pk)


# ---- by the policy ------------------------------------------------------------------------------------------------


def test_it_is_the_owners_turn_unless_the_policy_says_otherwise() -> None:
    gate = plan_gate()
    assert (gate.assigned_to, gate.assigned_group, gate.due_at, gate.limit_stage) == (made.alice(), None, None, "")
    assert said(gate.run_id) == []


def test_approvers_take_turns_who_has_fewest_open_ones_first() -> None:
    bob, eve = made.bob(), made.person("eve")
    found = []
    for _ in range(5):
        run = made.planning(assigned_to="approvers")
        made.share(run, bob, eve)
        made.propose(run)
        found.append(made.open_gate(run, GateKind.PLAN).assigned_to)
    assert found == [bob, eve, bob, eve, bob]


def test_a_group_takes_turns_among_those_who_may_decide() -> None:
    eve, root = made.person("eve"), made.person("root", is_superuser=True)
    legal(eve, made.charlie(), root)
    run = made.planning(assigned_to="group:Legal")
    made.share(run, eve)
    made.propose(run)
    gate = made.open_gate(run, GateKind.PLAN)
    assert (gate.assigned_to, gate.assigned_group and gate.assigned_group.name) == (eve, "Legal")
    assert said(run.pk) == ["The decision is assigned to eve: it is their turn in the group Legal."]


@pytest.mark.parametrize(
    ("people", "why"),
    [
        (None, "there is no group Legal"),
        ((), "no one in the group Legal may decide here"),
        (("charlie",), "no one in the group Legal may decide here"),
    ],
)
def test_a_group_without_anyone_who_may_decide_leaves_it_to_all(people: Sequence[str] | None, why: str) -> None:
    if people is not None:
        legal(*map(made.person, people))
    gate = plan_gate(assigned_to="group:Legal")
    assert gate.assigned_to is None
    assert said(gate.run_id) == [f"The decision is assigned to no one: {why}."]
    say(gate, Verb.APPROVE)
    assert fresh(gate).status == GateStatus.APPROVED


def test_a_second_person_is_never_who_submitted() -> None:
    root = made.person("root", is_superuser=True)
    gate = plan_gate(second_person=True)
    assert gate.assigned_to in (made.bob(), root)
    run = made.planning(second_person=True)
    run.shares.all().delete()
    made.propose(run)
    gate = made.open_gate(run, GateKind.PLAN)
    assert gate.assigned_to == root
    with pytest.raises(InvalidInput, match="alice may not make this decision"):
        hand_on(gate.pk, made.alice(), made.alice(), root.pk)


def test_who_is_inactive_is_nobodys_next() -> None:
    User.objects.filter(pk=made.bob().pk).update(is_active=False)
    gate = plan_gate(assigned_to="approvers")
    assert gate.assigned_to == made.alice()


# ---- by people ----------------------------------------------------------------------------------------------------


def test_it_is_taken_and_handed_on_and_the_history_says_so() -> None:
    gate = plan_gate()
    hand_on(gate.pk, made.bob(), made.bob(), made.alice().pk)
    hand_on(gate.pk, made.bob(), made.alice(), made.bob().pk)
    hand_on(gate.pk, made.bob(), made.alice(), made.bob().pk)  # the same again, as with a double click
    assert fresh(gate).assigned_to == made.alice()
    assert said(gate.run_id) == ["bob took the decision on.", "bob handed it on to alice."]


def test_being_assigned_gives_no_rights_and_takes_none() -> None:
    gate = plan_gate()
    Gate.objects.filter(pk=gate.pk).update(assigned_to=made.charlie())
    with pytest.raises(NotAllowed):
        say(gate, Verb.APPROVE, by=made.charlie())
    say(gate, Verb.APPROVE, by=made.bob())
    assert fresh(gate).decided_by == made.bob()


def test_who_may_not_decide_can_neither_hand_it_on_nor_get_it() -> None:
    gate = plan_gate()
    with pytest.raises(NotAllowed):
        hand_on(gate.pk, made.charlie(), made.charlie(), made.alice().pk)
    with pytest.raises(InvalidInput, match="charlie may not make this decision"):
        hand_on(gate.pk, made.alice(), made.charlie(), made.alice().pk)
    User.objects.filter(pk=made.bob().pk).update(is_active=False)
    with pytest.raises(InvalidInput, match="bob may not make this decision"):
        hand_on(gate.pk, made.alice(), made.bob(), made.alice().pk)
    assert fresh(gate).assigned_to == made.alice()


def test_a_decision_that_is_made_is_nobodys_turn() -> None:
    gate = plan_gate()
    say(gate, Verb.APPROVE)
    with pytest.raises(DecisionRefused, match="made already"):
        hand_on(gate.pk, made.bob(), made.bob(), made.alice().pk)


def test_the_choices_are_those_who_may_decide() -> None:
    gate = plan_gate()
    root = made.person("root", is_superuser=True)
    made.charlie()
    assert choices_of(gate.run, [gate]) == {gate.pk: [made.alice(), made.bob(), root]}


def test_a_question_that_is_asked_again_stays_the_turn_of_the_same_person() -> None:
    gate = plan_gate()
    hand_on(gate.pk, made.bob(), made.bob(), made.alice().pk)
    run = gate.run
    run.policy = run.policy.changed(attempts=7)
    run.save(update_fields=["policy"])
    with pytest.raises(DecisionRefused):
        say(fresh(gate), Verb.APPROVE)
    again = Run.objects.get(pk=run.pk).gates.open().get()
    assert (again.pk != gate.pk, again.assigned_to) == (True, made.bob())


# ---- at the same moment -------------------------------------------------------------------------------------------


def at_once(*calls: Callable[[], object]) -> list[str]:
    """What was refused, of calls that begin together."""
    barrier, told = threading.Barrier(len(calls)), list[str]()

    def call(what: Callable[[], object]) -> None:
        try:
            barrier.wait()
            what()
        except DecisionRefused as refusal:
            told.append(str(refusal))
        finally:
            connection.close()

    threads = [threading.Thread(target=call, args=[what]) for what in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@pytest.mark.slow
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.exhaustive)])
@pytest.mark.django_db(transaction=True)
def test_of_two_people_who_take_it_at_the_same_moment_one_has_it_each_time(times: int) -> None:
    eve = made.person("eve")
    run = made.awaiting_plan()
    made.share(run, eve)
    gate, bob, alice = made.open_gate(run, GateKind.PLAN), made.bob(), made.alice()
    for _ in range(times):
        Gate.objects.filter(pk=gate.pk).update(assigned_to=alice)
        told = at_once(
            lambda: hand_on(gate.pk, bob, bob, alice.pk),
            lambda: hand_on(gate.pk, eve, eve, alice.pk),
        )
        has = fresh(gate).assigned_to
        assert has in (bob, eve)
        assert told == [f"The decision was handed on meanwhile: it is assigned to {has} now."]
    assert Event.objects.filter(run=run, kind=EventKind.GATE_ASSIGNED).count() == times


@pytest.mark.django_db(transaction=True)
def test_two_gates_that_open_at_the_same_moment_are_given_to_two_people() -> None:
    eve = made.person("eve")
    legal(made.bob(), eve)
    runs = [made.planning(assigned_to="group:Legal") for _ in range(2)]
    for run in runs:
        made.share(run, made.bob(), eve)
    assert at_once(*(lambda run=run: made.propose(run) for run in runs)) == []
    assert {gate.assigned_to for gate in Gate.objects.open().select_related("assigned_to")} == {made.bob(), eve}
