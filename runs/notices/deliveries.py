"""Deliveries of notices: planned by what each person has chosen, claimed by one process, sent, tried again.

A delivery is sent at least once. Each attempt has the same id, by which receivers notice a second one.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from runs.enums import AuditKind, DeliveryStatus, GateStatus, NoticeChannel, NoticeKind
from runs.models import Delivery, Notice, NoticeSettings, clock
from runs.notices.channels.channel import DeliveryChannel, NotSent, Undeliverable
from runs.notices.channels.registry import channels_on
from runs.notices.choices import channels_for, settings_of
from runs.notices.kinds import SINGLE
from runs.notices.messages import Message, each_once, line_of
from runs.notices.relevance import why_outdated
from runs.notices.timing import due_time
from runs.people.time_zones import zone_of
from runs.store import audit_trail, event_log

log = logging.getLogger(__name__)
MINUTES_BETWEEN_TRIES = (1, 5, 15, 60, 180, *[360] * 11)
"""Three days in all, or four where a server asks to wait; then a person has to look."""
MAX_WAIT_SECONDS = 6 * 3_600
"""The longest that a server may ask us to wait before the next try."""
LEASE = timedelta(minutes=5)
"""How long one message may take; every channel gives up earlier."""
KEPT = timedelta(days=30)
PLANNED_AT_ONCE = 500
MAX_TOGETHER = 50
"""Notices in one message. More are sent with the next one."""


def plan() -> int:
    """Write the deliveries of new notices. Two processes that do so at once write each only once."""
    unplanned = Notice.objects.filter(planned_at__isnull=True).select_related("user").order_by("id")
    notices = list(unplanned[:PLANNED_AT_ONCE])
    if not notices:
        return 0
    now, channels = timezone.now(), channels_on()
    chosen = settings_of(notice.user for notice in notices) if channels else {}
    reached = {
        (pk, channel.channel) for pk, row in chosen.items() for channel in channels if channel.reaches(row.user, row)
    }
    new = [
        Delivery(
            notice=notice,
            channel=channel.channel,
            due_at=due_time(NoticeKind(notice.kind), now, chosen[notice.user_id], zone_of(notice.user)),
        )
        for notice in notices
        for channel in channels
        if channel.channel in channels_for(NoticeKind(notice.kind), chosen[notice.user_id])
        and (notice.address or (notice.user_id, channel.channel) in reached)
    ]
    with event_log.writing():
        Delivery.objects.bulk_create(new, ignore_conflicts=True)
        Notice.objects.filter(pk__in=[notice.pk for notice in notices]).update(planned_at=now)
    return len(notices)


def due(now: object = None) -> QuerySet[Delivery]:
    """Deliveries that can be claimed."""
    now = now or clock.now()
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=now)
    return Delivery.objects.filter(free, status=DeliveryStatus.WAITING, due_at__lte=now)


def channels_with_work() -> list[NoticeChannel]:
    """The channels by which something is due."""
    on = {one.channel for one in channels_on()}
    if not on:
        return []
    found = due().values_list("channel", flat=True).order_by().distinct()
    return [NoticeChannel(channel) for channel in found if channel in on]


@dataclass(frozen=True)
class Batch:
    """Deliveries that were claimed, and are sent as one message."""

    owner: str
    deliveries: Sequence[Delivery]

    @property
    def key(self) -> str:
        """The id of the message, the same in each attempt and different from those of other installations."""
        number = self.deliveries[0].batch
        return f"msg_{salted_hmac('runs.notices.deliveries', str(number), algorithm='sha256').hexdigest()[:32]}"


def claim(channel: DeliveryChannel) -> Batch | None:
    """Claim what is sent next by this channel; None if nothing is due."""
    while True:
        first = due().filter(channel=channel.channel).order_by("due_at", "id").select_related("notice").first()
        if first is None:
            return None
        owner = uuid4().hex
        with event_log.writing():
            rows = due().filter(channel=channel.channel, notice__user_id=first.notice.user_id)
            if first.batch is not None:
                rows = rows.filter(batch=first.batch)
            elif channel.sends_together and first.notice.kind not in SINGLE:
                rows = rows.filter(batch__isnull=True).exclude(notice__kind__in=SINGLE)
            else:
                rows = rows.filter(pk=first.pk)
            ids = list(rows.order_by("due_at", "id").values_list("pk", flat=True)[:MAX_TOGETHER])
            # The condition of `due` is repeated: of two processes that have read the same rows, one changes them.
            due().filter(pk__in=ids).update(
                lease_owner=owner, lease_until=clock.after(LEASE), batch=first.batch or first.pk
            )
            mine = Delivery.objects.filter(lease_owner=owner).select_related(
                "notice__user", "notice__run", "notice__gate__run"
            )
            deliveries = list(mine.order_by("id"))
        if deliveries:
            return Batch(owner, deliveries)


def send_due(channel: DeliveryChannel, is_stopped: Callable[[], bool] = lambda: False) -> int:
    """Send everything that is due by one channel. Returns the number of messages that were sent.

    What goes to a server that is away counts as tried, without waiting for it again and again.
    """
    sent = 0
    away: dict[int | None, NotSent] = {}
    while not is_stopped() and (batch := claim(channel)):
        person = batch.deliveries[0].notice.user
        chosen = settings_of([person])[person.pk]
        wanted = _end_unneeded(batch, channel, chosen)
        if not wanted:
            continue
        if known := away.get(None) or away.get(person.pk):
            _postpone(batch, wanted, known)
            continue
        try:
            lines = [line_of(notice) for notice in each_once([delivery.notice for delivery in wanted])]
            channel.send(Message(batch.key, person, chosen, lines))
        except NotSent as error:
            away[None if error.everyone else person.pk] = error
            _postpone(batch, wanted, error)
        except Undeliverable as error:
            _end(batch, wanted, DeliveryStatus.FAILED, str(error))
        except Exception as error:
            log.exception("a notice could not be sent")
            problem = NotSent(f"pevsite failed: {type(error).__name__}. The log has more.")
            _postpone(batch, wanted, problem)
        else:
            _end(batch, wanted, DeliveryStatus.SENT)
            sent += 1
    return sent


def _end_unneeded(batch: Batch, channel: DeliveryChannel, chosen: NoticeSettings) -> list[Delivery]:
    """End the deliveries that there is no reason for any more. Returns the others."""
    person = batch.deliveries[0].notice.user
    reaches = channel.is_on() and channel.reaches(person, chosen)
    outdated = why_outdated(person, [one.notice for one in batch.deliveries])

    def why_not(notice: Notice) -> str:
        if not person.is_active:
            return "The person is not active."
        if not channel.is_on():
            return "The installation no longer has this channel."
        if not (notice.address or reaches):
            return "The person no longer has an address for it."
        return outdated.get(notice.pk, "")

    wanted, unneeded = [], defaultdict[str, list[Delivery]](list)
    for one in batch.deliveries:
        if why := why_not(one.notice):
            unneeded[why].append(one)
        else:
            wanted.append(one)
    for why, rows in unneeded.items():
        _end(batch, rows, DeliveryStatus.SKIPPED, why)
    return wanted


def _end(batch: Batch, rows: Sequence[Delivery], status: DeliveryStatus, problem: str = "") -> None:
    with event_log.writing():
        _mine(batch, rows).update(
            status=status,
            ended_at=timezone.now(),
            lease_owner="",
            lease_until=None,
            problem=problem[:500],
            tries=F("tries") + (0 if status is DeliveryStatus.SKIPPED else 1),
        )
    if status is DeliveryStatus.FAILED:
        log.warning("a notice was given up: %s", problem)


def _postpone(batch: Batch, rows: Sequence[Delivery], error: NotSent) -> None:
    """Try again later, as late as the server asks for within `MAX_WAIT_SECONDS`, or give up after the last try."""
    by_tries: dict[int, list[Delivery]] = defaultdict(list)
    for row in rows:
        by_tries[row.tries].append(row)
    for tries, same in by_tries.items():
        if tries >= len(MINUTES_BETWEEN_TRIES):
            _end(batch, same, DeliveryStatus.FAILED, str(error))
            continue
        wait = max(60 * MINUTES_BETWEEN_TRIES[tries], min(error.wait_seconds, MAX_WAIT_SECONDS))
        later = clock.after(timedelta(seconds=wait))
        with event_log.writing():
            _mine(batch, same).update(
                due_at=later, lease_owner="", lease_until=None, tries=tries + 1, problem=str(error)[:500]
            )


def _mine(batch: Batch, rows: Sequence[Delivery]) -> QuerySet[Delivery]:
    """These rows, if this process still has them."""
    ids = [row.pk for row in rows]
    return Delivery.objects.filter(pk__in=ids, status=DeliveryStatus.WAITING, lease_owner=batch.owner)


def try_again(ids: Iterable[int] | None = None) -> int:
    """Send these deliveries again that were given up, or all of them. Returns their number."""
    failed = Delivery.objects.filter(status=DeliveryStatus.FAILED)
    if ids is not None:
        failed = failed.filter(pk__in=list(ids))
    with event_log.writing():
        count = failed.update(status=DeliveryStatus.WAITING, ended_at=None, tries=0, due_at=clock.now())
        if count:
            audit_trail.record(AuditKind.OPERATED, subject="notices", name="sent again", count=count)
    return count


def forget_old(now: datetime | None = None) -> None:
    """Delete notices of more than a month ago, except those that still wait to be sent or are about open decisions."""
    old = Notice.objects.filter(created_at__lt=(now or timezone.now()) - KEPT)
    with event_log.writing():
        # Those of open decisions stay too: by them it is known whom they were announced to.
        old.exclude(deliveries__status=DeliveryStatus.WAITING).exclude(gate__status=GateStatus.OPEN).delete()
