"""Notices by anything that Apprise knows and the settings allow."""

from __future__ import annotations

import json

from django.conf import settings

from runs import isolation
from runs.enums import NoticeChannel
from runs.errors import InvalidInput
from runs.isolation import ChildFailed, Limits
from runs.models import NoticeSettings, User
from runs.notices.channels.channel import DeliveryChannel, NotSent, Undeliverable
from runs.notices.messages import Message

_LIMITS = Limits(seconds=30.0, files=64, output=10_000)
MAX_ADDRESS = 2_000


class ChatChannel(DeliveryChannel):
    channel = NoticeChannel.CHAT
    label = "Chat"

    def is_on(self) -> bool:
        return bool(settings.CHAT_SERVICES)

    def reaches(self, person: User, chosen: NoticeSettings) -> bool:
        return bool(chosen.chat_address)

    def send(self, message: Message) -> None:
        try:
            problem = _ask(message.chosen.chat_address, message.subject, message.body)
        except InvalidInput as error:
            raise Undeliverable(str(error)) from error
        except ChildFailed as error:
            raise NotSent(f"The service could not be reached: {error}.") from error
        if problem:
            raise NotSent(f"The service said: {problem}")


def check_address(address: str) -> None:
    """Raises InvalidInput for an address at which Apprise, as it is allowed here, cannot send anything."""
    if len(address) > MAX_ADDRESS:
        raise InvalidInput(f"The address has more than {MAX_ADDRESS:,} characters.")
    try:
        _ask(address, "", "")
    except ChildFailed as error:
        raise InvalidInput("The address could not be checked. Try again.") from error


def _ask(address: str, title: str, body: str) -> str:
    given = {
        "address": address,
        "allowed": sorted(settings.CHAT_SERVICES),
        "private": sorted(settings.PRIVATE_HOSTS),
        "title": title,
        "body": body,
    }
    return isolation.run("runs.notices.chat_sending.send", json.dumps(given).encode(), _LIMITS).decode(errors="replace")


CHANNEL = ChatChannel()
