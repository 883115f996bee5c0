"""When a time limit ends: hours counted on the days on which limits run, in the time zone of a person."""

from collections.abc import Set
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings

_DAY = timedelta(days=1)
_MAX_DAYS_OFF = 3_660
"""Days in a row without a business day. Beyond ten years the list of holidays is a mistake, and days count."""


def after_hours(
    start: datetime,
    hours: int,
    zone: ZoneInfo,
    *,
    days: Set[int] | None = None,
    holidays: Set[date] | None = None,
) -> datetime:
    """The time so many hours after `start`, in UTC. `days` of the week, Monday as 0, and `holidays` are the
    installation's if they are not given.

    24 hours are a day of the calendar: they end at the same time of the next business day, also when the clocks change
    in between. The rest of the hours are hours as they pass. On other days the time stands still: what begins there
    begins at the first minute of the next business day.
    """
    days = settings.BUSINESS_DAYS if days is None else days
    holidays = settings.HOLIDAYS if holidays is None else holidays

    def counts(day: date) -> bool:
        return day.weekday() in days and day not in holidays

    def next_day(day: date) -> date:
        following = day + _DAY
        for _ in range(_MAX_DAYS_OFF):
            if counts(following):
                return following
            following += _DAY
        return day + _DAY

    whole, rest = divmod(hours, 24)
    local = start.astimezone(zone)
    day, at = local.date(), local.time()
    if not counts(day):
        day, at = next_day(day), time.min
    for _ in range(whole):
        day = next_day(day)
    # A time that the clocks skip on that day is as long after midnight as it would be without the change.
    begins = datetime.combine(day, at, zone).astimezone(UTC)
    if not whole and day == local.date():
        begins = start.astimezone(UTC)  # of two equal times of the night in autumn, the one that it was
    ends = begins + timedelta(hours=rest)
    while True:
        midnight = datetime.combine(day + _DAY, time.min, zone).astimezone(UTC)
        if ends < midnight:
            return ends
        day = next_day(day)
        ends = datetime.combine(day, time.min, zone).astimezone(UTC) + (ends - midnight)
