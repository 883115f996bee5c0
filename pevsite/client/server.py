"""The REST API of a server: requests that are sent again where that is safe, its answers, and what refusals mean."""

from __future__ import annotations

import re
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, Annotated, Any

import httpx2
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from pevsite.client.account import Account
from pevsite.client.terminal import Failed, one_line
from pevsite.installation import PROGRAM
from runs.http_client.idempotency_key import LEASE
from runs.http_client.retry_after import seconds_to_wait

MAX_TRIES = 5
STREAM_SECONDS = 240.0
"""How long to wait in all, before a run is no longer followed: a server that restarts ends no `watch`."""
IN_PROGRESS_SECONDS = LEASE.total_seconds() + 30
"""How long to wait in all for a request that the server is working on already: until after it lets the same request be
carried out again.
"""
MAX_EMPTY_STREAMS = 3
"""Streams in a row that bring nothing, before events are asked for instead."""
MAX_BACK_OFF_SECONDS = 30.0
MIN_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS = 120.0
"""The longest that one `Retry-After` is obeyed. The API counts requests by minutes."""
SAID_WAIT_SECONDS = 5.0
"""From so many seconds on, a person learns what is waited for."""
POLL_SECONDS = 2.0
"""Between two requests for new events, where no stream arrives."""
MAX_EVENT_BYTES = 50_000_000
"""Bytes of one event of a stream, in all its lines. Without a limit, a server could fill the memory."""
EVENT_STREAM = "text/event-stream"
_TIMEOUT = httpx2.Timeout(60, connect=20)  # a stream has a heartbeat each 15 seconds
_BUSY = {429, 502, 503, 504}
"""The statuses after which a request is sent again, also without `Retry-After`."""
type Line = Annotated[str, AfterValidator(one_line)]
"""Text that is shown to a person."""
_NO_STREAM = f"No stream of events arrives from the server. Asking every {POLL_SECONDS:g} seconds instead."


class SubmittedRun(BaseModel):
    run: int
    title: Line
    address: Line
    left_out: list[Line]
    remarks: list[Line]
    approval: Line


class NotTaken(BaseModel):
    path: Line
    sentence: Line
    secret: bool = False


class Upload(BaseModel):
    upload: uuid.UUID
    not_taken: list[NotTaken]


class OpenDecision(BaseModel):
    """A decision that a run waits for."""

    gate: int
    question: Line
    yours: bool
    address: Line


class Status(BaseModel):
    """`decisions` is None if the token does not allow to see them."""

    run: int
    title: Line
    state: Line
    sentence: Line
    steps_done: int
    steps: int
    cost_usd: float
    decisions: list[OpenDecision] | None
    address: Line


class UnmetCriterion(BaseModel):
    label: Line
    text: Line


class ResultPoint(BaseModel):
    number: int
    text: Line


class Gate(BaseModel):
    """A decision. The lines of `about` are indented."""

    gate: int
    run: int
    title: Line
    kind: Line
    status: Line
    question: Line
    verbs: list[Line]
    fingerprint: str
    assigned_to: Line | None = None
    due_at: datetime | None
    address: Line
    about: list[str] = []
    criteria: list[UnmetCriterion] = []
    points: list[ResultPoint] = []


class Gates(BaseModel):
    gates: list[Gate]


class Event(BaseModel):
    """An event of a run, with all that the server says of it."""

    model_config = ConfigDict(extra="allow")

    seq: int
    kind: str = ""
    sentence: str


class Events(BaseModel):
    """`next`: the number of the last event so far. `finished`: no event follows these."""

    events: list[Event]
    next: int
    finished: bool


class FileLine(BaseModel):
    path: str
    change: str
    bytes: int
    sha256: str


class Files(BaseModel):
    files: list[FileLine]
    next_offset: int | None


def read[Answer: BaseModel](kind: type[Answer], value: object) -> Answer:
    """The answer of a server. Raises Failed for one that this version does not understand."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise Failed("The server is of another version, whose answer this command does not understand.") from error


class ConnectionLost(Failed):
    """A connection broke off while an answer was on its way. `is_silent`: the server sent nothing any more."""

    def __init__(self, url: str, *, is_silent: bool) -> None:
        super().__init__(f"The connection to {url} broke off. Start the command again.")
        self.is_silent = is_silent


class Server:
    """The API as the person of the access token.

    `note` is called with a sentence when something takes longer. `transport` and `wait` are others in tests.
    """

    def __init__(
        self,
        account: Account,
        transport: httpx2.BaseTransport | None = None,
        wait: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda _sentence: None,
    ) -> None:
        self.url = account.url
        self._wait = wait
        self._note = note
        try:
            self._client = httpx2.Client(
                base_url=f"{account.url}/api/v1",
                headers={"Authorization": f"Bearer {account.token}", "User-Agent": "pevsite"},
                timeout=_TIMEOUT,
                transport=transport,  # redirects are not followed: the token is for this server
            )
        except OSError as error:
            raise Failed(f"The certificates in SSL_CERT_FILE cannot be read: {error.strerror or error}.") from error

    def get(self, path: str, **query: str | int) -> Any:
        """The JSON of an answer. Raises Failed."""
        return self._whole(_json_of, "GET", path, params=query)

    def post(self, path: str, *, key: str = "", **body: Any) -> Any:
        """The JSON of an answer. Raises Failed.

        The request has an Idempotency-Key, a new one unless `key` is given. So it is sent again if the server was busy
        or the connection broke off: the server does the work once.
        """
        return self._whole(_json_of, "POST", path, headers={"Idempotency-Key": key or uuid.uuid4().hex}, **body)

    def delete(self, path: str) -> None:
        """Raises Failed."""
        with self._answer("DELETE", path):
            return

    def download(self, path: str, into: IO[bytes], **query: str | int) -> str:
        """Write the bytes of an answer, and return their media type. Raises Failed, and OSError if they cannot be
        written.
        """

        def write(response: httpx2.Response) -> str:
            into.seek(0)
            into.truncate()  # of what was written before the connection broke off
            for chunk in response.iter_bytes():
                into.write(chunk)
            return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()

        return self._whole(write, "GET", path, params=query)

    def _whole[T](self, take: Callable[[httpx2.Response], T], method: str, path: str, **request: Any) -> T:
        """What `take` makes of an answer; it is asked for again if the connection breaks off."""
        for number in range(MAX_TRIES):
            try:
                with self._answer(method, path, **request) as response:
                    return take(response)
            except ConnectionLost:
                if number == MAX_TRIES - 1:
                    raise
                self._pause(_back_off(number), f"The connection to {self.url} broke off")
        raise AssertionError("there is at least one try")

    def events(self, run: int) -> Iterator[Events]:
        """All events of a run, and those that happen, until no event follows: as they arrive, several at a time.

        They come as a stream, which is opened again after the last event whenever it breaks off; or else by asking
        again and again. Raises Failed.
        """
        since = empty = 0
        while empty < MAX_EMPTY_STREAMS:
            is_alive = is_silent = False
            try:
                with self._stream(run, since) as response:
                    if not response.headers.get("Content-Type", "").startswith(EVENT_STREAM):
                        break
                    for page in _pages(response, since):
                        is_alive, since = True, page.next
                        if page.events or page.finished:
                            yield page
                        if page.finished:
                            return
            except ConnectionLost as error:
                is_silent = error.is_silent
            empty = 0 if is_alive else empty + 1
            if is_silent and empty:
                break
            self._wait(_back_off(empty))
        self._note(_NO_STREAM)
        yield from self._polled(run, since)

    @contextmanager
    def _stream(self, run: int, since: int) -> Iterator[httpx2.Response]:
        # Not compressed, because a proxy that compresses collects events first.
        headers = {"Accept": EVENT_STREAM, "Accept-Encoding": "identity", "Last-Event-ID": str(since)}
        address, query = f"/runs/{run}/events", {"since": since}
        with self._answer("GET", address, is_stream=True, params=query, headers=headers) as response:
            yield response

    def _polled(self, run: int, since: int) -> Iterator[Events]:
        while True:
            page = read(Events, self.get(f"/runs/{run}/events", since=since))
            since = page.next
            if page.events or page.finished:
                yield page
            if page.finished:
                return
            self._wait(POLL_SECONDS)

    @contextmanager
    def _answer(self, method: str, path: str, *, is_stream: bool = False, **request: Any) -> Iterator[httpx2.Response]:
        """An answer of success, whose body is not read yet. Raises Failed, and ConnectionLost while it is read."""
        tries, waited = 1, 0.0
        while True:
            is_last = waited >= STREAM_SECONDS if is_stream else tries >= MAX_TRIES
            seconds = _back_off(tries - 1)
            try:
                response = self._client.send(self._client.build_request(method, path, **request), stream=True)
            except httpx2.HTTPError as error:
                if is_stream and isinstance(error, httpx2.ReadTimeout):
                    raise ConnectionLost(self.url, is_silent=True) from error
                refused = _refused_certificate(error)
                if is_last or refused or not isinstance(error, httpx2.TransportError):
                    raise self._unreachable(error, refused) from error
                self._pause(seconds, f"{self.url} cannot be reached")
                tries, waited = tries + 1, waited + seconds
                continue
            try:
                if response.is_success:
                    yield response
                    return
                response.read()
            except httpx2.HTTPError as error:
                raise ConnectionLost(self.url, is_silent=isinstance(error, httpx2.TimeoutException)) from error
            finally:
                response.close()
            asked = seconds_to_wait(response.headers.get("Retry-After", ""), datetime.now(UTC))
            # A conflict that passes: the server is still working on the same request, which it did not answer in time.
            is_in_progress = response.status_code == httpx2.codes.CONFLICT and asked is not None
            if is_in_progress:
                is_last = waited >= IN_PROGRESS_SECONDS
            is_busy = response.status_code in _BUSY or is_in_progress
            if is_last or not is_busy or (asked or 0) > MAX_WAIT_SECONDS:
                raise self._failure(response)
            if asked is not None:
                seconds = max(MIN_WAIT_SECONDS, asked)
            self._pause(seconds, f"{self.url} is busy")
            tries, waited = tries if is_in_progress else tries + 1, waited + seconds

    def _pause(self, seconds: float, why: str) -> None:
        if seconds >= SAID_WAIT_SECONDS:
            self._note(f"{why}. Trying again in {seconds:.0f} seconds.")
        self._wait(seconds)

    def _unreachable(self, error: httpx2.HTTPError, refused: str) -> Failed:
        if refused:
            return Failed(
                f"The certificate of {self.url} is not trusted: {refused}. Nothing was sent. If your organisation "
                "issues certificates itself, name the file with its own in SSL_CERT_FILE."
            )
        return Failed(f"{self.url} cannot be reached: {_reason(error)}. Check the address.")

    def _failure(self, response: httpx2.Response) -> Failed:
        status, sentence = response.status_code, _sentence_of(response)
        scope = re.search(r'scope="([a-z:]{1,40})"', response.headers.get("WWW-Authenticate", ""))
        if response.has_redirect_location:
            sentence = f"{self.url} sends requests on to {response.headers['Location'][:200]}. Sign in at that address."
        elif not sentence:
            sentence = f"{self.url} answered with status {status} and no reason. Is pevsite at this address?"
        elif status == httpx2.codes.UNAUTHORIZED:
            sentence = f"{sentence} The page is {self.url}/access-tokens/. Sign in with “{PROGRAM} login {self.url}”."
        elif scope:
            sentence = (
                f"{sentence} Make a token with the scope {scope[1]} at {self.url}/access-tokens/, and sign in with "
                f"“{PROGRAM} login {self.url}”."
            )
        return Failed(sentence, status=status)


def _back_off(tries: int) -> float:
    """Seconds to wait before the next try."""
    return min(MAX_BACK_OFF_SECONDS, 2.0**tries)


def _pages(response: httpx2.Response, since: int) -> Iterator[Events]:
    """The events of a stream, those that arrive together on one page; an empty page where only a heartbeat arrives.

    Raises Failed for a stream that cannot be understood.
    """
    rest, kind, data, size = b"", "", list[str](), 0
    for chunk in response.iter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        found, is_end = list[Event](), False
        for line in lines:
            name, _, value = line.rstrip(b"\r").decode(errors="replace").partition(":")
            if name == "event":
                kind = value.strip()
            elif name == "data":
                data.append(value.removeprefix(" "))
                size += len(line)
            elif not line.rstrip(b"\r"):  # an empty line ends an event
                is_end = is_end or kind == "end"
                if data and kind != "end":
                    found.append(_event_of("\n".join(data)))
                kind, data, size = "", [], 0
        if size + len(rest) > MAX_EVENT_BYTES:
            raise Failed("The server sends an event that is too large.")
        since = found[-1].seq if found else since
        yield Events(events=found, next=since, finished=is_end)


def _event_of(data: str) -> Event:
    try:
        return Event.model_validate_json(data)
    except ValidationError as error:
        raise Failed("The server is of another version, whose events this command does not understand.") from error


def _json_of(response: httpx2.Response) -> Any:
    response.read()
    try:
        return response.json()
    except ValueError as error:
        raise Failed("The answer cannot be read. Is pevsite at this address?", status=response.status_code) from error


def _sentence_of(response: httpx2.Response) -> str:
    """The sentence of problem details, with the fields that cannot be used; empty if the answer has none. Fields are
    named without the part of the request that they are in.
    """
    try:
        problem = response.json()
        sentence, fields = str(problem["detail"]), list[str]()
        for one in problem.get("fields", []):
            name = one["where"].partition(".")[2] or one["where"]
            for end in (", ", ". "):  # of a name in a list of them: a longer one may begin like it
                sentence = sentence.replace(one["where"] + end, name + end)
            fields.append(f"{name}: {one['sentence']}.")
        return one_line(" ".join([sentence, *fields]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""


def _reason(error: httpx2.HTTPError) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return "it did not answer in time"
    return str(error).rstrip(".") or type(error).__name__


def _refused_certificate(error: BaseException | None) -> str:
    """Why the certificate of the server was refused; empty if it was not."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return (error.verify_message or str(error)).rstrip(".")
        error = error.__cause__ or error.__context__
    return ""
