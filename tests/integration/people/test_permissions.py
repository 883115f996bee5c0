"""Who may see and decide: Alice owns, Bob approves, Charlie gets nothing (S4)."""

import threading

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from runs.enums import AuditKind, PersonRole, ShareLevel, Verb
from runs.errors import NotAllowed
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import AuditEntry, Gate, Plan, Run, Share, User
from runs.models.people import ADMINISTER, DECIDE, SUBMIT
from runs.people import accounts
from runs.people.permissions import (
    Person,
    approvable_as_read,
    approvable_gates,
    awaiting,
    can_decide,
    can_see,
    can_see_as_read,
    check_can_decide,
    check_can_manage,
    check_can_submit,
    deciders,
    find_visible_run,
    gates_asking,
    people_asked,
    possible_approvers,
    visible_runs,
    visible_templates,
)
from runs.people.roles import groups_of
from runs.store import audit_trail, event_log
from runs.submission.run_templates import save
from tests import factories as made

pytestmark = pytest.mark.django_db


def test_the_owner_and_the_approver_see_the_run_once_and_charlie_does_not() -> None:
    run = made.submitted(approvers=[made.bob(), made.person("dora"), made.alice()])
    assert [list(visible_runs(user)) for user in (made.alice(), made.bob(), made.charlie())] == [[run], [run], []]


def test_one_run_is_seen_by_those_in_whose_lists_it_is() -> None:
    team = Group.objects.create(name="team")
    member, dora = made.person("member"), made.person("dora")
    member.groups.add(team)
    shared, open_run = made.planning(), made.planning()
    Share.objects.create(run=shared, group=team, level=ShareLevel.LOOK)
    Share.objects.create(run=shared, user=dora, level=ShareLevel.LOOK)
    Run.objects.filter(pk=open_run.pk).update(open_to_all=True)
    made.submitted(approvers=[made.bob()])
    root = made.person("root", is_superuser=True)
    people: list[Person] = [made.alice(), made.bob(), made.charlie(), dora, member, root, AnonymousUser()]
    seen = 0
    for who in people:
        listed = set(visible_runs(who).values_list("pk", flat=True))
        for run in Run.objects.all():
            assert can_see(who, run) is can_see_as_read(who, run) is (run.pk in listed), (who, run)
            assert (find_visible_run(who, run.pk) == run) is (run.pk in listed), (who, run)
        seen += len(listed)
    assert find_visible_run(root, 0) is None
    assert seen == 3 + 3 + 1 + 2 + 2 + 3  # Bob may approve in all of them


@pytest.mark.parametrize("roles", [[], *([role] for role in PersonRole), [PersonRole.SUBMITTER, PersonRole.APPROVER]])
@pytest.mark.parametrize("own", ["", "add_run", "decide_run", "administer"])
@pytest.mark.parametrize("facts", [{}, {"is_superuser": True}, {"is_active": False}])
def test_what_a_person_may_do_is_what_django_says(roles: list[PersonRole], own: str, facts: dict[str, bool]) -> None:
    made.person("other", roles=list(PersonRole))
    user = made.person("somebody", roles=roles, **facts)
    user.user_permissions.set(Permission.objects.filter(codename=own))
    user = User.objects.get(pk=user.pk)
    may = [user.may_submit, user.may_decide, user.is_administrator]
    assert may == [user.has_perm(permission) for permission in (SUBMIT, DECIDE, ADMINISTER)]
    user.is_active = False
    assert [user.may_submit, user.may_decide, user.is_administrator] == [False] * 3


def test_nobody_in_particular_sees_nothing() -> None:
    run = made.planning()
    assert list(visible_runs(AnonymousUser())) == []
    assert can_see(AnonymousUser(), run) is False
    with pytest.raises(NotAllowed):
        check_can_decide(AnonymousUser(), run)


def test_an_administrator_sees_everything() -> None:
    run = made.planning()
    admin = made.person("root", is_superuser=True)
    assert list(visible_runs(admin)) == [run]


def test_being_staff_is_no_way_in() -> None:
    run = made.planning()
    assert can_see(made.person("staff", is_staff=True), run) is False


def test_approving_one_run_is_no_way_into_another_of_the_same_owner() -> None:
    one, other = made.submitted(), made.submitted(approvers=[made.charlie()])
    assert (can_see(made.bob(), one), can_see(made.bob(), other)) == (True, False)


def test_a_template_is_seen_by_its_owner_alone() -> None:
    template = save(made.alice(), made.finished_succeeded(), "Mine")
    root = made.person("root", is_superuser=True)
    assert list(visible_templates(made.alice())) == [template]
    assert [visible_templates(user).count() for user in (made.bob(), root, AnonymousUser())] == [0, 0, 0]


def test_owner_and_approver_may_decide_and_charlie_may_not() -> None:
    run = made.planning()
    for user in (made.alice(), made.bob()):
        check_can_decide(user, run)
    with pytest.raises(NotAllowed, match=r"^You may not decide anything in this run\.$"):
        check_can_decide(made.charlie(), run)


def test_who_is_no_approver_any_more_sees_nothing_any_more() -> None:
    run = made.planning()
    run.shares.filter(user=made.bob()).delete()
    assert can_see(made.bob(), run) is False


@pytest.mark.parametrize("second_person", [False, True])
def test_whoever_is_asked_is_asked_in_lists_too(*, second_person: bool) -> None:
    """By the gates, by the runs that are joined with them, and by what a decision is held against."""
    plan_gate = made.awaiting_plan(second_person=second_person)
    error_gate = made.error_gate()
    admin = made.person("root", is_superuser=True)
    for user, asked in (
        (made.alice(), {error_gate} if second_person else {plan_gate, error_gate}),
        (made.bob(), {plan_gate, error_gate}),
        (made.charlie(), set()),
        (admin, {plan_gate, error_gate}),
        (AnonymousUser(), set()),
    ):
        assert {gate.run for gate in approvable_gates(user)} == asked
        assert set(awaiting(user)) == asked
        assert approvable_as_read(user, Gate.objects.open()) == {made.open_gate(run).pk for run in asked}
    if second_person:
        gate = made.open_gate(plan_gate)
        with pytest.raises(NotAllowed, match="A second person has to approve this"):
            decide(gate.pk, made.alice(), Decision(Verb.APPROVE, gate.digest))


def test_who_may_approve_what_was_read_takes_the_same_queries_for_any_number_of_gates(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(3):
        made.awaiting_plan(second_person=True)
    gates = list(Gate.objects.open())
    for expected, chosen in ((1, gates[:1]), (3, gates)):
        bob = made.bob()
        assert bob.may_decide  # its permissions are read
        with django_assert_num_queries(4):  # owners, shares, edited plans, and files that were given
            assert len(approvable_as_read(bob, chosen)) == expected


def test_the_people_of_a_gate_are_those_in_whose_lists_it_is() -> None:
    """Read from either side it is the same: for owner, editor, members of a group, roles, and administrators."""
    runs = [made.awaiting_plan(second_person=needed) for needed in (False, True)] + [made.error_gate()]
    legal = Group.objects.create(name="Legal")
    member, editor, viewer = (made.person(name) for name in ("member", "editor", "viewer"))
    legal.user_set.add(member, viewer)
    viewer.groups.set([legal, *groups_of([PersonRole.VIEWER])])
    for run in runs:
        made.share(run, editor)
        Share.objects.create(run=run, group=legal)
    Plan.objects.filter(run=runs[1]).update(author=editor)
    made.person("root", is_superuser=True)
    made.person("gone", is_superuser=True, is_active=False)
    made.charlie()
    made.executing()  # its plan is approved: that is decided
    everyone = list(User.objects.filter(is_active=True))
    for gate in Gate.objects.open():
        assert set(people_asked(gate)) == {one for one in everyone if gate in gates_asking(one)}
        assert set(possible_approvers(gate)) == {one for one in everyone if gate in approvable_gates(one)}
        assert set(deciders(gate.run)) == {one for one in everyone if can_decide(one, gate.run)}
    for one in everyone:
        assert approvable_as_read(one, Gate.objects.all()) == {gate.pk for gate in approvable_gates(one)}, one
    plan_gate, second, _ = Gate.objects.open().order_by("run")
    assert [one.username for one in people_asked(plan_gate)] == ["alice", "bob", "editor", "member"]
    assert [one.username for one in people_asked(second)] == ["bob", "member"]


@pytest.mark.parametrize("is_active", [True, False], ids=["another role", "deactivated"])
def test_a_change_is_checked_with_the_person_as_they_are_now(is_active: bool) -> None:
    """The person of a request was read when it began, and Django keeps their permissions with them."""
    run, root = made.submitted(approvers=[made.bob()]), made.person("root", is_superuser=True)
    alice, bob, administrator = made.alice(), made.bob(), User.objects.get(pk=root.pk)
    made.person("second", is_superuser=True)
    checks = [(check_can_decide, bob), (check_can_manage, administrator)]
    for check, person in checks:
        check(person, run)
    check_can_submit(alice)
    for person in (bob, root, alice):
        other = User.objects.get(pk=person.pk)
        if is_active:
            accounts.set_roles(other, [PersonRole.VIEWER])
        else:
            accounts.deactivate(other)
    for check, person in checks:
        with pytest.raises(NotAllowed):
            check(person, run)
    with pytest.raises(NotAllowed):
        made.submit_as(alice)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_deactivation_comes_before_a_decision_or_after_it() -> None:
    """It waits for a decision that is being made, so that the audit trail never has it first."""
    run, bob, is_over = made.submitted(approvers=[made.bob()]), made.bob(), threading.Event()

    def deactivate() -> None:
        accounts.deactivate(User.objects.get(pk=bob.pk))
        is_over.set()
        connection.close()

    thread = threading.Thread(target=deactivate)
    with event_log.writing():
        check_can_decide(bob, event_log.locked(run.pk))
        thread.start()
        is_over.wait(1)
        audit_trail.record(AuditKind.DECIDED, by=bob, run_id=run.pk)
    thread.join(60)
    kinds = [AuditKind.DECIDED, AuditKind.DEACTIVATED]
    lines = AuditEntry.objects.filter(kind__in=kinds).order_by("number").values_list("kind", flat=True)
    assert (is_over.is_set(), list(lines)) == (True, kinds)
