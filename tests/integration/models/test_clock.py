"""Leases and due times follow the database's clock: a machine whose own is wrong neither steals nor keeps anything."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from runs.engine import claim
from runs.enums import WorkStatus
from runs.models import Rendition, WorkItem
from runs.store import renditions
from tests.factories import Submit

pytestmark = [pytest.mark.django_db, pytest.mark.services]
type Shift = Callable[[int], None]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Shift:
    """From now on this process runs on a machine whose clock is so many seconds ahead."""
    now = timezone.now

    def shifted(seconds: int) -> None:
        def wrong() -> datetime:
            return now() + timedelta(seconds=seconds)

        monkeypatch.setattr(timezone, "now", wrong)

    return shifted


@pytest.fixture
def item(submitted: Submit) -> WorkItem:
    return WorkItem.objects.get(run=submitted())


def left(item: WorkItem) -> bool:
    """Whether the lease ends when it should, as the database counts."""
    whole = timedelta(seconds=settings.LEASE_SECONDS)
    near = (Now() + whole - timedelta(seconds=5), Now() + whole)
    return WorkItem.objects.filter(pk=item.pk, lease_until__range=near).exists()


@pytest.mark.parametrize(("owner", "other"), [(0, 60), (-60, 0), (60, -60)])
def test_a_lease_that_lives_is_stolen_by_no_clock(item: WorkItem, machine: Shift, owner: int, other: int) -> None:
    machine(owner)
    lease = claim.claim(item.pk)
    assert lease is not None
    assert left(item)
    claim.heartbeat.extend(lease)
    assert left(item)
    machine(other)
    assert not WorkItem.objects.filter(claim.due()).exists()
    assert claim.claim(item.pk) is None


@pytest.mark.parametrize("seconds", [-60, 60])
def test_a_lease_that_is_over_is_taken_over_by_any_clock(item: WorkItem, machine: Shift, seconds: int) -> None:
    assert claim.claim(item.pk) is not None
    WorkItem.objects.update(lease_until=Now() - timedelta(seconds=1))
    machine(seconds)
    taken = claim.claim(item.pk)
    assert taken is not None
    assert taken.epoch == 2


@pytest.mark.parametrize("seconds", [-60, 60])
def test_work_is_due_when_it_was_created_and_after_the_wait_it_was_given(
    submitted: Submit, machine: Shift, seconds: int
) -> None:
    machine(seconds)
    item = WorkItem.objects.get(run=submitted())
    assert WorkItem.objects.filter(due_at__lte=Now()).count() == 1
    lease = claim.claim(item.pk)
    assert lease is not None
    claim.commit(lease, lambda mine: claim.postpone(mine, timezone.now() + timedelta(seconds=30)))
    waits = (Now() + timedelta(seconds=25), Now() + timedelta(seconds=30))
    assert WorkItem.objects.filter(status=WorkStatus.READY, due_at__range=waits).count() == 1


@pytest.mark.parametrize("seconds", [-60, 60])
def test_a_document_that_somebody_reads_is_left_to_them(machine: Shift, seconds: int) -> None:
    Rendition.objects.create(source="0" * 64, reader="1", format="pdf")
    assert renditions.take("0" * 64)
    machine(seconds)
    assert renditions.take("0" * 64) is None
