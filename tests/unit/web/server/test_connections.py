"""Connections: when one is cut off, which makes room for another, and how one is refused. The clock is the test's."""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

import pytest
from twisted.internet.protocol import Factory, Protocol

from runs.web.server.connections import (
    MAX_FIRST_LINE,
    MAX_TURNED_AWAY,
    Connection,
    Connections,
    Form,
    Phase,
    TurnedAway,
)
from runs.web.server.server_limits import Patience

PATIENCE = Patience(idle=60, headers=20, body=20, body_rate=1_000, stalled=50, closing=40, refused=5)


class Line:
    """A transport on which everything that is done to it is noted."""

    disconnecting = 0

    def __init__(self) -> None:
        self.written = b""
        self.done: list[str] = []

    def write(self, data: bytes) -> None:
        self.written += data

    def loseConnection(self) -> None:
        self.done.append("loseConnection")

    def loseWriteConnection(self) -> None:
        self.done.append("loseWriteConnection")

    def abortConnection(self) -> None:
        self.done.append("abortConnection")


class Echo(Protocol):
    """Notes what reaches it."""

    def __init__(self) -> None:
        self.got = b""

    def dataReceived(self, data: bytes) -> None:
        self.got += data


class Site:
    """The connections of a server, and its clock."""

    def __init__(self, most: int = 3) -> None:
        self.clock = 0.0
        self.all = Connections(Factory.forProtocol(Echo), most, PATIENCE, lambda: self.clock)

    def dial(self, phase: Phase | None = None) -> Connection:
        made = self.all.buildProtocol(None)
        assert isinstance(made, Connection)
        made.makeConnection(Line())
        if phase:
            made.enter(phase)
        return made

    def after(self, seconds: float) -> Site:
        self.clock += seconds
        self.all.cut_overdue()
        return self


def line(connection: Connection) -> Line:
    found = connection.transport
    assert isinstance(found, Line)
    return found


def is_cut(connection: Connection) -> bool:
    return "abortConnection" in line(connection).done


@pytest.mark.parametrize(
    ("phase", "seconds"),
    [
        (Phase.IDLE, 60),
        (Phase.HEADERS, 20),
        (Phase.BODY, 20),
        (Phase.UPLOAD, 20),
        (Phase.CLOSING, 40),
        (Phase.REFUSED, 5),
    ],
)
def test_whoever_takes_longer_than_the_phase_allows_is_cut_off(phase: Phase, seconds: float) -> None:
    site = Site()
    one = site.dial(phase)
    site.after(seconds)
    assert not is_cut(one)
    site.after(1)
    assert is_cut(one)


@pytest.mark.parametrize("phase", [Phase.ANSWER, Phase.SOCKET])
def test_the_server_takes_its_own_time(phase: Phase) -> None:
    site = Site()
    one = site.dial(phase)
    site.after(100_000)
    assert not is_cut(one)


def test_headers_that_trickle_have_no_more_time() -> None:
    site = Site()
    one = site.dial()
    for _ in range(20):
        site.after(1)
        one.dataReceived(b"X-a: b\r\n")
    assert not is_cut(one)
    site.after(1)
    assert is_cut(one)


def test_a_body_has_the_time_that_its_bytes_have_earned() -> None:
    site = Site()
    one = site.dial(Phase.BODY)
    one.dataReceived(b"x" * 10_000)
    site.after(30)
    assert not is_cut(one)
    site.after(1)
    assert is_cut(one)


def test_the_time_for_headers_begins_with_their_first_byte() -> None:
    site = Site()
    one = site.dial(Phase.IDLE)
    site.after(59)
    one.dataReceived(b"G")
    site.after(20)
    assert not is_cut(one)
    site.after(1)
    assert is_cut(one)


@pytest.mark.parametrize("phase", [Phase.ANSWER, Phase.SOCKET, Phase.IDLE])
def test_whoever_reads_nothing_is_cut_off(phase: Phase) -> None:
    site = Site()
    one = site.dial(phase)
    one.stall()
    site.after(50)
    assert not is_cut(one)
    site.after(1)
    assert is_cut(one)


def test_whoever_reads_slowly_is_not() -> None:
    site = Site()
    one = site.dial(Phase.ANSWER)
    for _ in range(4):
        one.stall()
        site.after(40)
        one.drain()
    assert not is_cut(one)


def test_writing_waits_for_the_reader() -> None:
    async def waited(end: str) -> bool:
        site = Site()
        one = site.dial(Phase.ANSWER)
        one.stall()
        waiting = asyncio.create_task(one.can_write.wait())
        await asyncio.sleep(0)
        before = waiting.done()
        one.connectionLost(None) if end == "lost" else getattr(one, end)()
        await asyncio.wait_for(waiting, 60)
        return before

    for end in ("drain", "loseConnection", "lost"):
        assert asyncio.run(waited(end)) is False


def test_the_one_that_is_idle_longest_makes_room_and_then_the_one_that_waits_longest() -> None:
    site = Site(most=5)
    socket = site.dial(Phase.SOCKET)
    slow, slower = site.dial(), site.dial(Phase.BODY)
    site.clock = 1
    idle = site.dial(Phase.IDLE)
    site.clock = 2
    upload = site.dial(Phase.UPLOAD)
    cut = []
    for _ in range(3):
        before = {one for one in (socket, slow, slower, idle, upload) if is_cut(one)}
        site.dial(Phase.ANSWER)
        cut.append(next(one for one in (idle, slow, slower, socket, upload) if is_cut(one) and one not in before))
    assert cut == [idle, slow, slower]
    assert isinstance(site.all.buildProtocol(None), TurnedAway)


def test_a_connection_that_has_just_come_is_not_idle() -> None:
    site = Site(most=2)
    slow = site.dial()
    site.clock = 1
    honest = site.dial()
    site.dial()
    assert (is_cut(slow), is_cut(honest)) == (True, False)


def full_site() -> Site:
    site = Site(most=1)
    site.dial(Phase.SOCKET)
    return site


def turned_away(site: Site) -> tuple[TurnedAway, Line]:
    made, transport = site.all.buildProtocol(None), Line()
    assert isinstance(made, TurnedAway)
    made.makeConnection(transport)
    return made, transport


@pytest.mark.parametrize(
    ("first_line", "kind"),
    [
        (b"GET /api/v1/runs?limit=2 HTTP/1.1", b"application/problem+json"),
        (b"POST /api/v1/runs HTTP/1.1", b"application/problem+json"),
        (b"GET /runs/ HTTP/1.1", b"text/html; charset=utf-8"),
        (b"GET /?/api/v1/ HTTP/1.1", b"text/html; charset=utf-8"),
        (b"\xff", b"text/html; charset=utf-8"),
        (b"", b"text/html; charset=utf-8"),
    ],
)
def test_without_room_the_answer_is_a_sentence_in_the_form_that_is_read_there(first_line: bytes, kind: bytes) -> None:
    one, transport = turned_away(full_site())
    for number in range(len(first_line)):
        one.dataReceived(first_line[number : number + 1])
    assert (transport.written, transport.done) == (b"", [])
    one.dataReceived(b"\r\nHost: pevsite")
    head, _, body = transport.written.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nRetry-After: 5\r\n" in head
    assert b"\r\nContent-Type: %s\r\n" % kind in head
    assert b"All connections of this site are in use. Try again in a moment." in body
    assert transport.done == ["loseWriteConnection"]
    answered = transport.written
    one.dataReceived(b"GET / HTTP/1.1\r\n")
    assert (transport.written, transport.done) == (answered, ["loseWriteConnection"])


def test_a_first_line_without_an_end_gets_a_page() -> None:
    one, transport = turned_away(full_site())
    one.dataReceived(b"x" * (MAX_FIRST_LINE - 1))
    assert transport.written == b""
    one.dataReceived(b"x")
    assert b"\r\nContent-Type: text/html" in transport.written


@pytest.mark.parametrize("sent", [b"", b"GET /", b"GET / HTTP/1.1\r\n"])
def test_a_connection_without_room_is_cut_after_a_few_seconds(sent: bytes) -> None:
    site = full_site()
    one, transport = turned_away(site)
    site.after(4)
    one.dataReceived(sent)
    site.after(1)
    assert "abortConnection" not in transport.done
    site.after(1)
    assert transport.done[-1] == "abortConnection"
    site.after(1)
    assert transport.done.count("abortConnection") == 1


def test_of_too_many_connections_without_room_the_oldest_are_cut() -> None:
    site = full_site()
    gone, _ = turned_away(site)
    first, second = (turned_away(site)[1] for _ in range(2))
    gone.connectionLost()
    for _ in range(MAX_TURNED_AWAY - 2):
        turned_away(site)
    assert (first.done, second.done) == ([], [])
    turned_away(site)
    assert (first.done, second.done) == (["abortConnection"], [])


def test_whoever_is_refused_is_told_why_and_not_listened_to() -> None:
    site = Site()
    one = site.dial(Phase.BODY)
    echo = one.wrappedProtocol
    one.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Too <large>.")
    told = line(one).written
    one.dataReceived(b"more")
    one.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    one.writeSequence([b"more"])
    assert told.startswith(b"HTTP/1.1 413 ")
    assert told.endswith(b"<p>Too &lt;large&gt;.</p>\n")
    assert line(one).written == told
    assert line(one).done == ["loseWriteConnection"]
    assert echo.got == b""


def test_a_program_is_told_in_problem_details() -> None:
    site = Site()
    one = site.dial(Phase.BODY)
    one.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Too large.", Form.PROBLEM)
    head, _, body = line(one).written.partition(b"\r\n\r\n")
    assert b"\r\nContent-Type: application/problem+json\r\n" in head
    assert b"\r\nContent-Length: %d\r\n" % len(body) in head
    assert json.loads(body) == {
        "type": "about:blank",
        "title": HTTPStatus.REQUEST_ENTITY_TOO_LARGE.phrase,
        "status": 413,
        "detail": "Too large.",
        "fields": [],
    }


def test_a_script_is_told_in_its_own_words() -> None:
    site = Site()
    one = site.dial(Phase.BODY)
    one.refuse(HTTPStatus.INSUFFICIENT_STORAGE, "No room.", Form.JSON)
    assert line(one).written.endswith(b'\r\n\r\n{"errors": ["No room."]}')
