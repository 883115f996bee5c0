"""What a person chooses: which notices, how and when. Each change is a line of the audit trail, without addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from runs.enums import AuditKind, NoticeChannel, NoticeKind
from runs.errors import InvalidInput
from runs.models import Notice, NoticeSettings, User
from runs.notices.channels import chat_channel, webhook_channel
from runs.notices.channels.registry import channels_on
from runs.notices.kinds import CHOOSABLE
from runs.people import outbox
from runs.store import audit_trail, event_log

BETWEEN_TESTS = timedelta(minutes=1)
_SUBJECT = "notices"


def settings_of(people: Iterable[User]) -> dict[int, NoticeSettings]:
    """What each of these people has chosen, or the defaults."""
    everyone = {one.pk: one for one in people}
    found = {row.user_id: row for row in NoticeSettings.objects.filter(user__in=everyone)}
    return {pk: found.get(pk) or NoticeSettings(user=one) for pk, one in everyone.items()}


def channels_for(kind: NoticeKind, chosen: NoticeSettings) -> Sequence[NoticeChannel]:
    """By which channels a person wants this kind, whether they have an address for them or not."""
    if kind is NoticeKind.TEST:
        return tuple(NoticeChannel)
    if kind not in {one.kind for one in CHOOSABLE}:
        return (NoticeChannel.EMAIL,)
    return chosen.channels.get(kind, (NoticeChannel.BROWSER, NoticeChannel.EMAIL))


def choose(person: User, wanted: Iterable[tuple[NoticeKind, NoticeChannel]], **times: Any) -> None:
    """Set which kinds are sent by which channels, and `times`: fields of NoticeSettings.

    A channel that the installation does not have now keeps what was chosen for it. Raises InvalidInput.
    """
    if (times["quiet_from"] is None) != (times["quiet_until"] is None):
        raise InvalidInput("Give both times of the quiet hours, or none.")
    if times["quiet_from"] is not None and times["quiet_from"] == times["quiet_until"]:
        raise InvalidInput("The quiet hours begin and end at the same time. Give two times, or none.")
    chosen, on = set(wanted), {NoticeChannel.BROWSER, *(one.channel for one in channels_on())}
    with event_log.writing():
        row = _row(person)
        channels: Mapping[NoticeKind, tuple[NoticeChannel, ...]] = row.channels
        row.channels = {
            one.kind: tuple(
                channel
                for channel in NoticeChannel
                if ((one.kind, channel) in chosen if channel in on else channel in channels.get(one.kind, ()))
            )
            for one in CHOOSABLE
        }
        for field, value in times.items():
            setattr(row, field, value)
        row.save()
        audit_trail.record(AuditKind.SETTING_CHANGED, by=person, subject=_SUBJECT, name="kinds and times")


def set_chat(person: User, address: str) -> None:
    """Raises InvalidInput for an address that cannot be used here. Takes a second."""
    chat_channel.check_address(address)
    _keep(person, "chat address", chat_address=address.strip())


def set_webhook(person: User, address: str) -> str:
    """Returns the secret of the webhook, which is shown once. Raises InvalidInput for an address that is refused."""
    webhook_channel.check_address(address)
    secret = webhook_channel.new_secret()
    _keep(person, "webhook", webhook_address=address.strip(), webhook_secret=secret)
    return secret


def remove(person: User, channel: NoticeChannel) -> None:
    if channel is NoticeChannel.CHAT:
        _keep(person, "chat address removed", chat_address="")
    if channel is NoticeChannel.WEBHOOK:
        _keep(person, "webhook removed", webhook_address="", webhook_secret="")


def send_test(person: User) -> None:
    """Queue a notice that goes by each channel for which the person has an address. Raises InvalidInput."""
    row = NoticeSettings.objects.filter(user=person).first() or NoticeSettings(user=person)
    if not any(one.reaches(person, row) for one in channels_on()):
        raise InvalidInput("There is no address yet to which a notice could be sent.")
    lately = Notice.objects.filter(user=person, kind=NoticeKind.TEST, created_at__gt=timezone.now() - BETWEEN_TESTS)
    if lately.exists():
        raise InvalidInput("A test was sent a moment ago. Wait a minute before the next one.")
    outbox.tell(person, NoticeKind.TEST, occurrence=uuid4().hex)


def _keep(person: User, name: str, **fields: str) -> None:
    with event_log.writing():
        row = _row(person)
        for field, value in fields.items():
            setattr(row, field, value)
        row.save()
        audit_trail.record(AuditKind.SETTING_CHANGED, by=person, subject=_SUBJECT, name=name)


def _row(person: User) -> NoticeSettings:
    """The row of a person, made if it is missing, and locked."""
    NoticeSettings.objects.get_or_create(user=person)
    return NoticeSettings.objects.select_for_update().get(user=person)
