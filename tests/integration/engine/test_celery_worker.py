"""What nobody has claimed is sent to Celery workers again: by one process, and not at every poll."""

from __future__ import annotations

import pytest

from runs.engine import celery_backend, celery_worker
from runs.engine.celery_worker import Resender
from runs.engine.process_registry import HeldLock

pytestmark = [pytest.mark.django_db, pytest.mark.services]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(celery_worker, "time", clock)
    return clock


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(celery_worker, "enqueue", sent.append)
    monkeypatch.setattr(celery_backend.sender, "is_away", False)
    return sent


def test_an_item_is_sent_when_it_is_seen_twice_and_then_less_and_less_often(clock: Clock, sent: list[int]) -> None:
    notify, seconds = Resender(), list[float]()
    for poll in range(2 * 600):
        clock.now = 1_000 + poll / 2
        notify([7])
        if sent:
            seconds.append(poll / 2)
            sent.clear()
    assert seconds == [0.5, 5.5, 15.5, 35.5, 75.5, 155.5, 275.5, 395.5, 515.5]


def test_what_was_claimed_meanwhile_counts_as_new(clock: Clock, sent: list[int]) -> None:
    notify = Resender()
    for due in ([7], [7, 8], [], [7], [7]):
        notify(due)
        clock.now += 0.5
    assert sent == [7, 7]


def test_one_process_at_a_time_sends_and_another_when_it_has_ended(clock: Clock, sent: list[int]) -> None:
    first, second = Resender(), Resender()
    for _ in range(3):
        for notify in (first, second):
            notify([7])
        clock.now += 0.5
    assert sent == [7]
    first.stop()
    for _ in range(2):
        second([7])
        clock.now += 0.5
    assert sent == [7, 7]
    assert not HeldLock("notify").is_mine()


def test_while_redis_is_away_one_is_tried_and_all_are_sent_when_it_is_back(
    clock: Clock, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    notify = Resender()
    monkeypatch.setattr(celery_backend.sender, "is_away", True)
    for _ in range(3):
        notify([7, 8])
        clock.now += 0.5
    notify([])
    assert sent == [7, 7, 7]
    notify([7, 8])
    monkeypatch.setattr(celery_backend.sender, "is_away", False)
    sent.clear()
    notify([7, 8])
    assert sent == [7, 8]
