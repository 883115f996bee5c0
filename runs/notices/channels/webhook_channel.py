"""Notices by webhook, after the specification Standard Webhooks 1.1.0: signed, each with an id of its own."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from datetime import datetime
from typing import Annotated, Literal

import httpx2
from django.conf import settings
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field

from runs.enums import NoticeChannel, NoticeKind
from runs.errors import InvalidInput
from runs.http_client import http_fetch
from runs.http_client.retry_after import seconds_to_wait
from runs.models import NoticeSettings, User
from runs.notices.channels.channel import DeliveryChannel, NotSent, Undeliverable
from runs.notices.kinds import CHOOSABLE
from runs.notices.messages import Message, NoticeLine
from runs.readmodel.representations import GateDetails, Reader, Status, gate_details, status_of
from runs.text.domains import sites

_PREFIX = "whsec_"
_SECRET_BYTES = 32
_GONE = 410
"""The answer by which a receiver says that it wants no more."""
_ASKS_TO_WAIT = frozenset({429, 503})
"""The answers with which a receiver may say after how long it wants the next attempt."""
MAX_BODY_BYTES = 64 * 1024
SENT_KINDS = (*(one.kind for one in CHOOSABLE), NoticeKind.TEST)
"""The kinds of notices that go by webhooks: those that a person chooses, and tests."""


class WebhookData(BaseModel):
    """What a notice is about. `status` and `decision` are what the REST API answers to this person at
    `status_address` and `decision_address`, as of the time of sending. `decision` is only there if the installation
    sets `PEV_NOTICE_CONTENT=details`.
    """

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(description="A sentence for people, with the title of the run.")]
    link: Annotated[str, Field(description="The page for it. The link alone decides nothing.")]
    run: Annotated[str, Field(description="The number of the run.", examples=["41"])] = ""
    due_at: Annotated[datetime | None, Field(description="The end of the time for the decision.")] = None
    question: Annotated[str, Field(description="The beginning of the question, if this installation sends it.")] = ""
    status_address: str = ""
    decision_address: str = ""
    status: Status | None = None
    decision: GateDetails | None = None
    left_out: Annotated[
        list[Literal["status", "decision"]], Field(description="What would have made the message too large.")
    ] = []


class WebhookBody(BaseModel):
    """The body of a webhook, in the form of Standard Webhooks."""

    model_config = ConfigDict(extra="forbid")

    type: Annotated[str, Field(json_schema_extra={"enum": [f"notice.{kind}" for kind in SENT_KINDS]})]
    timestamp: Annotated[datetime, Field(description="When the notice was written.")]
    data: WebhookData


class WebhookChannel(DeliveryChannel):
    channel = NoticeChannel.WEBHOOK
    label = "Webhook"
    sends_together = False  # a receiver knows each notice by its id

    def is_on(self) -> bool:
        return bool(settings.WEBHOOKS)

    def reaches(self, person: User, chosen: NoticeSettings) -> bool:
        return bool(chosen.webhook_address and chosen.webhook_secret)

    def send(self, message: Message) -> None:
        body = body_of(message.lines[0])
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


def body_of(line: NoticeLine) -> bytes:
    """The body of a webhook. A representation that would make it larger than `MAX_BODY_BYTES` is left out, the larger
    one first.
    """
    notice = line.notice
    reader = Reader(notice.user, settings.PUBLIC_URL, reads_decisions=settings.NOTICE_CONTENT != "title")
    data: dict[str, object] = {"title": line.subject, "link": line.link}
    represented: dict[str, object] = {}
    if notice.run_id:
        data["run"] = str(notice.run_id)
        if settings.API:
            data["status_address"] = reader.address("api:read_status", notice.run_id)
        if run := reader.run(notice.run_id):
            represented["status"] = status_of(reader, run)
    if notice.gate_id:
        if settings.API:
            data["decision_address"] = reader.address("api:read_gate", notice.gate_id)
        if settings.NOTICE_CONTENT == "details" and (gate := reader.gate(notice.gate_id)):
            represented["decision"] = gate_details(reader, gate)
    if notice.due_at:
        data["due_at"] = notice.due_at
    if line.question:
        data["question"] = line.question
    for left_out in ([], ["decision"], ["decision", "status"]):
        carried = {name: value for name, value in represented.items() if name not in left_out}
        body = WebhookBody.model_validate(
            {
                "type": f"notice.{notice.kind}",
                "timestamp": notice.created_at,
                "data": data | carried | {"left_out": [name for name in left_out if name in represented]},
            }
        )
        sent = body.model_dump_json(exclude_unset=True).encode()
        if len(sent) <= MAX_BODY_BYTES:
            break
    return sent


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
