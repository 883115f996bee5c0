"""Notices in the browser. Pages that are open ask for what has become due since they last asked, and show it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from runs.enums import NoticeChannel, NoticeKind
from runs.models import Notice, User
from runs.notices.choices import channels_for, settings_of
from runs.notices.messages import each_once
from runs.notices.relevance import why_outdated
from runs.notices.timing import due_time, is_quiet
from runs.people.time_zones import zone_of

_LOOKED_BACK = timedelta(days=3)
"""A notice that waits for the message of the day, and then for the end of the quiet hours, is due two days later."""
MOST = 50


def became_due(person: User, since: datetime, now: datetime) -> Sequence[Notice]:
    """The notices that a person wants in the browser and that have become due after `since`, the oldest first: at the
    times, and with the quiet hours, that hold for other channels too. What has become needless is left out.
    """
    chosen, zone = settings_of([person])[person.pk], zone_of(person)
    kinds = [kind for kind in NoticeKind if NoticeChannel.BROWSER in channels_for(kind, chosen)]
    recent = Notice.objects.filter(user=person, kind__in=kinds, created_at__gt=now - _LOOKED_BACK)
    due = [
        notice
        for notice in recent.select_related("run", "gate", "user").order_by("-id")[:MOST]
        if since < due_time(NoticeKind(notice.kind), notice.created_at, chosen, zone) <= now
    ]
    outdated = why_outdated(person, due)
    return each_once([notice for notice in reversed(due) if notice.pk not in outdated])


def shows_decisions(person: User, now: datetime) -> bool:
    """Whether the title and the icon of a page may say now that decisions are needed."""
    chosen = settings_of([person])[person.pk]
    wants = NoticeChannel.BROWSER in channels_for(NoticeKind.DECISION_NEEDED, chosen)
    return wants and not is_quiet(now, chosen, zone_of(person))
