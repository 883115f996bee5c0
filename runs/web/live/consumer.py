"""The socket of a page that follows a run: its address, who may open one, and what a browser may say."""

import json
import logging
from collections import Counter
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from runs.errors import NotAllowed
from runs.logs import about
from runs.models import Run, User
from runs.store.audit_trail import coming_from
from runs.web.live.access import Access, SocketIdentity, standing
from runs.web.live.news import TABS
from runs.web.live.subscribers import Channel, Subscriber, channel_of, from_database
from runs.web.site import refusals
from runs.web.site.audit_origin import origin_of_socket
from runs.web.site.requests import client_of

log = logging.getLogger(__name__)
MAX_MESSAGE = 1_000
"""Characters. A browser says nothing but the number of the last event it has."""
MAX_MESSAGES = 10
"""A browser sends one on each connection."""
MAX_SOCKETS = 30
"""Pages that one person may follow at the same time."""
TOO_LARGE, TOO_MANY = 1009, 1008
"""Close codes of the protocol."""

_open: Counter[int] = Counter()
"""How many sockets each person has open."""


class RunConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels is untyped
    """One browser that follows one tab of a run. It says once what it has seen; from then on its audience tells it."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._watcher: Subscriber | None = None
        self._audience: Channel | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:  # however it ends: the server cancels what does not notice that the browser has gone
            if self._watcher is not None and self._audience is not None:
                _open[self._watcher.person] -= 1
                self._audience.leave(self._watcher)

    async def connect(self) -> None:
        self._messages = 0
        run_id: int = self.scope["url_route"]["kwargs"]["run_id"]
        user, session = self.scope.get("user"), self.scope.get("session")
        seat = SocketIdentity(
            None if session is None else session.session_key or "", user.pk if user is not None else None
        )
        try:
            stands = await from_database(lambda: admitted(run_id, seat))
        except NotAllowed:
            name = user.get_username() if user is not None else ""
            log.warning("refused: a socket", extra=about(run=run_id, user=name, address=client_of(self.scope)))
            if isinstance(user, User):
                with coming_from(origin_of_socket(self.scope)):
                    await from_database(lambda: refusals.request_refused(user, "socket of a run", "not found", run_id))
            await self.close()
            return
        if _open[stands.person] >= MAX_SOCKETS:
            await self.close()
            return
        _open[stands.person] += 1
        self._watcher = Subscriber(seat, stands.person, self.send, self.close)
        self._watcher.ends = stands.ends
        self._audience = channel_of(run_id, tab_in(self.scope.get("query_string", b"")))
        await self._audience.join(self._watcher)
        await self.accept()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """The browser's first message names the last event it shows. Anything else is dropped."""
        if bytes_data or text_data is None or len(text_data) > MAX_MESSAGE:
            await self.close(TOO_LARGE)
            return
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            await self.close(TOO_MANY)
            return
        if self._watcher is None or self._audience is None or self._watcher.seen is not None:
            return
        self._watcher.seen = seen_in(text_data)
        self._audience.wake()

    async def disconnect(self, code: int) -> None:
        if self._watcher is not None:
            self._watcher.stop()


def admitted(run_id: int, seat: SocketIdentity) -> Access:
    """Whose socket it is. Raises NotAllowed for anyone who may not see the run, or is not signed in."""
    run = Run.objects.filter(pk=run_id).only("owner_id").first()
    found = standing(run, [seat]) if run is not None else {}
    if seat not in found:
        raise NotAllowed("You may not follow this run.")
    return found[seat]


def tab_in(query: bytes) -> str:
    """The tab that a page says it shows; empty for a page outside the tabs, which gets the fewest messages."""
    named = parse_qs(query[:MAX_MESSAGE].decode("latin-1")).get("tab", [""])[0]
    return named if named in TABS else ""


def seen_in(text: str) -> int | None:
    """The number in `{"seen": 12}`; None for whatever else a browser may send."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return None
    seen = given.get("seen") if isinstance(given, dict) else None
    return seen if type(seen) is int and seen >= 0 else None


websocket_urlpatterns: list[Any] = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    re_path(r"", WebsocketDenier.as_asgi()),
]
