"""The connections of a server: their number, what each waits for and since when, and when it is cut."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from html import escape
from http import HTTPStatus
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.protocol import Protocol
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory

from runs.web.server.server_limits import Patience
from runs.web.site.problems import MEDIA_TYPE, problem_json, reads_problems

MAX_TURNED_AWAY = 50
"""Connections beyond the limit that are open at once, because they have not read yet that there is no room."""
MAX_FIRST_LINE = 4_096
"""Bytes that are read of a connection for which there is no room."""
_FULL = "All connections of this site are in use. Try again in a moment."


class Phase(StrEnum):
    """In every phase but `ANSWER` and `SOCKET` the server waits for the client."""

    IDLE = "idle"  # between two requests
    HEADERS = "headers"
    BODY = "body"
    UPLOAD = "upload"  # the body of a person who has signed in
    ANSWER = "answer"
    SOCKET = "socket"
    CLOSING = "closing"
    REFUSED = "refused"
    CUT = "cut"


_CAN_BE_CUT = {Phase.IDLE, Phase.HEADERS, Phase.BODY, Phase.CLOSING, Phase.REFUSED}
_ENDING = {Phase.CLOSING, Phase.REFUSED, Phase.CUT}


class Form(StrEnum):
    """What a client reads: a person a page, a script of a page its own JSON, and a program problem details."""

    PAGE = "text/html; charset=utf-8"
    JSON = "application/json"
    PROBLEM = MEDIA_TYPE


class Connection(ProtocolWrapper):
    """The connection of one client, between the transport and the protocol that is spoken on it."""

    factory: Connections

    def __init__(self, factory: Connections, wrapped: Any) -> None:
        super().__init__(factory, wrapped)
        self.can_write = asyncio.Event()
        self.can_write.set()
        self.reported: str | None = None
        self._stalled_since: float | None = None
        self.enter(Phase.HEADERS)

    def enter(self, phase: Phase) -> None:
        """Begin another phase, and its time."""
        self.phase = phase
        self.since = self.factory.now()
        self._received = 0

    def dataReceived(self, data: bytes) -> None:
        if self.phase in _ENDING:
            return  # what still comes from whoever was refused is dropped, so that the answer can be read
        if self.phase is Phase.IDLE:
            self.enter(Phase.HEADERS)
        self._received += len(data)
        super().dataReceived(data)

    def getPeer(self) -> Any:
        """The address of the client, as a trusted proxy has reported it if there is one."""
        peer = self.transport.getPeer()
        if self.reported is None:
            return peer
        return (IPv6Address if ":" in self.reported else IPv4Address)("TCP", self.reported, 0)

    # ---- what goes out

    def write(self, data: bytes) -> None:
        if self.phase not in {Phase.REFUSED, Phase.CUT}:
            super().write(data)

    def writeSequence(self, data: Any) -> None:
        if self.phase not in {Phase.REFUSED, Phase.CUT}:
            super().writeSequence(data)

    def stall(self) -> None:
        """The buffer is full: write nothing more until the client has read it."""
        self.can_write.clear()
        self._stalled_since = self.factory.now()

    def drain(self) -> None:
        self.can_write.set()
        self._stalled_since = None

    def loseConnection(self) -> None:
        """Close when everything that was written has been read, or after a while."""
        if self.phase not in _ENDING:
            self.enter(Phase.CLOSING)
        self.drain()
        super().loseConnection()

    def connectionLost(self, reason: Any) -> None:
        self.drain()  # whoever waits to write finds out that there is no one to write to
        super().connectionLost(reason)

    def refuse(
        self, status: HTTPStatus, sentence: str, form: Form = Form.PAGE, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer with one sentence, read nothing more, and close. The client has a moment to read it."""
        self.write(refusal(status, sentence, form, headers))
        self.enter(Phase.REFUSED)
        self.transport.loseWriteConnection()  # closing at once would take the answer away

    def cut(self) -> None:
        """Close at once, whatever is in progress."""
        self.enter(Phase.CUT)
        self.transport.abortConnection()

    # ---- time

    def is_overdue(self, patience: Patience, now: float) -> bool:
        """Whether the client has kept the server waiting for longer than allowed."""
        if self._stalled_since is not None and now - self._stalled_since > patience.stalled:
            return True
        waited = now - self.since
        match self.phase:
            case Phase.IDLE:
                return waited > patience.idle
            case Phase.HEADERS:
                return waited > patience.headers
            case Phase.BODY | Phase.UPLOAD:
                return waited > patience.body + self._received / patience.body_rate
            case Phase.CLOSING:
                return waited > patience.closing
            case Phase.REFUSED:
                return waited > patience.refused
            case Phase.ANSWER | Phase.SOCKET | Phase.CUT:
                return False


class Connections(WrappingFactory[Connection]):
    """All connections of a server. If there are too many, the connection that has kept the server waiting longest
    is closed.
    """

    protocol = Connection
    noisy = False

    def __init__(self, factory: Any, most: int, patience: Patience, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(factory)
        self.now = now
        self._max = most
        self._patience = patience
        self._turned_away: dict[TurnedAway, float] = {}

    def buildProtocol(self, addr: Any) -> Any:
        if len(self.protocols) < self._max or self._make_room():
            return super().buildProtocol(addr)
        return TurnedAway(self)

    def turn_away(self, one: TurnedAway) -> None:
        """Count a connection for which there is no room. If there are too many, the oldest of them is cut."""
        if len(self._turned_away) >= MAX_TURNED_AWAY:
            next(iter(self._turned_away)).cut()
        self._turned_away[one] = self.now()

    def forget(self, one: TurnedAway) -> None:
        self._turned_away.pop(one, None)

    def _make_room(self) -> bool:
        """Idle ones first: browsers open another when they need it. Nothing that is being answered is cut.

        One that has just come is not idle, or whoever opens many would push out others before they can ask.
        """
        waiting = [one for one in self.protocols if one.phase in _CAN_BE_CUT]
        if waiting:
            min(waiting, key=lambda one: (one.phase is not Phase.IDLE, one.since)).cut()
        return bool(waiting)

    def cut_overdue(self) -> None:
        """Must be called every second or two."""
        now = self.now()
        for one in list(self.protocols):
            if one.is_overdue(self._patience, now):
                one.cut()
        for turned_away, since in list(self._turned_away.items()):
            if now - since > self._patience.refused:
                turned_away.cut()


class TurnedAway(Protocol):
    """A connection for which there is no room. Only the first line of its request is read, because a program and a
    person read different answers. It is cut after a few seconds, also if that line has not come by then.
    """

    transport: Any

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._line: bytes | None = b""

    def connectionMade(self) -> None:
        self._connections.turn_away(self)

    def dataReceived(self, data: bytes) -> None:
        if self._line is None:
            return  # answered; what still comes is dropped, so that the answer can be read
        self._line += data[:MAX_FIRST_LINE]
        line, end, _ = self._line.partition(b"\n")
        if not end and len(line) < MAX_FIRST_LINE:
            return
        self._line = None
        _, _, address = line.partition(b" ")
        form = Form.PROBLEM if reads_problems(address.decode("latin-1")) else Form.PAGE
        self.transport.write(refusal(HTTPStatus.SERVICE_UNAVAILABLE, _FULL, form))
        self.transport.loseWriteConnection()  # closing at once would take the answer away

    def connectionLost(self, reason: Any = None) -> None:
        self._connections.forget(self)

    def cut(self) -> None:
        self._connections.forget(self)
        self.transport.abortConnection()


def refusal(
    status: HTTPStatus, sentence: str, form: Form = Form.PAGE, headers: Mapping[str, str] | None = None
) -> bytes:
    """A complete answer with one sentence, after which the connection is closed."""
    match form:
        case Form.PAGE:
            title = escape(status.phrase)
            body = (
                f'<!doctype html><html lang="en"><title>{title}</title><h1>{title}</h1><p>{escape(sentence)}</p>\n'
            ).encode()
        case Form.JSON:
            body = json.dumps({"errors": [sentence]}).encode()
        case Form.PROBLEM:
            body = problem_json(status, sentence)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {"Retry-After": "5"}
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {form}\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; base-uri 'none'; frame-ancestors 'none'\r\n"
        f"Referrer-Policy: same-origin\r\n{more}Connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
