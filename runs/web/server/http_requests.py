"""Requests on a connection: bodies are limited while they arrive, and given to the pages in pieces."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from http import HTTPStatus
from io import BytesIO
from typing import IO, Any

from daphne.http_protocol import HTTPFactory, WebRequest
from django.conf import settings
from django.http.cookie import parse_cookie
from twisted.web.http import HTTPChannel

from runs.errors import NotAllowed
from runs.people import access_tokens
from runs.people.access_tokens import ScopeMissing
from runs.web.live.subscribers import from_database
from runs.web.server.connections import Connection, Form, Phase
from runs.web.server.server_limits import (
    MAX_UNSIGNED_BODY,
    has_room,
    is_for_programs,
    is_message,
    max_body,
    max_unknown,
    usable_scopes,
)
from runs.web.site.admission import admitted, check_rate, lacks_scope
from runs.web.site.headers import always
from runs.web.site.problems import FAILED, MEDIA_TYPE, NOT_UNDERSTOOD, Refused, problem_json, reads_problems
from runs.web.site.sessions import holder

log = logging.getLogger(__name__)
_SIGNED_OUT = "Files can be sent only by someone who has signed in. Nothing was stored. Sign in and send them again."
_UNKNOWN = "The server could not find out whether it can take this. Nothing was stored. Try again in a moment."
_MAX_LENGTH_DIGITS = 100
_HEADERS_TOO_LARGE = (
    f"The address and the headers of the request are longer than {HTTPChannel.totalHeadersSize:,} bytes. Nothing was "
    "changed. Delete the cookies of this site, or ask for less at once."
)
_NO_ROOM = (
    "There is not enough free space on the server's disk for these files. Nothing was stored. "
    "Send fewer, or ask the administrator of this site to make room."
)


class Channel(HTTPChannel):
    """Consecutive requests on one connection, whose phases it sets."""

    maxHeaders = 100
    transport: Connection
    _last_line = b""

    def _respondToBadRequestAndDisconnect(self) -> None:
        """Twisted cannot read the request, or has read too much of it."""
        if self._receivedHeaderSize > self.totalHeadersSize:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _HEADERS_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.BAD_REQUEST, NOT_UNDERSTOOD)

    def headerReceived(self, line: bytes) -> bool:
        name, _, value = line.partition(b":")
        if len(value) > _MAX_LENGTH_DIGITS and name.strip().lower() == b"content-length":
            self._respondToBadRequestAndDisconnect()  # Python would refuse to read the number, with a traceback
            return False
        return bool(super().headerReceived(line))

    def lineReceived(self, line: bytes) -> None:
        self._last_line = line
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        self._last_line = line
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, _HEADERS_TOO_LARGE)

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        # The address of a first line that cannot be read is behind its first space.
        addresses = getattr(self, "_path", b""), self._last_line.partition(b" ")[2]
        is_problem = any(reads_problems(address.decode("latin-1")) for address in addresses)
        self.paused = True  # the lines that came with this one are not read
        self.transport.refuse(status, sentence, Form.PROBLEM if is_problem else Form.PAGE)

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
        if settings.TLS:
            self.transport.reported = reported_address(self.requestHeaders.getRawHeaders(b"x-forwarded-for", []))
            self.client = self.transport.getPeer()
        self._max = max_body(self.method, self.uri, self._cookies)
        if length is not None and length > self._max:
            self._refuse_size()
            return
        super().gotLength(length)
        unknown = max_unknown(self.uri)
        if self._max > unknown and (length is None or length > unknown):
            self._admission = asyncio.ensure_future(self._admit(length or self._max))

    @property
    def _cookies(self) -> bytes:
        return b"; ".join(self.requestHeaders.getRawHeaders(b"cookie", []))

    async def _admit(self, size: int) -> None:
        """Take a body of `size` bytes or refuse it. Nothing of it is read until that is known."""
        connection = self.transport
        if connection.phase is not Phase.BODY:
            return  # it was so short that it is whole already, and the pages find out who has sent it
        connection.pauseProducing()
        try:
            refused = await self._refusal(size)
            if connection.phase is not Phase.BODY:
                return  # it has been cut
            if refused is None:
                # Only now: what those who are refused have announced must take no room from others.
                self.server.uploads[self] = size
                connection.enter(Phase.UPLOAD)
            else:
                self._refuse(refused)
        finally:
            connection.resumeProducing()

    async def _refusal(self, size: int) -> Refused | None:
        """Why a body of `size` bytes is not taken, if it is not. Files are taken from those who have signed in, long
        messages from programs with a token, while the disk has room for all that is being sent.
        """
        try:
            await from_database(self._check_sender)
            if has_room(size + sum(self.server.uploads.values())):
                return None
        except Refused as error:
            return error
        except Exception:  # such as a database that is locked
            log.exception("could not find out whether a body can be taken")
            return Refused(HTTPStatus.SERVICE_UNAVAILABLE, _UNKNOWN)
        return Refused(HTTPStatus.INSUFFICIENT_STORAGE, _NO_ROOM)

    def _check_sender(self) -> None:
        """Raises Refused unless the sender may use the site, and a program can use this operation now. Asks the
        database.
        """
        if is_for_programs(self.uri):
            headers = self.requestHeaders.getRawHeaders(b"authorization", [])
            address = getattr(self.transport.getPeer(), "host", "")  # the socket of a proxy on this machine has none
            token = admitted(headers, address, "MCP server" if is_message(self.uri) else "REST API")
            check_rate(token)
            if scopes := usable_scopes(self.method, self.uri):
                try:
                    access_tokens.check(token, *scopes)
                except ScopeMissing as error:
                    raise lacks_scope(error) from error
        elif not is_signed_in(parse_cookie(self._cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME, "")):
            raise Refused(HTTPStatus.FORBIDDEN, _SIGNED_OUT)

    def _refuse(self, refused: Refused) -> None:
        self.server.uploads.pop(self, None)  # the connection stays until the client has read why
        self.transport.refuse(refused.status, str(refused), self._form, refused.headers)

    @property
    def _form(self) -> Form:
        if reads_problems(self.uri.decode("latin-1")):
            return Form.PROBLEM
        accepted = self.requestHeaders.getRawHeaders(b"accept", [b""])[0]
        return Form.JSON if b"application/json" in accepted else Form.PAGE

    def _refuse_size(self) -> None:
        is_signed_out = self._max == MAX_UNSIGNED_BODY
        sentence = (
            f"The request is larger than the {self._max:,} bytes that this address takes. Nothing was stored. "
            f"{'Send less, or sign in first if you are sending files.' if is_signed_out else 'Send less.'}"
        )
        self._refuse(Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence))

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
