"""When notices are sent: digests and quiet hours by the clock of the person, right over changes of it."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from runs.enums import Digest, NoticeKind
from runs.models import NoticeSettings
from runs.notices.timing import due_time

UTC, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(now: str, zone: ZoneInfo = BERLIN, kind: NoticeKind = NoticeKind.DECISION_NEEDED, **fields: Any) -> str:
    chosen = NoticeSettings(**fields)
    return due_time(kind, at(now), chosen, zone).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


NIGHT: dict[str, Any] = {"quiet_from": time(22), "quiet_until": time(7)}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-01-10 20:59", "2026-01-10 20:59"),
        ("2026-01-10 21:00", "2026-01-11 06:00"),  # 22:00 in Berlin
        ("2026-01-11 05:59", "2026-01-11 06:00"),
        ("2026-01-11 06:00", "2026-01-11 06:00"),
        ("2026-07-10 20:00", "2026-07-11 05:00"),  # an hour earlier in summer
        ("2026-03-28 23:00", "2026-03-29 05:00"),  # the clock is set forward in this night
        ("2026-10-24 22:00", "2026-10-25 06:00"),  # and back in this one
    ],
)
def test_quiet_hours_end_by_the_clock_of_the_person(now: str, expected: str) -> None:
    assert due(now, **NIGHT) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-10-25 00:10", "2026-10-25 00:30"),  # 02:10 the first time
        ("2026-10-25 00:40", "2026-10-25 00:40"),  # 02:40 the first time
        ("2026-10-25 01:10", "2026-10-25 01:10"),  # 02:10 again: these hours were quiet once
        ("2026-03-29 00:50", "2026-03-29 01:30"),  # 01:50; there is no 02:30, and an hour later it is 03:30
    ],
)
def test_hours_that_come_twice_are_quiet_once_and_hours_that_do_not_come_end(now: str, expected: str) -> None:
    assert due(now, quiet_from=time(1), quiet_until=time(2, 30)) == expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-01-10 06:59", "2026-01-10 07:00"),  # 08:00 in Berlin
        ("2026-01-10 07:00", "2026-01-11 07:00"),
        ("2026-03-28 12:00", "2026-03-29 06:00"),
        ("2026-10-24 12:00", "2026-10-25 07:00"),
    ],
)
def test_a_daily_digest_comes_at_the_same_time_by_the_clock(now: str, expected: str) -> None:
    assert due(now, digest=Digest.DAILY, daily_at=time(8)) == expected


def test_an_hourly_digest_comes_at_the_full_hour_and_not_in_quiet_hours() -> None:
    assert due("2026-01-10 12:34", digest=Digest.HOURLY) == "2026-01-10 13:00"
    assert due("2026-01-10 20:34", digest=Digest.HOURLY, **NIGHT) == "2026-01-11 06:00"


def test_what_is_urgent_is_not_collected_and_what_concerns_the_account_does_not_wait() -> None:
    daily: dict[str, Any] = {"digest": Digest.DAILY, **NIGHT}
    assert due("2026-01-10 12:00", kind=NoticeKind.DECISION_DUE, **daily) == "2026-01-10 12:00"
    assert due("2026-01-10 23:00", kind=NoticeKind.DECISION_DUE, **daily) == "2026-01-11 06:00"
    assert due("2026-01-10 23:00", kind=NoticeKind.ACCOUNT, **daily) == "2026-01-10 23:00"


def test_quiet_hours_within_a_day() -> None:
    noon: dict[str, Any] = {"quiet_from": time(12), "quiet_until": time(13)}
    assert due("2026-01-10 12:30", UTC, **noon) == "2026-01-10 13:00"
    assert due("2026-01-10 13:00", UTC, **noon) == "2026-01-10 13:00"
    assert due("2026-01-10 11:59", UTC, **noon) == "2026-01-10 11:59"


@pytest.mark.parametrize(
    "kind", [NoticeKind.ACCOUNT, NoticeKind.EMAIL_ADDED, NoticeKind.PASSWORD_RESET, NoticeKind.TEST]
)
def test_what_somebody_waits_for_or_must_know_comes_at_once(kind: NoticeKind) -> None:
    night = "2026-01-10 23:00"
    assert due(night, kind=kind, digest=Digest.DAILY, daily_at=time(8), **NIGHT) == night
    assert (
        due(night, kind=NoticeKind.DECISION_DUE, digest=Digest.DAILY, daily_at=time(8), **NIGHT) == "2026-01-11 06:00"
    )
