"""A second person approves where the policy or the installation says so, and no policy weakens the installation."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group

from runs.enums import (
    Action,
    ApprovalPolicy,
    Complexity,
    EventKind,
    NoticeKind,
    PersonRole,
    ShareLevel,
    StepApproval,
    Verb,
    WorkKind,
)
from runs.errors import InvalidInput, LastSecondPerson, NotAllowed
from runs.events.kinds import read
from runs.lifecycle import assignments, outcomes
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.plan_edits import edit
from runs.lifecycle.sharing import share
from runs.lifecycle.supplied_files import supply
from runs.models import Gate, Notice, Run, User
from runs.people import second_person
from runs.people.accounts import deactivate, delete_team, set_roles
from runs.people.permissions import approvable_as_read, approvable_gates, people_asked
from runs.people.roles import NEW_PEOPLE
from runs.pev.verifier import failed
from runs.store import blobs
from runs.submission.samples import finished_sample
from runs.submission.submit import submit
from tests import factories as made
from tests.integration.lifecycle.submitting import submission

pytestmark = [pytest.mark.django_db, pytest.mark.services]
SECOND = "A second person has to approve this"


def approve(gate: Gate, user: User) -> None:
    decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest))


def sentences(run: Run) -> list[str]:
    events = run.events.filter(kind=EventKind.GATE_ASSIGNED).order_by("seq")
    return [read(one.kind, one.data).sentence({}) for one in events]


@pytest.fixture
def high_risk(settings: Any) -> None:
    settings.SECOND_PERSON = "high_risk"


@pytest.mark.usefixtures("high_risk")
def test_a_plan_with_a_high_risk_step_needs_one_whatever_the_policy_says() -> None:
    gate = made.open_gate(made.awaiting_plan(second_person=False))
    assert (gate.needs_second_person, list(approvable_gates(made.alice()))) == (True, [])
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    approve(gate, made.bob())


def test_a_step_needs_one_only_if_it_is_high_risk(settings: Any) -> None:
    gate = made.open_gate(made.step_gate())
    settings.SECOND_PERSON = "high_risk"
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    Gate.objects.filter(pk=gate.pk).update(high_risk=False)
    approve(gate, made.alice())


def test_the_setting_holds_for_open_gates_and_lists_and_whose_turn_they_are_follow(settings: Any) -> None:
    gate = made.open_gate(made.awaiting_plan())
    mine = [list(approvable_gates(made.alice()))]
    settings.SECOND_PERSON = "high_risk"
    assert mine == [[gate]]
    assert (list(approvable_gates(made.alice())), list(approvable_gates(made.bob()))) == ([], [gate])
    assert list(people_asked(gate)) == [made.bob()]
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    assignments.follow_people()
    assert made.open_gate(gate.run).assigned_to == made.bob()
    settings.SECOND_PERSON = "policy"
    assert list(approvable_gates(made.alice())) == [gate]
    approve(gate, made.alice())


@pytest.mark.usefixtures("high_risk")
@pytest.mark.parametrize(
    "weaker", [{"plan_approval": ApprovalPolicy.NEVER}, {"step_approval": StepApproval.NONE}], ids=["plan", "steps"]
)
def test_no_policy_goes_around_it(weaker: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="as this installation demands"):
        made.submitted(**weaker)
    assert Run.objects.count() == 0


@pytest.mark.usefixtures("high_risk")
def test_the_finished_sample_would_wait_so_that_there_is_none() -> None:
    with pytest.raises(InvalidInput, match="There is no finished sample here: one of its steps has a high risk"):
        finished_sample(made.alice())


@pytest.mark.usefixtures("high_risk")
def test_the_run_can_be_shared_with_the_second_person_after_it_was_submitted() -> None:
    run = submit(made.alice(), submission())
    made.propose(run)
    assert made.open_gate(run).needs_second_person is True
    share(run.pk, made.alice(), made.bob(), ShareLevel.DECIDE)
    assert [gate.run for gate in approvable_gates(made.bob())] == [run]


def test_who_edited_the_plan_is_no_second_person() -> None:
    run = made.awaiting_plan(second_person=True)
    made.share(run, made.charlie())
    gate = made.open_gate(run)
    assert gate.plan is not None
    plan = fingerprint.contract_of(gate.plan)
    edit(gate.pk, made.bob(), gate.digest, plan.model_copy(update={"goal": "Another goal."}))
    gate = made.open_gate(run)
    assert list(approvable_gates(made.bob())) == []
    assert [approvable_as_read(one(), [gate]) for one in (made.bob, made.charlie)] == [set(), {gate.pk}]
    with pytest.raises(NotAllowed, match="you edited the plan"):
        approve(gate, made.bob())
    approve(gate, made.charlie())


def test_who_gave_files_for_the_plan_is_no_second_person() -> None:
    wanted = made.plan(made.plan_step("a", "A", inputs=["annex.md"]))
    run = made.awaiting_plan(wanted, second_person=True)
    gate = made.open_gate(run)
    assert gate.assigned_to == made.bob()
    supply(gate.pk, made.bob(), {"annex.md": blobs.put(b"Annex.")})
    gate = made.open_gate(run)
    assert (list(approvable_gates(made.bob())), second_person.has_one(run)) == ([], False)
    assert approvable_as_read(made.bob(), [gate]) == set()
    with pytest.raises(NotAllowed, match="you gave files for the plan"):
        approve(gate, made.bob())
    share(run.pk, made.alice(), made.charlie(), ShareLevel.DECIDE)
    assert made.open_gate(run).assigned_to == made.charlie()
    approve(gate, made.charlie())


def test_only_an_administrator_decides_until_it_is_shared_and_then_it_is_the_turn_of_that_person() -> None:
    root, ann = made.person("root", is_superuser=True), made.person("ann", is_superuser=True)
    run = made.awaiting_plan(second_person=True)
    deactivate(made.bob())
    assignments.follow_people()
    gate = made.open_gate(run)
    assert gate.assigned_to == root
    assert sentences(run)[-1] == (
        "The decision is assigned to root: no one with whom the run is shared may approve this."
    )
    assert Notice.objects.filter(user=root, kind=NoticeKind.ASSIGNED, gate=gate).count() == 1
    made.share(run, made.charlie(), level=ShareLevel.LOOK)
    share(run.pk, made.alice(), made.charlie(), ShareLevel.DECIDE)
    assert made.open_gate(run).assigned_to == made.charlie()
    assignments.hand_on(gate.pk, made.charlie(), ann, made.charlie().pk)
    share(run.pk, made.alice(), made.person("dora"), ShareLevel.DECIDE)
    assert made.open_gate(run).assigned_to == ann  # a person has said so
    assignments.follow_people()
    assert made.open_gate(run).assigned_to == ann


@pytest.mark.usefixtures("high_risk")
def test_a_gate_without_a_second_person_is_an_administrators_from_the_beginning() -> None:
    root = made.person("root", is_superuser=True)
    run = submit(made.alice(), submission())
    made.propose(run)
    gate = made.open_gate(run)
    assert (gate.assigned_to, second_person.has_one(run)) == (root, False)
    assert Notice.objects.filter(user=root, kind=NoticeKind.ASSIGNED, gate=gate).count() == 1


@pytest.mark.parametrize("how", ["deactivate", "role", "membership", "group"])
def test_a_change_that_takes_the_only_second_person_is_confirmed_first(how: str) -> None:
    legal, run = Group.objects.create(name="Legal"), made.awaiting_plan(second_person=True)
    run.shares.all().delete()
    made.share(run, made.bob()) if how in ("deactivate", "role") else run.shares.create(group=legal)
    bob = made.bob()
    bob.groups.add(legal)
    before = list(bob.groups.order_by("pk"))

    def apply(*, confirmed: bool) -> None:
        match how:
            case "deactivate":
                deactivate(bob, confirmed=confirmed)
            case "role":
                set_roles(bob, [PersonRole.VIEWER], [legal], confirmed=confirmed)
            case "membership":
                set_roles(bob, NEW_PEOPLE, [], confirmed=confirmed)
            case _:
                delete_team(Group.objects.get(name="Legal"), confirmed=confirmed)

    with pytest.raises(LastSecondPerson, match=f"left for 1 run: “{run.title}”. Only an administrator could approve"):
        apply(confirmed=False)
    assert (second_person.has_one(run), list(bob.groups.order_by("pk"))) == (True, before)
    apply(confirmed=True)
    assert second_person.has_one(run) is False


@pytest.mark.usefixtures("high_risk")
def test_a_step_that_is_edited_to_a_lower_risk_still_needs_one() -> None:
    gate = made.open_gate(made.awaiting_plan())
    assert gate.plan is not None
    plan = fingerprint.contract_of(gate.plan)
    steps = [step.model_copy(update={"estimated_complexity": Complexity.LOW}) for step in plan.steps]
    edit(gate.pk, made.alice(), gate.digest, plan.model_copy(update={"steps": steps}))
    gate = made.open_gate(gate.run)
    assert (gate.needs_second_person, list(approvable_gates(made.alice()))) == (True, [])
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    approve(gate, made.bob())


def test_a_later_plan_with_a_high_risk_step_waits_although_only_the_first_one_does(settings: Any) -> None:
    run = made.planning(plan_approval=ApprovalPolicy.FIRST)
    settings.SECOND_PERSON = "high_risk"
    made.propose(run, made.plan(made.plan_step("a", "A")))
    approve(made.open_gate(run), made.alice())
    with made.working(run, WorkKind.ATTEMPT, "a") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output("The annex is missing.", blocked=True), {})
        outcomes.judged(mine.attempt, failed("The annex is missing.", action=Action.REPLAN), blocked=True)
    risky = made.plan_step("b", "B", estimated_complexity=Complexity.HIGH)
    made.propose(run, made.plan(made.plan_step("a", "A"), risky))
    assert made.open_gate(run).needs_second_person is True


def test_who_may_only_look_is_no_second_person() -> None:
    vera = made.person("vera", roles=[PersonRole.VIEWER])
    with pytest.raises(InvalidInput, match="no one else may decide"):
        made.submitted(approvers=[vera], second_person=True)
    made.submitted(approvers=[vera, made.bob()], second_person=True)
