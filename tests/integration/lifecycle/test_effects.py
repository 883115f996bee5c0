"""The engine is notified of new work after the commit, and may fail at it (D2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps

from runs.enums import WorkKind, WorkStatus
from runs.lifecycle.effects import notify_with
from runs.models import Plan, WorkItem
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]

type Capture = Callable[..., Any]


@pytest.fixture
def notified() -> Iterator[list[int]]:
    """The ids that somebody was notified of; afterwards it is the engine again."""
    ids: list[int] = []
    notify_with(ids.append)
    yield ids
    apps.get_app_config("runs").ready()


def test_a_notification_comes_after_the_commit_and_once_for_each_piece_of_work(
    notified: list[int], django_capture_on_commit_callbacks: Capture
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = made.submitted()
        assert notified == []
    assert notified == [WorkItem.objects.get(run=run).pk]


@pytest.mark.usefixtures("notified")
def test_a_receiver_that_fails_undoes_nothing_and_stops_nobody(django_capture_on_commit_callbacks: Capture) -> None:
    def broken(work_id: int) -> None:
        raise ConnectionError("no broker")

    notify_with(broken)
    with django_capture_on_commit_callbacks(execute=True):
        run = made.submitted()
    assert Plan.objects.count() == 0
    assert made.open_work(run, WorkKind.PLAN).status == WorkStatus.READY
