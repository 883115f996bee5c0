"""Sharing a run: recorded in its history, and never against G1 and G3."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from runs.enums import EventKind, GateStatus, PersonRole, RunStatus, ShareLevel, Verb
from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.gate_decisions import current_digest, decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.sharing import open_to_all, possible_groups, possible_people, share, unshare
from runs.models import Gate, Run, User
from runs.people.permissions import can_decide, can_see, named_deciders, why_not_decide
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def needing_two(run: Run) -> Gate:
    """The plan gate of this run, which takes a second person."""
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    gate = Gate.objects.open().get(run=run)
    Gate.objects.filter(pk=gate.pk).update(digest=current_digest(gate), second_person=True)
    gate.refresh_from_db()
    return gate


def approve(gate: Gate, user: User) -> None:
    decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest))


def sentences(run: Run) -> list[dict[str, object]]:
    return list(run.events.filter(kind=EventKind.SHARED).order_by("seq").values_list("data", flat=True))


def test_who_is_added_may_decide_and_who_is_removed_sees_nothing_and_the_history_says_so() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    digest = Gate.objects.open().get(run=run).digest
    share(run.pk, made.alice(), charlie, ShareLevel.DECIDE)
    assert can_see(charlie, run)
    unshare(run.pk, made.alice(), made.bob())
    gate = Gate.objects.open().get(run=run)
    with pytest.raises(NotAllowed, match="You may not decide anything in this run"):
        approve(gate, made.bob())
    approve(gate, charlie)
    assert (gate.digest, Run.objects.get(pk=run.pk).status) == (digest, RunStatus.EXECUTING)
    assert sentences(run) == [
        {"by": "alice", "who": "charlie", "level": "decide"},
        {"by": "alice", "who": "bob"},
    ]


def test_the_owner_or_an_administrator_chooses_and_no_one_else() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    for user in (made.bob(), charlie):
        with pytest.raises(NotAllowed, match="Only the person who submitted the task or an administrator can share"):
            share(run.pk, user, charlie, ShareLevel.DECIDE)
        with pytest.raises(NotAllowed, match="Only the person who submitted the task or an administrator can share"):
            unshare(run.pk, user, made.bob())
    share(run.pk, made.person("root", is_superuser=True), charlie, ShareLevel.DECIDE)
    assert (set(made.shared_with(run)), len(sentences(run))) == ({made.bob(), charlie}, 1)


def test_the_owner_does_not_become_the_second_person_by_any_list() -> None:
    run = made.awaiting_plan()
    gate = needing_two(run)
    with pytest.raises(InvalidInput, match="cannot be shared with alice"):
        share(run.pk, made.alice(), made.alice(), ShareLevel.DECIDE)
    made.share(run, made.alice())  # as a row of before could say
    with pytest.raises(NotAllowed, match="A second person has to approve this"):
        approve(gate, made.alice())
    approve(gate, made.bob())
    gate.refresh_from_db()
    assert gate.status == GateStatus.APPROVED


def test_the_only_second_person_stays_until_there_is_another() -> None:
    run = made.awaiting_plan()
    needing_two(run)
    made.share(run, made.alice(), made.person("gone", is_active=False))
    with pytest.raises(InvalidInput, match="and bob is the only one"):
        unshare(run.pk, made.alice(), made.bob())
    share(run.pk, made.alice(), made.charlie(), ShareLevel.DECIDE)
    unshare(run.pk, made.alice(), made.bob())
    assert not can_see(made.bob(), run)


def test_who_cannot_be_added_or_is_not_there_is_refused_and_nothing_is_recorded() -> None:
    run, gone = made.awaiting_plan(), made.person("gone", is_active=False)
    before = Run.objects.get(pk=run.pk).event_count
    role = Group.objects.get(name=PersonRole.VIEWER)
    for who in (made.alice(), gone, role):
        with pytest.raises(InvalidInput, match="cannot be shared with"):
            share(run.pk, made.alice(), who, ShareLevel.DECIDE)
    with pytest.raises(InvalidInput, match="not shared with charlie"):
        unshare(run.pk, made.alice(), made.charlie())
    assert Run.objects.get(pk=run.pk).event_count == before
    assert list(possible_people(run)) == [made.charlie()]


def test_someone_inactive_can_be_removed_even_as_the_only_second_person() -> None:
    run = made.awaiting_plan()
    needing_two(run)
    User.objects.filter(username="bob").update(is_active=False)
    unshare(run.pk, made.alice(), made.bob())
    assert made.shared_with(run) == []


def test_people_of_a_finished_run_come_and_go_too() -> None:
    run = made.finished_succeeded()
    before = run.finished_at
    share(run.pk, made.alice(), made.charlie(), ShareLevel.DECIDE)
    run.refresh_from_db()
    assert (run.status, run.finished_at, can_see(made.charlie(), run)) == (RunStatus.FINISHED, before, True)
    assert before is not None
    assert before < timezone.now()


def test_who_may_look_decides_nothing_until_they_may() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    gate = Gate.objects.open().get(run=run)
    share(run.pk, made.alice(), charlie, ShareLevel.LOOK)
    assert (can_see(charlie, run), can_decide(charlie, run)) == (True, False)
    with pytest.raises(NotAllowed, match="You may look at this run, but not decide in it"):
        approve(gate, charlie)
    share(run.pk, made.alice(), charlie, ShareLevel.DECIDE)
    approve(gate, charlie)
    assert [one["level"] for one in sentences(run)] == ["look", "decide"]


def test_a_group_sees_a_run_as_long_as_it_is_shared_and_one_is_a_member() -> None:
    run, charlie, legal = made.awaiting_plan(), made.charlie(), Group.objects.create(name="Legal")
    assert list(possible_groups(run)) == [legal]
    share(run.pk, made.alice(), legal, ShareLevel.DECIDE)
    assert (can_see(charlie, run), charlie in named_deciders(run)) == (False, False)
    charlie.groups.add(legal)
    assert (can_see(charlie, run), can_decide(charlie, run), charlie in named_deciders(run)) == (True, True, True)
    unshare(run.pk, made.alice(), legal)
    assert can_see(charlie, run) is False
    assert [(one["who"], one["is_group"]) for one in sentences(run)] == [("Legal", True), ("Legal", True)]


def test_what_helps_is_said_to_who_may_not_decide() -> None:
    run, vera = made.awaiting_plan(), made.person("vera", roles=[PersonRole.VIEWER])
    assert why_not_decide(vera, run) == "You may not decide anything in this run."
    share(run.pk, made.alice(), vera, ShareLevel.LOOK)
    assert "Its owner can share it with you" in why_not_decide(vera, run)
    share(run.pk, made.alice(), vera, ShareLevel.DECIDE)
    assert "an administrator can give you another" in why_not_decide(vera, run)
    assert why_not_decide(made.bob(), run) == ""


def test_an_open_run_is_looked_at_by_all_and_private_again() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    for is_open in (True, True, False):
        open_to_all(run.pk, made.alice(), is_open=is_open)
        assert (can_see(charlie, run), can_decide(charlie, run)) == (is_open, False)
    assert [one.get("level") for one in sentences(run)] == ["look", None]
    with pytest.raises(NotAllowed):
        open_to_all(run.pk, made.bob(), is_open=True)


def test_the_only_second_person_is_not_made_one_who_looks() -> None:
    run = made.awaiting_plan()
    needing_two(run)
    with pytest.raises(InvalidInput, match="bob is the only one"):
        share(run.pk, made.alice(), made.bob(), ShareLevel.LOOK)
    assert can_decide(made.bob(), run)


@pytest.mark.parametrize("role", PersonRole)
def test_a_role_allows_what_its_group_may(role: PersonRole) -> None:
    own, other, shared = made.submitted(), made.submitted(owner=made.bob(), approvers=[made.charlie()]), made.planning()
    who = made.person("vera", roles=[role])
    Run.objects.filter(pk=own.pk).update(owner=who)
    made.share(shared, who)
    may = {run for run in (own, other, shared) if can_decide(User.objects.get(pk=who.pk), run)}
    assert (
        may
        == {
            PersonRole.VIEWER: set[Run](),
            PersonRole.SUBMITTER: {own},
            PersonRole.APPROVER: {shared},
            PersonRole.ADMINISTRATOR: {own, other, shared},
        }[role]
    )
