"""Who is told about what: written once, with what it tells of, and only for people who may see the run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import transaction

from runs.enums import GateKind, NoticeKind, PersonRole, ShareLevel, Verb
from runs.lifecycle.gate_decisions import cancel, decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.sharing import share
from runs.models import Notice, Run, User
from runs.people import accounts
from runs.people.outbox import announce, announce_gate
from runs.people.roles import groups_of
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]

DUE = datetime(2030, 1, 2, 12, tzinfo=UTC)


def told(run: Run) -> list[tuple[str, str]]:
    """Who is told about what in this run."""
    rows = Notice.objects.filter(run=run).values_list("user__username", "kind")
    return sorted((name, kind) for name, kind in rows)


def asked(*approvers: User, **policy: Any) -> Run:
    """A run of Alice's whose plan waits for a decision."""
    run = factories.submitted(**policy)
    run.shares.all().delete()
    factories.share(run, *approvers)
    factories.propose(run)
    return run


def test_a_gate_that_opens_is_told_to_the_owner_and_to_those_who_may_approve() -> None:
    alone, run = asked(), asked(factories.bob())
    assert told(alone) == [("alice", "decision_needed")]
    assert told(run) == [("alice", "decision_needed"), ("bob", "decision_needed")]
    assert Notice.objects.get(run=alone).gate == factories.open_gate(alone, GateKind.PLAN)


def test_a_gate_for_a_second_person_is_not_told_to_the_owner() -> None:
    assert told(asked(factories.bob(), second_person=True)) == [("bob", "decision_needed")]


def test_those_with_whom_a_run_is_shared_to_decide_are_told_of_open_decisions_and_no_one_twice() -> None:
    run, legal = asked(), Group.objects.create(name="Legal")
    factories.bob().groups.add(legal)
    share(run.pk, factories.alice(), factories.charlie(), ShareLevel.LOOK)
    assert told(run) == [("alice", "decision_needed")]
    for _ in range(2):
        share(run.pk, factories.alice(), legal, ShareLevel.DECIDE)
        assert told(run) == [("alice", "decision_needed"), ("bob", "decision_needed")]


def test_who_joins_a_group_is_told_once_of_the_open_decisions_for_which_it_is_asked() -> None:
    legal, other = (Group.objects.create(name=name) for name in ("Legal", "Other"))
    run, second, ended, elsewhere, looked_at = (asked(second_person=n == 1) for n in range(5))
    for one, group in ((run, legal), (second, legal), (ended, legal), (elsewhere, other)):
        share(one.pk, factories.alice(), group, ShareLevel.DECIDE)
    share(looked_at.pk, factories.alice(), legal, ShareLevel.LOOK)
    cancel(ended.pk, factories.alice())
    bob, charlie, gone = factories.bob(), factories.charlie(), factories.person("gone", is_active=False)
    legal.user_set.add(bob, gone)
    for _ in range(2):
        charlie.groups.add(legal)
        charlie.groups.remove(legal)
    found = Notice.objects.filter(user__in=[bob, charlie, gone]).order_by("user__username", "run_id")
    assert [(one.user.username, one.run, one.kind) for one in found] == [
        ("bob", run, "decision_needed"),
        ("bob", second, "decision_needed"),
        ("charlie", run, "decision_needed"),
        ("charlie", second, "decision_needed"),
    ]
    announce_gate(factories.open_gate(run))
    assert Notice.objects.filter(user=bob).count() == 2, "it is the same notice"


def test_who_becomes_an_approver_is_told_and_a_membership_that_is_undone_tells_nothing() -> None:
    viewer = factories.person("viewer")
    viewer.groups.set(groups_of([PersonRole.VIEWER]))
    run = asked(viewer)
    assert ("viewer", "decision_needed") not in told(run)

    def fail() -> None:
        with transaction.atomic():
            accounts.set_roles(viewer, [PersonRole.APPROVER])
            assert ("viewer", "decision_needed") in told(run)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert ("viewer", "decision_needed") not in told(run)
    accounts.set_roles(viewer, [PersonRole.APPROVER])
    assert ("viewer", "decision_needed") in told(run)


def test_the_end_of_a_run_is_told_to_its_people() -> None:
    run = asked()
    factories.share(run, factories.bob())
    cancel(run.pk, factories.alice())
    assert told(run) == [("alice", "decision_needed"), ("alice", "run_ended"), ("bob", "run_ended")]


def test_an_owner_who_may_only_look_any_more_is_told_how_it_ended() -> None:
    run = asked()
    factories.alice().groups.set(groups_of([PersonRole.VIEWER]))
    cancel(run.pk, factories.person("root", is_superuser=True))
    assert ("alice", "run_ended") in told(run)


def test_the_same_notice_is_written_once() -> None:
    run = asked()
    gate, people = factories.open_gate(run), [factories.alice()]
    announce_gate(gate)
    for due_at in (DUE, DUE, None):
        announce(NoticeKind.DECISION_DUE, people, run, gate, due_at)
    announce(NoticeKind.ASSIGNED, people, run, gate, occurrence="1")
    announce(NoticeKind.ASSIGNED, people, run, gate, occurrence="2")
    announce(NoticeKind.ASSIGNED, people, run, gate, occurrence="2")
    kinds = [kind for _, kind in told(run)]
    assert kinds == ["assigned", "assigned", "decision_due", "decision_due", "decision_needed"]


def test_no_one_is_told_about_a_run_that_they_may_not_see_or_when_they_are_not_active() -> None:
    run = asked()
    gone = factories.person("dora", is_active=False)
    factories.share(run, gone, factories.bob())
    announce(NoticeKind.ASSIGNED, [gone, factories.bob(), factories.charlie()], run, factories.open_gate(run))
    assert told(run) == [("alice", "decision_needed"), ("bob", "assigned")]


def test_what_was_not_committed_is_not_told() -> None:
    run = factories.planning()

    def fail() -> None:
        with transaction.atomic():
            announce(NoticeKind.RUN_ENDED, [factories.alice()], run)
            assert told(run) == [("alice", "run_ended")]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert told(run) == []


def test_the_next_gate_is_told_of_again() -> None:
    run = asked()
    first = factories.open_gate(run)
    decide(first.pk, factories.alice(), Decision(Verb.REJECT, first.digest, "Be shorter."))
    factories.propose(run)
    assert told(run) == [("alice", "decision_needed"), ("alice", "decision_needed")]
