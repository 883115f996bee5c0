"""What owners do with a run: they choose who else may decide, told by its history and never against G1 and G3."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from runs.enums import EventKind, GateStatus, RunStatus, Verb
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle import owner_actions
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
        with pytest.raises(NotAllowed, match="Only the person who submitted the task or an administrator can choose"):
            add_approver(run.pk, user, charlie)
        with pytest.raises(NotAllowed, match="Only the person who submitted the task or an administrator can choose"):
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


# ---- Renaming a run and putting it into the archive: by its owner or an administrator, told by its history -----------


type Change = Callable[[int, User], object]


def told(run: Run) -> list[tuple[str, dict[str, str]]]:
    kinds = [EventKind.RENAMED, EventKind.ARCHIVED, EventKind.RESTORED]
    return list(run.events.filter(kind__in=kinds).order_by("seq").values_list("kind", "data"))


@pytest.mark.parametrize("by", ["alice", "root"])
def test_the_owner_and_an_administrator_rename_a_run_and_the_history_says_so(by: str) -> None:
    run = made.executing()
    before = run.title
    user = made.person(by, is_superuser=by == "root")
    assert owner_actions.rename(run.pk, user, "  Contracts of\n May  ") == "Contracts of May"
    run.refresh_from_db()
    assert run.title == "Contracts of May"
    assert told(run) == [("renamed", {"by": by, "before": before, "after": "Contracts of May"})]


def test_the_same_title_once_more_is_no_event() -> None:
    run = made.executing()
    owner_actions.rename(run.pk, run.owner, run.title)
    assert told(run) == []


@pytest.mark.parametrize(
    ("title", "says"),
    [
        ("", "Give the run a title."),
        (" \n\t\x00\u202e", "Give the run a title."),
        ("x" * 121, "The title has 121 characters; 120 are allowed."),
    ],
)
def test_a_title_that_is_none_is_refused_and_the_old_one_stays(title: str, says: str) -> None:
    run = made.executing()
    with pytest.raises(InvalidInput, match=says):
        owner_actions.rename(run.pk, run.owner, title)
    assert Run.objects.get(pk=run.pk).title == run.title


def test_characters_that_act_on_a_screen_do_not_become_part_of_a_title() -> None:
    assert owner_actions.checked_title("in\u202evoice\x1b[2J 05\x00") == "invoice[2J 05"


def test_a_finished_run_goes_into_the_archive_and_comes_back_and_twice_is_once() -> None:
    run = made.stopped()
    for change in (owner_actions.archive, owner_actions.archive, owner_actions.unarchive, owner_actions.unarchive):
        change(run.pk, run.owner)
    assert told(run) == [("archived", {"by": "alice"}), ("restored", {"by": "alice"})]
    assert Run.objects.get(pk=run.pk).archived_at is None


def test_a_run_that_is_not_finished_stays_on_the_lists() -> None:
    run = made.awaiting_plan()
    with pytest.raises(DecisionRefused, match="Stop it first"):
        owner_actions.archive(run.pk, run.owner)
    assert Run.objects.get(pk=run.pk).archived_at is None


@pytest.mark.parametrize(
    "change", [lambda pk, user: owner_actions.rename(pk, user, "Mine"), owner_actions.archive, owner_actions.unarchive]
)
def test_who_may_only_decide_may_none_of_it(change: Change) -> None:
    run = made.stopped()
    with pytest.raises(NotAllowed, match="Only the person who submitted the task"):
        change(run.pk, made.bob())
    assert told(run) == []
