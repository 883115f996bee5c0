"""All channels."""

from __future__ import annotations

from runs.enums import NoticeChannel
from runs.notices.channels import chat_channel, email_channel, webhook_channel
from runs.notices.channels.channel import DeliveryChannel

CHANNELS: dict[NoticeChannel, DeliveryChannel] = {
    one.channel: one for one in (email_channel.CHANNEL, chat_channel.CHANNEL, webhook_channel.CHANNEL)
}


def channels_on() -> list[DeliveryChannel]:
    """Those that the installation has."""
    return [one for one in CHANNELS.values() if one.is_on()]
