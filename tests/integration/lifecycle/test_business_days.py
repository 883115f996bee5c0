"""When a limit ends: over weekends, holidays, and both changes of the clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.lifecycle.business_days import after_hours

BERLIN = ZoneInfo("Europe/Berlin")
EVERY, WORK = frozenset(range(7)), frozenset(range(5))


def ends(start: str, hours: int, zone: ZoneInfo = BERLIN, days: frozenset[int] = WORK, *off: str) -> str:
    began = datetime.fromisoformat(start).replace(tzinfo=zone)
    ended = after_hours(began, hours, zone, days=days, holidays={date.fromisoformat(day) for day in off})
    assert ended.tzinfo is UTC
    return ended.astimezone(zone).strftime("%a %Y-%m-%d %H:%M %z")


@pytest.mark.parametrize(
    ("start", "hours", "end"),
    [
        ("2026-11-27 15:00", 2, "Fri 2026-11-27 17:00 +0100"),
        ("2026-11-27 15:00", 24, "Mon 2026-11-30 15:00 +0100"),
        ("2026-11-27 15:00", 10, "Mon 2026-11-30 01:00 +0100"),
        ("2026-11-27 15:00", 34, "Tue 2026-12-01 01:00 +0100"),
        ("2026-11-28 15:00", 1, "Mon 2026-11-30 01:00 +0100"),
        ("2026-11-28 15:00", 24, "Tue 2026-12-01 00:00 +0100"),
        ("2026-11-27 15:00", 9, "Mon 2026-11-30 00:00 +0100"),
        ("2026-11-25 15:00", 120, "Wed 2026-12-02 15:00 +0100"),
    ],
)
def test_on_other_days_the_time_stands_still(start: str, hours: int, end: str) -> None:
    assert ends(start, hours) == end


def test_a_holiday_is_no_business_day() -> None:
    assert ends("2026-12-24 15:00", 24, BERLIN, WORK, "2026-12-25") == "Mon 2026-12-28 15:00 +0100"


@pytest.mark.parametrize(
    ("start", "hours", "end"),
    [
        # The night of 29 March 2026 has 23 hours: at 02:00 it is 03:00.
        ("2026-03-28 15:00", 24, "Sun 2026-03-29 15:00 +0200"),
        ("2026-03-28 15:00", 23, "Sun 2026-03-29 15:00 +0200"),
        ("2026-03-28 15:00", 12, "Sun 2026-03-29 04:00 +0200"),
        ("2026-03-28 02:30", 24, "Sun 2026-03-29 03:30 +0200"),
        ("2026-03-28 23:30", 47, "Mon 2026-03-30 22:30 +0200"),
        # The night of 25 October 2026 has 25: at 03:00 it is 02:00.
        ("2026-10-24 15:00", 24, "Sun 2026-10-25 15:00 +0100"),
        ("2026-10-24 15:00", 23, "Sun 2026-10-25 13:00 +0100"),
        ("2026-10-24 02:30", 24, "Sun 2026-10-25 02:30 +0200"),
    ],
)
def test_days_end_at_the_same_time_when_the_clocks_change_and_hours_pass_as_they_do(
    start: str, hours: int, end: str
) -> None:
    assert ends(start, hours, BERLIN, EVERY) == end


def test_of_two_equal_times_of_a_night_it_counts_from_the_one_that_it_was() -> None:
    second = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # 02:30 for the second time
    assert after_hours(second, 1, BERLIN, days=EVERY, holidays=frozenset()) == second + timedelta(hours=1)


def test_the_weekend_is_that_of_the_person() -> None:
    start = datetime(2026, 11, 27, 20, 0, tzinfo=UTC)  # Friday in Europe, Saturday in Auckland
    auckland = ZoneInfo("Pacific/Auckland")
    there = after_hours(start, 3, auckland, days=WORK, holidays=frozenset()).astimezone(auckland)
    assert there.strftime("%a %H:%M") == "Mon 03:00"
    assert ends("2026-11-27 20:00", 3, ZoneInfo("UTC")) == "Fri 2026-11-27 23:00 +0000"


def test_holidays_without_an_end_do_not_keep_a_limit_from_ending() -> None:
    off = frozenset(date(2026, 11, 1) + timedelta(days=count) for count in range(5_000))
    start = datetime(2026, 11, 27, 15, tzinfo=UTC)
    assert after_hours(start, 24, ZoneInfo("UTC"), days=EVERY, holidays=off) < start + timedelta(days=4)


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    st.integers(1, 400),
    st.integers(1, 50),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"]),
    st.frozensets(st.integers(0, 6), min_size=1),
)
def test_more_hours_never_end_earlier_and_it_ends_on_a_business_day(
    start: datetime, hours: int, more: int, name: str, days: frozenset[int]
) -> None:
    zone, began = ZoneInfo(name), start.replace(tzinfo=UTC)
    end = after_hours(began, hours, zone, days=days, holidays=frozenset())
    assert began < end
    assert end.astimezone(zone).weekday() in days
    if hours % 24 == 0:  # whole days, which are not compared with hours as they pass
        later = after_hours(began, hours + 24 * more, zone, days=days, holidays=frozenset())
        assert end < later
