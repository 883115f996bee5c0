"""Measures the REST API over HTTP, on a server in another process: reads at a fixed rate, and streams of events."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from runs.enums import TokenScope
from runs.models import Run
from runs.people import access_tokens
from runs.store import trees
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import database_bytes, fresh_database
from tests.browser.site import Site
from tests.factories import alice, awaiting_plan, finished_succeeded, open_gate, person
from tests.factories.crowd import crowd

RATES = (50, 100, 200)
"""Reads in a second. They arrive at this rate, however long the answers take, so that waiting counts."""
SECONDS = 15
"""The length of each rate. A server that cannot keep up refuses reads that have waited for half a minute."""
MAX_MS = 100.0
STREAMS = 1_000
_OF_TOKEN = 25
"""Streams with one access token: pevsite allows 30."""
_OF_PERSON = 10
"""Access tokens of one person at most."""
_READERS = 5
"""Tokens among which the reads are distributed, so that none exceeds PEV_API_RATE."""


type Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True)
class Programs:
    """What is asked: addresses by kind, each kind with how many of twenty reads are of it. `followed` is a run whose
    owner pauses it; its events are followed with `following`.
    """

    reads: Mapping[str, tuple[str, int]]
    tokens: Sequence[str]
    followed: int
    following: Sequence[str]


@dataclass
class Server:
    """A server under load. `pid`: of its process on this machine."""

    port: int
    pid: int
    free: list[Streams] = field(default_factory=list)

    @property
    def cpu_seconds(self) -> float:
        """The processor's time of all its threads so far."""
        user, system = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def ask(self, path: str, token: str, method: str = "GET") -> bool:
        """Whether it was answered; False if the server is busy. Raises ShapeBroken for any other answer but 200."""
        while self.free:
            with suppress(ConnectionError, asyncio.IncompleteReadError):  # the server closes what is idle for a minute
                return await self._ask(self.free.pop(), path, token, method)
        try:
            return await self._ask(await asyncio.open_connection("127.0.0.1", self.port), path, token, method)
        except (ConnectionError, asyncio.IncompleteReadError):  # there are as many connections as it takes
            return False

    def close(self) -> None:
        while self.free:
            self.free.pop()[1].close()

    async def _ask(self, connection: Streams, path: str, token: str, method: str) -> bool:
        reader, writer = connection
        writer.write(self.request(path, token, method))
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        if status not in {200, 503}:
            raise ShapeBroken(f"{path} was answered with {status}.")
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            while length := int(await reader.readuntil(b"\r\n"), 16):
                await reader.readexactly(length + 2)
            await reader.readexactly(2)
        else:
            await reader.readexactly(int(lower.partition(b"content-length:")[2].split()[0]))
        self.free.append(connection)
        return status == 200

    def request(self, path: str, token: str, method: str = "GET", accept: str = "application/json") -> bytes:
        length = "" if method == "GET" else "Content-Length: 0\r\n"
        return (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {token}\r\n"
            f"Accept: {accept}\r\n{length}\r\n"
        ).encode()


def measure(*, short: bool) -> list[Figure]:
    os.environ["ANTHROPIC_API_KEY"] = "nobody's"  # any task can be submitted; no model is asked
    fresh_database()
    programs = prepare(short=short)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    database_bytes()  # nothing is left in the write-ahead log
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        shutil.copytree(settings.DATA_DIR, data, ignore=shutil.ignore_patterns("*.sqlite3*", "*.log"))
        shutil.copy(connection.settings_dict["NAME"], data / "pevsite.sqlite3")
        site = Site(data, PEV_SECRET_KEY=settings.SECRET_KEY, PEV_CONNECTIONS="2000")
        site.start()
        try:
            time.sleep(1 if short else 10)  # its engine starts beside the first requests
            return figures_of([Server(site.port, site.pid)], programs, short=short)
        finally:
            site.kill()


def prepare(*, short: bool) -> Programs:
    """Fill the database with runs of Alice, and make tokens."""
    owner = alice()
    crowd(owner, 100 if short else 2_000, open_gates=20, running=20)
    finished, asked = finished_succeeded(), awaiting_plan()
    path = next(iter(trees.files_of(finished.head)))
    events = Run.objects.get(pk=finished.pk).event_count
    reads = {
        "list of runs": ("/runs?limit=20", 4),
        "state of a run": (f"/runs/{finished.pk}/status", 4),
        "report as JSON": (f"/runs/{finished.pk}", 2),
        "open decisions": ("/gates", 1),
        "decision": (f"/gates/{open_gate(asked).pk}", 2),
        "list of files": (f"/runs/{finished.pk}/files", 2),
        "file": (f"/runs/{finished.pk}/files/{quote(path)}", 2),
        "new events": (f"/runs/{finished.pk}/events?since={events - 10}", 3),
    }
    Run.objects.filter(pk=asked.pk).update(open_to_all=True)
    followers = -(-(40 if short else STREAMS) // _OF_TOKEN)
    people = [person(f"follower-{number}") for number in range(-(-followers // _OF_PERSON))]
    following = [
        access_tokens.issue(people[number // _OF_PERSON], f"follower {number}", 7, [TokenScope.RUNS_READ])
        for number in range(followers)
    ]
    tokens = [access_tokens.issue(owner, f"reader {number}", 7) for number in range(_READERS)]
    return Programs(reads, tokens, asked.pk, following)


def figures_of(servers: Sequence[Server], programs: Programs, *, short: bool) -> list[Figure]:
    """The mixed reads are distributed among the servers; everything else is asked of the first one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return asyncio.run(_figures(servers, programs, short=short))


async def _figures(servers: Sequence[Server], programs: Programs, *, short: bool) -> list[Figure]:
    figures = []
    for kind, (path, _) in programs.reads.items():
        figures.append(
            Figure(f"{kind}: processor", await _cpu_ms(servers[0], programs, path, 5 if short else 60), "ms")
        )
    for rate in (20,) if short else RATES:
        figures += await _open_loop(servers, programs, rate, 2 if short else SECONDS)
    figures += await _streams(servers[0], programs, *((40, 1) if short else (STREAMS, 5)))
    return figures


async def _cpu_ms(server: Server, programs: Programs, path: str, times: int) -> float:
    """The processor's time of the server for one of these requests, asked one after the other."""
    await server.ask(path, programs.tokens[0])  # the first one is for caches
    began = server.cpu_seconds
    for number in range(times):
        await server.ask(path, programs.tokens[number % len(programs.tokens)])
    return (server.cpu_seconds - began) / times * 1_000


async def _open_loop(servers: Sequence[Server], programs: Programs, rate: int, seconds: int) -> list[Figure]:
    mixed = [path for path, share in programs.reads.values() for _ in range(share)]
    random.Random(1).shuffle(mixed)
    clock = asyncio.get_running_loop().time
    waited: list[float] = []

    async def ask(number: int, due: float) -> None:
        server = servers[number % len(servers)]
        if await server.ask(mixed[number // len(servers) % len(mixed)], programs.tokens[number % len(programs.tokens)]):
            waited.append(clock() - due)

    count, began, cpu = rate * seconds, clock() + 0.1, sum(server.cpu_seconds for server in servers)
    asking = []
    for number in range(count):
        due = began + number / rate
        await asyncio.sleep(due - clock())
        asking.append(asyncio.create_task(ask(number, due)))
    await asyncio.gather(*asking)
    used = sum(server.cpu_seconds for server in servers) - cpu
    parts = quantiles(waited, n=20)
    name = f"{rate} mixed reads a second"
    return [
        Figure(f"{name}: answered of 100", len(waited) / count * 100, "", min=100),
        Figure(f"{name}: processor for each", used / count * 1_000, "ms"),
        Figure(f"{name}: half of the times", parts[9] * 1_000, "ms"),
        Figure(f"{name}: 95 of 100", parts[18] * 1_000, "ms", max=MAX_MS),
    ]


async def _streams(server: Server, programs: Programs, count: int, times: int) -> list[Figure]:
    """Open streams of one run, then let things happen in it. All have to get each event."""
    server.close()  # a server has only so many connections
    seen = await asyncio.to_thread(Run.objects.values_list("event_count", flat=True).get, pk=programs.followed)
    path = f"/runs/{programs.followed}/events?since={seen}"
    before, streams = server.resident_bytes, []
    for number in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        token = programs.following[number // _OF_TOKEN]
        writer.write(server.request(path, token, accept="text/event-stream"))
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise ShapeBroken(f"A stream was answered with {head[9:12].decode()}.")
        streams.append((reader, writer))
    each = (server.resident_bytes - before) / count
    late, cpu = [], server.cpu_seconds
    for number in range(times):
        began = time.monotonic()
        hearing = [asyncio.create_task(reader.readuntil(b"\ndata: ")) for reader, _ in streams]
        change = "resume" if number % 2 else "pause"
        if not await server.ask(f"/runs/{programs.followed}/{change}", programs.tokens[0], "POST"):
            raise ShapeBroken("The run was not changed, because the server is busy.")
        async with asyncio.timeout(60):
            await asyncio.gather(*hearing)
        late.append(time.monotonic() - began)
    used = (server.cpu_seconds - cpu) / (count * times)
    for _, writer in streams:
        writer.close()
    name = f"{count} streams of a run"
    return [
        Figure(f"{name}: memory of each", each / 1_000, "kB"),
        Figure(f"{name}: until all have an event", max(late) * 1_000, "ms"),
        Figure(f"{name}: processor for an event to one", used * 1_000, "ms"),
    ]
