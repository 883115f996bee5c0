"""What an answer from outside may cost, whoever gives it: memory when it is compressed or large, and time."""

from __future__ import annotations

import hashlib
import os
import resource
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat

import httpx2
import mcp.client.stdio
import mcp.client.streamable_http
import pytest
from django.core.files.base import ContentFile

from runs.contracts.ports import Ask
from runs.enums import Role
from runs.errors import InvalidInput, LeaseLost, PevError, StoreAway
from runs.http_client import bounded_reading, http_fetch, watchdog
from runs.llm import client as model_client
from runs.llm.client import Clients
from runs.mcp_client import mcp_connection
from runs.mcp_client.mcp_connection import McpConnection
from runs.mcp_client.server_config import ServerConfig
from runs.operations.traces import span_export
from runs.store import s3_storage
from runs.store.blobs import name_of
from runs.store.s3_storage import BucketStorage
from tests.fakes.hostile_server import PAUSE, answering, head, packed
from tests.hostile.bounds import within

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
IMPORTED = (mcp.client.stdio, mcp.client.streamable_http, mcp_connection)
"""What is imported with the first call: its memory is none of the answer's."""
UNPACKED_MB = 120
ALLOWED_MB = 50
"""How much more than an empty answer any other may take."""
STOP_MB = 2_000
"""Address space after which a test is given up."""
MOST_PIECES = 500
"""Of a slow answer: ten seconds of sending, where it would go on for minutes."""
ASK = Ask(Role.EXECUTOR, "claude-opus-5-5", "Be brief.", (), max_tokens=1_000)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `model` sets is gone after each test: servers that later tests start would ask there."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


def model(url: str) -> str:
    os.environ |= {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "test-key"}
    try:
        return Clients().ask(ASK).text
    except PevError as error:
        return str(error)


def server_of_tools(url: str) -> str:
    try:
        with McpConnection(ServerConfig(url=url, seconds=5)) as connection:
            return str(connection.tools())
    except InvalidInput as error:
        return str(error)


def page(url: str) -> str:
    http_fetch.is_public = lambda address: True
    try:
        return str(len(http_fetch.fetch(url, lambda _: None).data))
    except InvalidInput as error:
        return str(error)


def collector(url: str) -> str:
    try:
        answer = span_export._session().post(url, data=b"spans", timeout=5)
    except OSError as error:  # as the exporter expects it of its library
        return str(error)
    return f"{answer.status_code}, {len(answer.content)} bytes"


def of_bucket(url: str) -> BucketStorage:
    os.environ |= {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "x"}
    os.environ |= {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    s3_storage._TRIES = 1
    return BucketStorage("files", "")


def read_of_bucket(url: str) -> str:
    try:
        with of_bucket(url).open("aa/bb") as file:
            return str(len(file.read()))
    except StoreAway as error:
        return str(error)


def sent_to_bucket(url: str) -> str:
    try:
        return str(of_bucket(url).save("aa/bb", ContentFile(b"content")))
    except StoreAway as error:
        return str(error)


def deleted_of_bucket(url: str) -> str:
    try:
        of_bucket(url).delete_all(["aa/bb"])
        return ""
    except StoreAway as error:
        return str(error)


ASKED = pytest.mark.parametrize("asked", [model, server_of_tools, page, collector], ids=lambda asked: asked.__name__)


def growth(asked: str, url: str) -> tuple[str, float]:
    """What comes out of asking, and the megabytes by which its peak exceeds that of an answer without a body."""
    ask: Callable[[str], str] = globals()[asked]
    ask(f"{url}/empty")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = ask(url)
    return said, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def costs(asked: Callable[[str], str], first: bytes, body: Callable[[], Iterable[bytes]]) -> str:
    """What comes out of asking a server that answers so, which may not take more than it is allowed."""

    def answer(request: str) -> Iterable[bytes]:
        return [head(503, content_length="0")] if "/empty" in request else chain([first], body())

    with answering(answer) as server:
        said, megabytes = within(20, STOP_MB, f"{__name__}.growth", asked.__name__, server.url)
        assert all("accept-encoding: identity" in request.lower() for request in server.requests)
    assert megabytes < ALLOWED_MB
    return str(said)


@ASKED
@pytest.mark.parametrize(
    ("status", "media", "encoding"),
    [
        (200, "application/json", "gzip"),
        pytest.param(200, "text/event-stream", "identity, GZIP", marks=pytest.mark.exhaustive),
        pytest.param(200, "text/plain", "deflate", marks=pytest.mark.exhaustive),
        (404, "text/event-stream", "x-gzip"),
        pytest.param(500, "application/json", "gzip", marks=pytest.mark.exhaustive),
    ],
)
def test_compressed_answers_are_not_unpacked(
    asked: Callable[[str], str], status: int, media: str, encoding: str
) -> None:
    data = packed(UNPACKED_MB, encoding.lower())
    first = head(status, content_type=media, content_encoding=encoding, content_length=str(len(data)))
    said = costs(asked, first, lambda: [data])
    assert ("compressed" in said) is (status < 400), said


@ASKED
@pytest.mark.parametrize("status", [200, 500])
def test_of_large_answers_no_more_is_kept_than_may_be(asked: Callable[[str], str], status: int) -> None:
    first = head(status, content_type="application/json", connection="close")
    costs(asked, first, lambda: repeat(b" " * 1_000_000, 150))


OF_BUCKET = pytest.mark.parametrize(
    "asked", [read_of_bucket, sent_to_bucket, deleted_of_bucket], ids=lambda asked: asked.__name__
)


@pytest.mark.parametrize("status", [200, 403])
@OF_BUCKET
@pytest.mark.exhaustive
def test_of_large_answers_of_a_bucket_no_more_is_kept_than_may_be(asked: Callable[[str], str], status: int) -> None:
    first = head(status, content_type="application/xml", connection="close")
    said = costs(asked, first, lambda: repeat(b"<a/>" * 250_000, 300))
    is_content = asked is read_of_bucket and status == 200
    assert ("was changed" if is_content else f"more than {s3_storage.MAX_WORDS:,} bytes") in said


@pytest.mark.parametrize("status", [200, 403])
@OF_BUCKET
@pytest.mark.parametrize("length", [{"content_length": "1000000"}, {"transfer_encoding": "chunked"}], ids=str)
def test_an_answer_of_a_bucket_that_trickles_in_is_given_up(
    asked: Callable[[str], str], status: int, length: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_storage, "MAX_SECONDS", 0.5)
    monkeypatch.setattr(s3_storage, "_TRIES", 1)
    for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")
    piece = b"1\r\nx\r\n" if "transfer_encoding" in length else b"x"
    with answering(lambda _: chain([head(status, **length)], repeat(piece)), PAUSE) as server:
        assert "takes longer than 0.5 seconds" in asked(server.url)
        assert server.sent < MOST_PIECES


@pytest.mark.parametrize("breaks", [1, 2, 3])
def test_a_content_that_breaks_off_is_asked_for_again_so_often(breaks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(s3_storage, "_TRIES", 1)
    sha256, pieces = hashlib.sha256(b"content").hexdigest(), iter([b"con"] * breaks)
    with answering(lambda _: [head(200, content_length="7"), next(pieces, b"content")]) as server:
        bucket = of_bucket(server.url)
        monkeypatch.setattr(s3_storage, "_TRIES", 3)
        if breaks < 3:
            with bucket.open(name_of(sha256)) as file:
                assert file.read() == b"content"
        else:
            with pytest.raises(StoreAway, match="does not answer"):
                bucket.open(name_of(sha256))
        assert len(server.requests) == min(breaks + 1, 3)


@pytest.mark.parametrize("line", [b"data: x\n", b"\r:", b":\r\n"])
def test_an_event_of_many_lines_takes_no_quadratic_time(line: bytes) -> None:
    """The library would put each line behind a copy of all those before it."""
    first = head(200, content_type="text/event-stream", connection="close")
    assert "lines" in costs(model, first, lambda: repeat(line * 10_000, 50))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.05)
    monkeypatch.setattr(http_fetch, "SECONDS", 0.5)
    monkeypatch.setattr(http_fetch, "is_public", lambda _: True)
    monkeypatch.setattr(model_client, "DEADLINE", 0.5)
    monkeypatch.setattr(mcp_connection, "CONNECT_SECONDS", 1.0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


def endless_headers() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX-Slow: "
    yield from repeat(b"x")


def early_hints() -> Iterator[bytes]:
    yield from repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")


def going_on() -> Iterator[bytes]:
    yield from repeat(b"HTTP/1.1 100 Continue\r\n\r\n")


def trailers() -> Iterator[bytes]:
    yield head(200, content_type="application/json", transfer_encoding="chunked") + b"1\r\nx\r\n0\r\nX-Slow: "
    yield from repeat(b"x")


def chunks() -> Iterator[bytes]:
    yield head(200, content_type="application/json", transfer_encoding="chunked")
    yield from repeat(b"1\r\nx\r\n")


def extension_of_a_chunk() -> Iterator[bytes]:
    yield head(200, content_type="application/json", transfer_encoding="chunked") + b"1;"
    yield from repeat(b"x")


SLOW = pytest.mark.parametrize(
    "answer",
    [
        endless_headers,
        chunks,
        *(
            pytest.param(answer, marks=pytest.mark.exhaustive)
            for answer in (early_hints, going_on, trailers, extension_of_a_chunk)
        ),
    ],
    ids=lambda answer: answer.__name__,
)


@SLOW
@ASKED
@pytest.mark.usefixtures("impatient")
def test_an_answer_that_trickles_in_is_cut_off(
    asked: Callable[[str], str], answer: Callable[[], Iterable[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_export, "_TIMEOUT", 0.5)
    with answering(lambda _: answer(), PAUSE) as server:
        if asked is collector:
            with pytest.raises(OSError, match="within"):
                span_export._session().post(server.url, data=b"spans", timeout=0.5)
        elif asked is server_of_tools:
            with McpConnection(ServerConfig(url=server.url, seconds=1)) as connection, pytest.raises(InvalidInput):
                connection.tools()
        else:
            asked(server.url)
        assert server.sent < MOST_PIECES


def lost_page(url: str, keep_going: Callable[[], None]) -> None:
    http_fetch.fetch(url, lambda _: None, keep_going)


def lost_call(url: str, keep_going: Callable[[], None]) -> None:
    os.environ["ANTHROPIC_BASE_URL"] = url
    Clients().ask(ASK, keep_going)


def lost_server(url: str, keep_going: Callable[[], None]) -> None:
    with McpConnection(ServerConfig(url=url), keep_going) as connection:
        connection.tools()


@pytest.mark.parametrize("answer", [endless_headers, trailers], ids=lambda answer: answer.__name__)
@pytest.mark.parametrize("asked", [lost_page, lost_call, lost_server], ids=lambda asked: asked.__name__)
def test_an_exchange_ends_with_the_work(
    asked: Callable[[str, Callable[[], None]], None],
    answer: Callable[[], Iterable[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.05)
    monkeypatch.setattr(http_fetch, "is_public", lambda _: True)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    looks = iter([None] * 5)

    def lost() -> None:
        if next(looks, 1):
            raise LeaseLost("gone")

    with answering(lambda _: answer(), PAUSE) as server:
        with pytest.raises(LeaseLost):
            asked(server.url, lost)
        assert server.sent < MOST_PIECES


@pytest.mark.usefixtures("impatient")
def test_a_name_that_is_looked_up_for_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(60))
    try:
        with pytest.raises(InvalidInput, match="took longer"):
            http_fetch.fetch("http://slow.example/", lambda _: None)
        assert not answered.is_set()
    finally:
        answered.set()


@pytest.mark.usefixtures("impatient")
def test_redirects_have_the_time_of_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: str) -> Iterator[bytes]:
        yield from repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n", 15)
        yield head(302, location="/again", content_length="0")

    with answering(answer, PAUSE) as server:
        with pytest.raises(InvalidInput, match="took longer"):
            http_fetch.fetch(server.url, lambda _: None)
        assert server.sent < MOST_PIECES


def test_events_are_handed_on_one_by_one_whatever_ends_their_lines() -> None:
    for ending in (b"\n", b"\r\n", b"\r"):
        body = bounded_reading.Body(200, httpx2.Headers({"content-type": "text/event-stream; charset=utf-8"}), 1_000)
        data = b"event: a" + ending + b"data: 1" + ending + ending + b"data: 2" + ending + ending
        handed = [body.take(data[at : at + 1]) for at in range(len(data))]
        expected = [b"event: a\ndata: 1\n\n", b"data: 2\n\n"]
        assert b"".join([*handed, body.rest()]).replace(b"\r", b"\n") == b"".join(expected)
        assert expected[0] in handed
