"""What owners do with a run: renaming it and putting it into the archive, told by its history."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runs.enums import EventKind
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle import owner_actions
from runs.models import Run, User
from tests import factories as made

pytestmark = pytest.mark.django_db


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
