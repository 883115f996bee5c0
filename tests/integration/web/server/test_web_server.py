"""A running `serve` under attack: large bodies, many slow connections, readers that do not read, hostile headers."""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.site import Site
from tests.installation import Installation
from tests.integration.web.site.visitor import Line, Visitor, memory, spooled
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measures processes in /proc"),
    pytest.mark.slow,
]
MAX_CONNECTIONS = 40
MB = 1_000_000
OTHER = 50 * MB
"""By which the process may grow for other reasons: modules that a request imports, buffers of connections."""


class Target:
    """A site with a small limit for connections, and alice, who has signed in there."""

    def __init__(self, site: Site, link: str) -> None:
        self.port, self.pid = site.port, site.pid
        self.someone = Visitor(site.port)
        self.alice = Visitor(site.port)
        self.alice.sign_in(link)

    def line(self, **options: int) -> Line:
        return Line(self.port, **options)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory, installation: Installation) -> Iterator[Target]:
    data = installation.copy(tmp_path_factory.mktemp("attacked"))
    site = Site(data, delay=0, PEV_CONNECTIONS=str(MAX_CONNECTIONS), PEV_UPLOAD_MB="150", PEV_FILE_MB="30")
    try:
        yield Target(site, site.start())
    finally:
        site.kill()


@pytest.mark.exhaustive
def test_a_body_that_is_announced_as_too_large_is_refused_unread(target: Target) -> None:
    line = target.line().ask("POST /sign-in/", "Content-Length: 1000000000", "Expect: 100-continue")
    answer = line.answer()
    assert answer.startswith("HTTP/1.1 413 ")
    assert "Nothing was stored. Send less, or sign in first if you are sending files." in answer
    assert "100 Continue" not in answer


@pytest.mark.parametrize(
    ("headers", "piece"),
    [(["Content-Length: 60000000"], b"x" * MB), (["Transfer-Encoding: chunked"], b"F4240\r\n" + b"x" * MB + b"\r\n")],
    ids=["announced", "chunked"],
)
def test_what_is_sent_nevertheless_takes_neither_memory_nor_disk(
    target: Target, headers: list[str], piece: bytes
) -> None:
    before = memory(target.pid)
    line = target.line().ask("POST /sign-in/", "Content-Type: application/x-www-form-urlencoded", *headers)
    line.flood(60, piece)
    assert spooled(target.pid) <= 16_000
    assert line.answer().startswith("HTTP/1.1 413 ")
    assert memory(target.pid) - before < OTHER


def test_files_of_someone_who_only_has_a_cookie_are_refused(target: Target) -> None:
    cookie = "Cookie: sessionid=abcdefghijklmnopqrstuvwxyz012345"
    line = target.line().ask("POST /runs/new/", cookie, "Content-Length: 20000000")
    line.flood(20, b"x" * MB)
    assert "Files can be sent only by someone who has signed in." in line.answer()
    assert spooled(target.pid) <= 1 * MB


@pytest.mark.exhaustive
def test_an_upload_is_not_held_in_memory(target: Target) -> None:
    before = memory(target.pid)
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'
        + b"x" * 120 * MB
        + b"\r\n--x--\r\n"
    )
    kind = "multipart/form-data; boundary=x"  # which Twisted would read too
    status, _ = target.alice.send("POST", "/runs/new/", body, **{"Content-Type": kind})
    assert status == 403  # no token of the form: Django has read all of it to find out
    assert memory(target.pid) - before < OTHER  # it was twelve times as much as the body


@pytest.fixture(scope="module")
def run(target: Target) -> str:
    """The address of a run with a file of 24 megabytes. It waits for a person, and the engine needs no memory."""
    address = target.alice.submit(24 * MB)
    wait_until(lambda: 'id="gate-' in target.alice.get(address)[1])
    return address


@pytest.mark.exhaustive
def test_a_download_that_nobody_reads_is_not_held_in_memory(target: Target, run: str) -> None:
    before = memory(target.pid)
    readers = [target.line(buffer=65_536) for _ in range(8)]
    for reader in readers:
        reader.ask(f"GET {run}files/large.txt?download", f"Cookie: {target.alice.cookie}", "Connection: close")
    time.sleep(1)
    assert memory(target.pid) - before < OTHER  # of 192 that are to be sent
    body = readers[0].answer().partition("\r\n\r\n")[2]
    assert body.count("The budget is 1,200 EUR.\n") > 900_000
    for reader in readers:
        reader.close()


def test_slow_connections_beyond_the_limit_are_cut_and_others_are_served(target: Target) -> None:
    slow = [target.line() for _ in range(MAX_CONNECTIONS + 30)]
    for line in slow:
        line.flood(1, b"GET / HTTP/1.1\r\nX-a: b\r\n")
    assert [target.someone.get("/sign-in/")[0] for _ in range(10)] == [200] * 10
    assert sum(line.is_open() for line in slow) < MAX_CONNECTIONS
    for line in slow:
        line.close()


def test_without_room_a_program_and_a_person_are_answered_in_their_form(target: Target) -> None:
    """All connections are in use by someone who sends files, and whose connections are not cut to make room."""
    headers = f"Cookie: {target.alice.cookie}", "Content-Length: 2000000"
    uploads: list[Line] = []

    def is_full() -> bool:
        uploads.append(target.line().ask("POST /runs/new/", *headers))
        time.sleep(0.05)  # until it is known who sends it, the connection can be cut
        return len(uploads) >= MAX_CONNECTIONS and target.someone.get("/sign-in/")[0] == 503

    wait_until(is_full)
    silent = target.line()
    for address, kind in (("/api/v1/runs", "application/problem+json"), ("/sign-in/", "text/html; charset=utf-8")):
        head, _, body = target.line().ask(f"GET {address}").answer().partition("\r\n\r\n")
        assert head.startswith("HTTP/1.1 503 ")
        assert f"\r\nContent-Type: {kind}\r\n" in head
        assert "\r\nRetry-After: 5\r\n" in head
        assert "All connections of this site are in use." in body
    wait_until(lambda: not silent.is_open())
    for line in [silent, *uploads]:
        line.close()
    wait_until(lambda: target.someone.get("/sign-in/")[0] == 200)


@pytest.mark.parametrize(
    ("request_line", "headers"),
    [
        ("GET /", [f"X-{n}: y" for n in range(101)]),
        ("POST /", ["Content-Length: 5", "Content-Length: 6"]),
        ("POST /", ["Content-Length: -5"]),
        ("POST /", ["Content-Length: 5", "Transfer-Encoding: chunked"]),
        ("POST /", [f"Content-Length: {'9' * 5_000}"]),
    ],
    ids=["many headers", "two lengths", "no length", "length and chunks", "long length"],
)
def test_hostile_headers_end_the_connection(target: Target, request_line: str, headers: list[str]) -> None:
    answer = target.line().ask(request_line, *headers).answer()
    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
    assert "<p>The request could not be understood. Nothing was changed.</p>" in answer
    assert answer.count("HTTP/1.1 ") == 1


@pytest.mark.parametrize("path", ["/", "/api/v1/runs"])
@pytest.mark.parametrize(
    ("more", "headers"),
    [
        ("", ["X: " + "y" * 10_000, "Z: " + "y" * 10_000]),
        ("", ["X: " + "y" * 16_385]),
        ("", ["X: " + "y" * 200_000]),
        ("y" * 16_385, ["X: y"]),
    ],
    ids=["headers", "header", "very long header", "address"],
)
def test_headers_that_are_too_large_are_refused(target: Target, path: str, more: str, headers: list[str]) -> None:
    answer = target.line().ask(f"GET {path}{more}", *headers).answer()
    assert answer.startswith("HTTP/1.1 431 ")
    assert "The address and the headers of the request are longer than 16,384 bytes. Nothing was changed." in answer
    assert ("application/problem+json" in answer) == path.startswith("/api")
    assert answer.count("HTTP/1.1 ") == 1
    assert target.someone.get("/sign-in/")[0] == 200


@pytest.mark.parametrize(
    ("request_line", "headers", "status", "sentence"),
    [
        ("GET /api/v1/runs", [f"X-{n}: y" for n in range(101)], 400, "The request could not be understood."),
        ("POST /api/v1/runs", ["Content-Length: 5", "Content-Length: 6"], 400, "The request could not be understood."),
        ("GET /api/v1/runs", ["X(y: z"], 400, "The request could not be understood."),
        ("GET /api/v1/b\u00fcro", [], 400, "The request could not be understood."),
        (
            "POST /api/v1/runs/1/stop",
            ["Content-Length: 1000001"],
            413,
            "The request is larger than the 1,000,000 bytes that this address takes. Nothing was stored. Send less.",
        ),
        (
            "POST /api/v1/runs",
            ["Content-Length: 20000000"],
            401,
            "This needs an access token",
        ),
    ],
    ids=["many headers", "two lengths", "header", "first line", "too large", "without a token"],
)
def test_what_the_server_refuses_of_programs_is_said_as_a_problem(
    target: Target, request_line: str, headers: list[str], status: int, sentence: str
) -> None:
    head, _, body = target.line().ask(request_line, *headers, "Connection: close").answer().partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert head.lower().count("\r\ncontent-type: application/problem+json") == head.lower().count("content-type:") == 1
    assert ('\r\nWWW-Authenticate: Bearer realm="pevsite"\r\n' in head) == (status == 401)
    problem = json.loads(body)
    assert (problem["status"], problem["detail"].startswith(sentence)) == (status, True)


def test_head_is_answered_without_a_body(target: Target) -> None:
    answer = target.line().ask("HEAD /api/v1/runs", "Connection: close").answer()
    head, _, body = answer.partition("\r\n\r\n")
    assert (head.startswith("HTTP/1.1 401 "), body) == (True, "")
    assert "application/problem+json" in head


def test_a_client_cannot_say_where_the_site_lies(target: Target) -> None:
    status, _ = target.someone.send("GET", "/sign-in/", None, **{"Daphne-Root-Path": "/evil"})
    assert status == 200
    assert "/evil" not in target.alice.send("GET", "/", None, **{"Daphne-Root-Path": "/evil"})[1]


@pytest.mark.parametrize("path", ["/static/js/run/run.js", "/static/no.js", "/sign-in/"])
def test_what_is_sent_is_what_it_is_called_and_stands_in_no_frame(target: Target, path: str) -> None:
    head = target.line().ask(f"GET {path}", "Connection: close").answer().partition("\r\n\r\n")[0].lower()
    assert head.count("\r\nx-content-type-options: nosniff") == head.count("x-content-type-options") == 1
    assert head.count("frame-ancestors 'none'") == head.count("content-security-policy") == 1
    assert head.count("; charset=utf-8") == head.count("content-type:") == 1


def test_a_static_file_that_has_not_changed_is_not_sent_again(target: Target) -> None:
    asked = target.line().ask("GET /static/js/run/run.js", "Connection: close").answer()
    etag = next(line for line in asked.split("\r\n") if line.lower().startswith("etag: ")).partition(": ")[2]
    again = target.line().ask("GET /static/js/run/run.js", f"If-None-Match: {etag}", "Connection: close").answer()
    assert again.startswith("HTTP/1.1 304 ")
    assert again.partition("\r\n\r\n")[2] == ""


@pytest.mark.parametrize(
    "path",
    ["../pevsite/settings.py", "%2e%2e/.git/config", "..%2f..%2fetc/passwd", "/etc/passwd", "%00", "js", "y" * 4_000],
)
def test_nothing_but_static_files_is_found_among_them(target: Target, path: str) -> None:
    answer = target.line().ask(f"GET /static/{path}", "Connection: close").answer()
    assert answer.startswith("HTTP/1.1 404 ")


def handshake(target: Target, run: str, cookie: str, *more: str) -> Line:
    key = base64.b64encode(b"0123456789abcdef").decode()
    return target.line().ask(
        f"GET /ws{run}?tab=history",
        f"Origin: http://127.0.0.1:{target.port}",
        *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"),
        f"Cookie: {cookie}",
        *more,
    )


def frame(payload: bytes, opcode: int = 1) -> bytes:
    """A frame of a browser, whose mask is all zeros."""
    size = [len(payload)] if len(payload) < 126 else [126, *len(payload).to_bytes(2)]
    return bytes([0x80 | opcode, 0x80 | size[0], *size[1:], 0, 0, 0, 0]) + payload


def test_a_socket_opens_only_for_those_who_have_signed_in(target: Target, run: str) -> None:
    assert handshake(target, run, "").answer().startswith("HTTP/1.1 403 ")
    line = handshake(target, run, target.alice.cookie)
    assert line.socket.recv(1_000).startswith(b"HTTP/1.1 101 ")
    line.close()


def test_a_long_message_closes_the_socket_unread(target: Target, run: str) -> None:
    line = handshake(target, run, target.alice.cookie)
    assert line.socket.recv(1_000).startswith(b"HTTP/1.1 101 ")
    line.socket.sendall(frame(b"x" * 5_000))
    assert line.answer() == ""


ZIPPED = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"


@pytest.mark.parametrize(
    ("offer", "taken"),
    [
        (ZIPPED, b"permessage-deflate; client_max_window_bits=13\r"),
        ("Sec-WebSocket-Extensions: permessage-deflate", b"permessage-deflate\r"),
        ("Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=9", b"server_max_window_bits=9\r"),
        ("Sec-WebSocket-Extensions: permessage-rot13", b""),
    ],
)
def test_sockets_are_compressed_where_a_browser_offers_it(target: Target, run: str, offer: str, taken: bytes) -> None:
    line = handshake(target, run, target.alice.cookie, offer)
    answer = line.socket.recv(1_000)
    assert answer.startswith(b"HTTP/1.1 101 ")
    assert (b"permessage" in answer, taken in answer) == (bool(taken), True)
    line.socket.sendall(frame(b'{"seen": 0}'))
    assert line.socket.recv(1)[0] == (0xC1 if taken else 0x81)
    line.close()


def test_a_message_that_inflates_beyond_the_limit_closes_the_socket(target: Target, run: str) -> None:
    line = handshake(target, run, target.alice.cookie, ZIPPED)
    assert line.socket.recv(1_000).startswith(b"HTTP/1.1 101 ")
    packer = zlib.compressobj(9, zlib.DEFLATED, -13)
    bomb = packer.compress(b"x" * 3_000_000) + packer.flush(zlib.Z_SYNC_FLUSH)[:-4]
    assert 2_000 < len(bomb) < 4_000, "as large as a frame may be"
    line.socket.sendall(frame(bomb, 0x41))
    assert line.answer() == ""


@pytest.mark.exhaustive
def test_pings_whose_answers_nobody_reads_are_read_no_more(target: Target, run: str) -> None:
    line = handshake(target, run, target.alice.cookie)
    assert line.socket.recv(1_000).startswith(b"HTTP/1.1 101 ")
    before = memory(target.pid)
    line.socket.settimeout(0.5)
    line.flood(1_200, frame(b"x" * 120, 9) * 1_000)
    assert memory(target.pid) - before < OTHER  # of 150 that are sent
    line.close()
