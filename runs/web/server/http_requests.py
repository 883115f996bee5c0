"""Requests on a connection: bodies are limited while they arrive, and given to the pages in pieces."""

from __future__ import annotations

import asyncio
import ipaddress
from http import HTTPStatus
from io import BytesIO
from typing import IO, Any

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from django.http.cookie import parse_cookie
from twisted.web.http import HTTPChannel

from runs.errors import NotAllowed
from runs.people import access_tokens
from runs.web.live.subscribers import from_database
from runs.web.server.connections import Connection, Form, Phase, refusal
from runs.web.server.server_limits import has_room, is_for_programs, max_body, max_unknown
from runs.web.site.admission import token_in
from runs.web.site.headers import always
from runs.web.site.problems import FAILED, MEDIA_TYPE, NOT_UNDERSTOOD, problem_json, reads_problems
from runs.web.site.sessions import holder

_SIGNED_OUT = "Files can be sent only by someone who has signed in. Nothing was stored. Sign in and send them again."
_TOKENLESS = "So long a message is taken only with an access token that works. Nothing was stored."
_NO_ROOM = (
    "There is not enough free space on the server's disk for these files. Nothing was stored. "
    "Send fewer, or ask the administrator of this site to make room."
)


class Channel(HTTPChannel):
    """Consecutive requests on one connection, whose phases it sets."""

    maxHeaders = 100
    transport: Connection

    def _respondToBadRequestAndDisconnect(self) -> None:
        """Twisted cannot read the request. Without a first line that it can read, no one knows what was asked for."""
        if reads_problems(getattr(self, "_path", b"").decode("latin-1")):
            self.transport.write(refusal(HTTPStatus.BAD_REQUEST, NOT_UNDERSTOOD, Form.PROBLEM))
            self.loseConnection()
        else:
            super()._respondToBadRequestAndDisconnect()

    def allHeadersReceived(self) -> None:
        self.transport.enter(Phase.BODY)
        # Twisted tells a request what was asked for when its body is whole; limits depend on it.
        self.requests[-1].method, self.requests[-1].uri = self._command, self._path
        super().allHeadersReceived()

    def allContentReceived(self) -> None:
        if self.transport.phase is Phase.REFUSED:
            return
        self.transport.enter(Phase.ANSWER)
        super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        self.transport.enter(Phase.IDLE)  # before: the next request may have come already
        super().requestDone(request)

    def pauseProducing(self) -> None:
        self.transport.stall()
        super().pauseProducing()
        if self.transport.phase is Phase.SOCKET:  # or a browser that sends pings and reads no pong fills the memory
            self.transport.pauseProducing()

    def resumeProducing(self) -> None:
        self.transport.drain()
        super().resumeProducing()
        if self.transport.phase is Phase.SOCKET:
            self.transport.resumeProducing()


class Request(WebRequest):
    """A request whose complete body is in `body`, a file, until the answer has been sent."""

    transport: Connection

    def __init__(self, channel: Channel, queued: int) -> None:
        # Pages read forms themselves; Twisted would take the whole body into memory for it.
        super().__init__(channel, queued, parsePOSTFormSubmission=False)
        self.body: IO[bytes] = BytesIO()
        self.content: IO[bytes] | None = None
        self._received = 0
        self._max = 0
        self._admission: asyncio.Task[None] | None = None

    def gotLength(self, length: int | None) -> None:
        """The headers have arrived. `length` is the announced one; None for a body in chunks."""
        self._max = max_body(self.method, self.uri, self._cookies)
        if length is not None and length > self._max:
            self._refuse_size()
            return
        super().gotLength(length)
        unknown = max_unknown(self.uri)
        if self._max > unknown and (length is None or length > unknown):
            self.server.uploads[self] = length or self._max
            self._admission = asyncio.ensure_future(self._admit())

    @property
    def _cookies(self) -> bytes:
        return b"; ".join(self.requestHeaders.getRawHeaders(b"cookie", []))

    async def _admit(self) -> None:
        """Files are taken from those who have signed in, long messages from programs with a token, while the disk has
        room. Nothing is read until that is known.

        It is counted with all that others are sending: each of them found room, but not room for all.
        """
        connection = self.transport
        connection.pauseProducing()
        try:
            known = await from_database(self._is_known)
            if connection.phase is not Phase.BODY:
                return  # it came in chunks and was so short that it is whole already
            if not known:
                connection.refuse(
                    HTTPStatus.FORBIDDEN, _TOKENLESS if is_for_programs(self.uri) else _SIGNED_OUT, self._form
                )
            elif not has_room(sum(self.server.uploads.values())):
                connection.refuse(HTTPStatus.INSUFFICIENT_STORAGE, _NO_ROOM, self._form)
            else:
                connection.enter(Phase.UPLOAD)
        finally:
            connection.resumeProducing()

    def _is_known(self) -> bool:
        """Whether the sender may use the site. Asks the database."""
        if is_for_programs(self.uri):
            token = token_in(self.requestHeaders.getRawHeaders(b"authorization", []))
            return access_tokens.usable_token(token) is not None
        return is_signed_in(parse_cookie(self._cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME, ""))

    @property
    def _form(self) -> Form:
        if reads_problems(self.uri.decode("latin-1")):
            return Form.PROBLEM
        accepted = self.requestHeaders.getRawHeaders(b"accept", [b""])[0]
        return Form.JSON if b"application/json" in accepted else Form.PAGE

    def _refuse_size(self) -> None:
        sentence = (
            f"The request is larger than the {self._max:,} bytes that this address takes. Nothing was stored. "
            "Send less; if you were sending files, sign in first."
        )
        self.transport.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence, self._form)

    def handleContentChunk(self, data: bytes) -> None:
        if self.transport.phase is Phase.REFUSED:
            return
        self._received += len(data)
        if self._received > self._max:
            self._refuse_size()
        else:
            super().handleContentChunk(data)

    def process(self) -> Any:
        """Answer the request. Daphne gets an empty body, because it would put all of it into memory; `Server` passes it
        on.
        """
        self.requestHeaders.removeHeader(b"daphne-root-path")  # says where the site lies: not for clients to choose
        connection = self.transport
        if settings.TLS:
            connection.reported = reported_address(self.requestHeaders.getRawHeaders(b"x-forwarded-for", []))
            self.client = connection.getPeer()
        assert self.content is not None
        self.body, self.content = self.content, BytesIO()
        done = super().process()
        if self.transport is None:  # Daphne has given it to a web socket
            connection.enter(Phase.SOCKET)
            self._forget()
        return done

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Daphne's answer to a request that it cannot pass on, and to one at which the pages have failed."""
        if self._form is not Form.PROBLEM:
            super().basic_error(status, status_text, body)
            return
        sentence = FAILED if status >= HTTPStatus.INTERNAL_SERVER_ERROR else NOT_UNDERSTOOD
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"cache-control", b"no-store"), *always()]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": problem_json(status, sentence)})

    def finish(self) -> None:
        self._forget()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        self._forget()
        super().connectionLost(reason)

    def _forget(self) -> None:
        self.body.close()
        self.server.uploads.pop(self, None)
        if self._admission is not None:
            self._admission.cancel()


class Pages(HTTPFactory):
    """Makes our channels instead of Daphne's. Daphne's timer is off, because `Connections` measures all times."""

    protocol = Channel
    noisy = False

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        self.timeOut = None

    def buildProtocol(self, addr: Any) -> Any:
        channel = super().buildProtocol(addr)
        channel.requestFactory = Request
        return channel


def is_signed_in(session_key: str) -> bool:
    """Whether this is the session of a person who may use the site."""
    try:
        holder(session_key)
    except NotAllowed:
        return False
    return True


def reported_address(values: list[bytes]) -> str | None:
    """The last address of X-Forwarded-For, which the proxy saw. The client claims those before it."""
    last = values[-1].rpartition(b",")[2].strip().decode("latin-1") if values else ""
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return None
