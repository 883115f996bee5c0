"""When a notice is sent: at once or with others, and never in the quiet hours of the person."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from runs.enums import Digest, NoticeKind
from runs.models import NoticeSettings
from runs.notices.kinds import NOTICES


def due_time(kind: NoticeKind, now: datetime, chosen: NoticeSettings, zone: ZoneInfo) -> datetime:
    """When a notice that comes up now is sent."""
    due, known = now, NOTICES[kind]
    if not known.is_urgent:
        match Digest(chosen.digest):
            case Digest.AT_ONCE:
                pass
            case Digest.HOURLY:
                due = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
            case Digest.DAILY:
                due = _next(chosen.daily_at, now, zone)
    return due if known.in_quiet_hours else _after_quiet_hours(due, chosen.quiet_from, chosen.quiet_until, zone)


def _after_quiet_hours(moment: datetime, begin: time | None, end: time | None, zone: ZoneInfo) -> datetime:
    """This moment, or the end of the quiet hours that it is in."""
    clock = moment.astimezone(zone).time()
    if end is None or not _is_within(clock, begin, end):
        return moment
    local = moment.astimezone(zone)
    over = datetime.combine(local.date() + timedelta(days=clock >= end), end, zone)
    # Where clocks are set back, the hours that are repeated are quiet only once.
    return max(over.astimezone(moment.tzinfo), moment)


def is_quiet(now: datetime, chosen: NoticeSettings, zone: ZoneInfo) -> bool:
    """Whether these are quiet hours of the person."""
    return _is_within(now.astimezone(zone).time(), chosen.quiet_from, chosen.quiet_until)


def _is_within(clock: time, begin: time | None, end: time | None) -> bool:
    """Whether it is between these times of the day. They may go past midnight; without them it is not."""
    if begin is None or end is None:
        return False
    return begin <= clock < end if begin <= end else clock >= begin or clock < end


def _next(clock: time, after: datetime, zone: ZoneInfo) -> datetime:
    """The next moment at which clocks in the zone show this time."""
    today = after.astimezone(zone).date()
    moments = (datetime.combine(today + timedelta(days=days), clock, zone) for days in (0, 1))
    return next(one for one in (moment.astimezone(after.tzinfo) for moment in moments) if one > after)
