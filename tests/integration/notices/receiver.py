"""People who want notices, and what sends them."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.utils import timezone

from runs.enums import NoticeChannel, NoticeKind
from runs.models import Delivery, NoticeSettings, Run, User
from runs.notices import deliveries
from runs.notices.channels.registry import CHANNELS
from tests import factories


def with_mail(person: User, address: str = "", *, verified: bool = True) -> User:
    address = address or f"{person.username}@example.org"
    EmailAddress.objects.create(user=person, email=address, verified=verified, primary=True)
    return person


def choose(person: User, **fields: Any) -> NoticeSettings:
    return NoticeSettings.objects.update_or_create(user=person, defaults=fields)[0]


def want(person: User, *channels: NoticeChannel, **fields: Any) -> NoticeSettings:
    """Have every kind sent by these channels."""
    return choose(person, channels=dict.fromkeys(NoticeKind, channels), **fields)


def asked(*approvers: User, title: str = "", **policy: Any) -> Run:
    """A run of Alice's whose plan waits for a decision."""
    run = factories.submitted(**policy)
    run.shares.all().delete()
    factories.share(run, *approvers)
    Run.objects.filter(pk=run.pk).update(title=title or run.title)
    run.refresh_from_db(fields=["title"])
    factories.propose(run)
    return run


def send(channel: NoticeChannel = NoticeChannel.EMAIL) -> int:
    """Send what is due, as the engine does."""
    deliveries.plan()
    return deliveries.send_due(CHANNELS[channel])


def pass_time() -> None:
    """Everything that waits is due now."""
    Delivery.objects.filter(ended_at=None).update(due_at=timezone.now())


def states(channel: NoticeChannel | None = None) -> list[tuple[str, int]]:
    """Status and attempts of all deliveries."""
    rows = Delivery.objects.filter(channel=channel) if channel else Delivery.objects.all()
    return list(rows.order_by("id").values_list("status", "tries"))
