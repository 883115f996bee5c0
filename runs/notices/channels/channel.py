"""What each channel declares."""

from __future__ import annotations

from abc import ABC, abstractmethod

from runs.enums import NoticeChannel
from runs.errors import PevError
from runs.models import NoticeSettings, User
from runs.notices.messages import Message


class NotSent(PevError):
    """It could not be sent now, and is tried again later. The message is a sentence, with the words of the server.

    `everyone`: no message of this channel can be sent now. `wait_seconds`: for how long the server asks to wait.
    """

    def __init__(self, sentence: str, *, everyone: bool = False, wait_seconds: float = 0) -> None:
        super().__init__(sentence)
        self.everyone = everyone
        self.wait_seconds = wait_seconds


class Undeliverable(PevError):
    """It can never be sent to where the person wants it. The message is a sentence."""


class DeliveryChannel(ABC):
    """`label`: in the settings of a person. `sends_together`: whether several notices become one message."""

    channel: NoticeChannel
    label: str
    sends_together = True

    @abstractmethod
    def is_on(self) -> bool:
        """Whether the installation has this channel."""

    @abstractmethod
    def reaches(self, person: User, chosen: NoticeSettings) -> bool:
        """Whether the person has an address for it."""

    @abstractmethod
    def send(self, message: Message) -> None:
        """Raises NotSent or Undeliverable."""
