"""Notices by webhook, after the specification Standard Webhooks 1.1.0: signed, each with an id of its own."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets

import httpx2
from django.conf import settings
from django.utils import timezone

from runs.enums import NoticeChannel
from runs.errors import InvalidInput
from runs.http_client import http_fetch
from runs.http_client.retry_after import seconds_to_wait
from runs.models import NoticeSettings, User
from runs.notices.channels.channel import DeliveryChannel, NotSent, Undeliverable
from runs.notices.messages import Message, NoticeLine
from runs.text.domains import sites

_PREFIX = "whsec_"
_SECRET_BYTES = 32
_GONE = 410
"""The answer by which a receiver says that it wants no more."""
_ASKS_TO_WAIT = frozenset({429, 503})
"""The answers with which a receiver may say after how long it wants the next attempt."""


class WebhookChannel(DeliveryChannel):
    channel = NoticeChannel.WEBHOOK
    label = "Webhook"
    sends_together = False  # a receiver knows each notice by its id

    def is_on(self) -> bool:
        return bool(settings.WEBHOOKS)

    def reaches(self, person: User, chosen: NoticeSettings) -> bool:
        return bool(chosen.webhook_address and chosen.webhook_secret)

    def send(self, message: Message) -> None:
        body = json.dumps(payload(message.lines[0]), ensure_ascii=False, separators=(",", ":")).encode()
        headers = signed(message.key, body, message.chosen.webhook_secret, int(timezone.now().timestamp()))
        try:
            check_address(message.chosen.webhook_address)
            status, retry_after = http_fetch.post(message.chosen.webhook_address, body, headers, settings.PRIVATE_HOSTS)
        except InvalidInput as error:
            raise Undeliverable(str(error)) from error
        except http_fetch.Unreachable as error:
            raise NotSent(str(error)) from error
        if status == _GONE:
            raise Undeliverable(f"The receiver answered {status}: it wants no more notices.")
        if 300 <= status < 400:
            raise NotSent(f"The receiver answered {status}. Redirects are not followed: give their target.")
        if not 200 <= status < 300:
            wait = seconds_to_wait(retry_after, timezone.now()) if status in _ASKS_TO_WAIT else None
            raise NotSent(f"The receiver answered {status}.", wait_seconds=wait or 0)


def payload(line: NoticeLine) -> dict[str, object]:
    """The body of a webhook. `type` and `timestamp` are those of the specification."""
    notice = line.notice
    data = {"title": line.subject, "link": line.link}
    if notice.run_id:
        data |= {"run": str(notice.run_id)}
    if notice.due_at:
        data |= {"due_at": notice.due_at.isoformat()}
    if line.question:
        data |= {"question": line.question}
    return {"type": f"notice.{notice.kind}", "timestamp": notice.created_at.isoformat(), "data": data}


def signed(key: str, body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """The headers of a message. The signature covers id, time and body, so that none of them can be exchanged."""
    signature = hmac.digest(_key(secret), f"{key}.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "Content-Type": "application/json",
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }


def new_secret() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error as error:
        raise Undeliverable("The secret of the webhook cannot be read. Save its address again.") from error


def check_address(address: str) -> None:
    """Raises InvalidInput for a host that the settings do not allow. Where its name leads is checked at each use."""
    try:
        url = httpx2.URL(address.strip())
    except (httpx2.InvalidURL, ValueError) as error:
        raise InvalidInput("This is not the address of a webhook. It begins with https://.") from error
    if url.scheme not in {"https", "http"} or not url.host:
        raise InvalidInput("This is not the address of a webhook. It begins with https://.")
    if url.userinfo:
        raise InvalidInput("The address of a webhook has no user name or password in it.")
    host = url.raw_host.decode()
    if not (host in settings.PRIVATE_HOSTS or sites(settings.WEBHOOKS).has(host)):
        raise InvalidInput(f"This installation sends nothing to {host}. An administrator can allow it: PEV_WEBHOOKS.")
    if url.scheme == "http" and host not in settings.PRIVATE_HOSTS:
        raise InvalidInput("Nothing is sent without TLS. The address must begin with https://.")


CHANNEL = WebhookChannel()
