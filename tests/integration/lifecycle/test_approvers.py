"""Who may decide in a run after it was submitted: chosen by its owner, told by its history, never against G1 and G3."""

from __future__ import annotations

import pytest
from django.utils import timezone

from runs.enums import EventKind, GateStatus, RunStatus, Verb
from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.gate_decisions import current_digest, decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.owner_actions import add_approver, possible_approvers, remove_approver
from runs.models import Gate, Run, User
from runs.people.permissions import can_see
from tests import factories as made

pytestmark = pytest.mark.django_db


def needing_two(run: Run) -> Gate:
    """The plan gate of this run, which takes a second person."""
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    gate = Gate.objects.open().get(run=run)
    Gate.objects.filter(pk=gate.pk).update(digest=current_digest(gate))
    gate.refresh_from_db()
    return gate


def approve(gate: Gate, user: User) -> None:
    decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest))


def sentences(run: Run) -> list[tuple[str, dict[str, str]]]:
    kinds = [EventKind.APPROVER_ADDED, EventKind.APPROVER_REMOVED]
    return list(run.events.filter(kind__in=kinds).order_by("seq").values_list("kind", "data"))


def test_who_is_added_may_decide_and_who_is_removed_sees_nothing_and_the_history_says_so() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    digest = Gate.objects.open().get(run=run).digest
    add_approver(run.pk, made.alice(), charlie)
    assert can_see(charlie, run)
    remove_approver(run.pk, made.alice(), made.bob())
    gate = Gate.objects.open().get(run=run)
    with pytest.raises(NotAllowed, match="You may not decide anything in this run"):
        approve(gate, made.bob())
    approve(gate, charlie)
    assert (gate.digest, Run.objects.get(pk=run.pk).status) == (digest, RunStatus.EXECUTING)
    assert sentences(run) == [
        ("approver_added", {"by": "alice", "person": "charlie"}),
        ("approver_removed", {"by": "alice", "person": "bob"}),
    ]


def test_the_owner_or_an_administrator_chooses_and_nobody_else() -> None:
    run, charlie = made.awaiting_plan(), made.charlie()
    for user in (made.bob(), charlie):
        with pytest.raises(NotAllowed, match="Only the person who submitted the task says who else may decide"):
            add_approver(run.pk, user, charlie)
        with pytest.raises(NotAllowed, match="Only the person who submitted the task says who else may decide"):
            remove_approver(run.pk, user, made.bob())
    add_approver(run.pk, made.person("root", is_superuser=True), charlie)
    assert (set(run.approvers.all()), len(sentences(run))) == ({made.bob(), charlie}, 1)


def test_the_owner_does_not_become_the_second_person_by_any_list() -> None:
    run = made.awaiting_plan()
    gate = needing_two(run)
    with pytest.raises(InvalidInput, match="alice cannot be added"):
        add_approver(run.pk, made.alice(), made.alice())
    run.approvers.add(made.alice())  # as a row of before could say
    with pytest.raises(NotAllowed, match="A second person has to approve this"):
        approve(gate, made.alice())
    approve(gate, made.bob())
    gate.refresh_from_db()
    assert gate.status == GateStatus.APPROVED


def test_the_only_second_person_stays_until_there_is_another() -> None:
    run = made.awaiting_plan()
    needing_two(run)
    run.approvers.add(made.alice(), made.person("gone", is_active=False))
    with pytest.raises(InvalidInput, match=r"and bob is the only one\. Add someone else first\."):
        remove_approver(run.pk, made.alice(), made.bob())
    add_approver(run.pk, made.alice(), made.charlie())
    remove_approver(run.pk, made.alice(), made.bob())
    assert not can_see(made.bob(), run)


def test_who_cannot_be_added_or_is_not_there_is_refused_and_nothing_is_recorded() -> None:
    run, gone = made.awaiting_plan(), made.person("gone", is_active=False)
    before = Run.objects.get(pk=run.pk).event_count
    for person in (made.bob(), gone):
        with pytest.raises(InvalidInput, match="cannot be added: not active, or may decide here already"):
            add_approver(run.pk, made.alice(), person)
    with pytest.raises(InvalidInput, match="charlie is not among those who may decide here"):
        remove_approver(run.pk, made.alice(), made.charlie())
    assert Run.objects.get(pk=run.pk).event_count == before
    assert list(possible_approvers(run)) == [made.charlie()]


def test_somebody_inactive_can_be_removed_even_as_the_only_second_person() -> None:
    run = made.awaiting_plan()
    needing_two(run)
    User.objects.filter(username="bob").update(is_active=False)
    remove_approver(run.pk, made.alice(), made.bob())
    assert list(run.approvers.all()) == []


def test_people_of_a_finished_run_come_and_go_too() -> None:
    run = made.finished_succeeded()
    before = run.finished_at
    add_approver(run.pk, made.alice(), made.charlie())
    run.refresh_from_db()
    assert (run.status, run.finished_at, can_see(made.charlie(), run)) == (RunStatus.FINISHED, before, True)
    assert before is not None
    assert before < timezone.now()
