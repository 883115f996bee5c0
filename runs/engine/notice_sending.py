"""Sends the notices that are due, each channel in a thread of its own: a slow one holds up no other."""

import logging
import threading

from django.db import connection

from runs.enums import NoticeChannel
from runs.notices import deliveries
from runs.notices.channels.channel import DeliveryChannel
from runs.notices.channels.registry import CHANNELS

log = logging.getLogger(__name__)
_LAST_MESSAGE = 5.0
"""Seconds for which an ending process waits for the message that it is sending."""


class NoticeSender:
    """Threads that live while something is due. They are no workers: all of those may be waiting for a model."""

    def __init__(self) -> None:
        self._threads: dict[NoticeChannel, threading.Thread] = {}
        self._stop = threading.Event()

    def refresh(self) -> None:
        """Plan the deliveries of new notices, and start threads for those that are due."""
        deliveries.plan()
        for channel in deliveries.channels_with_work():
            thread = self._threads.get(channel)
            if not self._stop.is_set() and not (thread and thread.is_alive()):
                thread = threading.Thread(target=self._send, args=[CHANNELS[channel]], name="notices", daemon=True)
                self._threads[channel] = thread
                thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads.values():
            thread.join(_LAST_MESSAGE)

    def _send(self, channel: DeliveryChannel) -> None:
        try:
            deliveries.send_due(channel, self._stop.is_set)
        except Exception:
            log.exception("notices could not be sent; the next poll tries again")
        finally:
            connection.close()
