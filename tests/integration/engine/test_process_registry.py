"""Duties: one process at a time has one, and another takes over from a process that is silent."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.engine.process_registry import HeldLock
from runs.engine.sweeper import Sweeper
from runs.models import Discarded, LeaderLock

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def silent() -> None:
    """Whoever has a duty was not seen for a while."""
    LeaderLock.objects.update(until=timezone.now() - timedelta(seconds=1))


def test_it_stays_with_the_first_until_that_is_silent() -> None:
    first, second = HeldLock("upkeep"), HeldLock("upkeep")
    assert [first.is_mine(), second.is_mine(), first.is_mine(), HeldLock("other").is_mine()] == [
        True,
        False,
        True,
        True,
    ]
    silent()
    assert second.is_mine()
    assert not HeldLock("upkeep").is_mine()


def test_who_was_silent_finds_out_that_another_has_it() -> None:
    first = HeldLock("upkeep")
    assert first.is_mine()
    silent()
    assert HeldLock("upkeep").is_mine()
    first._sure_until = 0.0  # a third of the lease later
    assert not first.is_mine()


def test_who_gives_it_up_leaves_it_to_another_at_once() -> None:
    first, second = HeldLock("upkeep"), HeldLock("upkeep")
    assert first.is_mine()
    second.give_up()
    assert not second.is_mine()
    first.give_up()
    assert second.is_mine()
    assert not first.is_mine()


def test_it_may_last_for_less_than_others() -> None:
    assert HeldLock("short", lasts=timedelta(seconds=-1)).is_mine()
    assert HeldLock("short").is_mine()


def test_upkeep_is_done_by_one_of_several_that_work_and_by_none_that_only_serves() -> None:
    first, second, serving = Sweeper(lambda _: None), Sweeper(lambda _: None), Sweeper(None)
    first.poll()
    Discarded.objects.create(sha256="0" * 64, due_at=timezone.now())
    second.poll()
    serving.poll()
    assert Discarded.objects.count() == 1
    silent()
    Sweeper(lambda _: None).poll()
    assert Discarded.objects.count() == 0
