"""Events over the API: in pages, and as a stream that ends with the run, the rights or the token."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from runs.enums import AuditKind, TokenScope
from runs.events.kinds import Note
from runs.lifecycle import gate_decisions
from runs.models import AccessToken, AuditEntry, Run, User
from runs.people import access_tokens
from runs.store.event_log import record
from runs.web.api import event_stream
from runs.web.live.subscribers import from_database
from runs.web.site.handler import PagesHandler
from tests import factories as made
from tests.integration.web.api.asking import program_of
from tests.integration.web.talking import PATIENCE, announce, told

pytestmark = pytest.mark.django_db(transaction=True)
type Listen = Callable[[Any], Awaitable[Any]]


def test_events_come_page_by_page_with_their_sentences() -> None:
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    report = alice.get(f"/runs/{run.pk}").json()["events"]
    first = alice.get(f"/runs/{run.pk}/events?limit=3").json()
    assert [one["seq"] for one in first["events"]] == [1, 2, 3]
    assert (first["next"], first["finished"]) == (3, False)
    assert first["events"][0]["sentence"].startswith("alice submitted ")
    rest = alice.get(f"/runs/{run.pk}/events?since=3").json()
    assert (rest["next"], rest["finished"]) == (run.event_count, True)
    lines = [*first["events"], *rest["events"]]
    assert [{name: one[name] for name in ("seq", "kind", "at", "data")} for one in lines] == report
    assert alice.get(f"/runs/{run.pk}/events?since={run.event_count}").json() == {
        "events": [],
        "next": run.event_count,
        "finished": True,
    }


def follow(run: Run, token: str, what: Listen, since: int, **more: str) -> Any:
    """Opens a stream after event `since`, as the server does, and closes the connection in the end."""

    async def all_of_it() -> Any:
        headers = {"host": "testserver", "accept": "text/event-stream", "authorization": f"Bearer {token}", **more}
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/api/v1/runs/{run.pk}/events",
            "query_string": f"since={since}".encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("192.0.2.1", 1),
        }
        application = event_stream.WithEventStreams(PagesHandler())
        stream: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        await stream.send_input({"type": "http.request", "body": b"", "more_body": False})
        try:
            return await what(stream)
        finally:
            await stream.send_input({"type": "http.disconnect"})
            await stream.wait(PATIENCE)

    return asyncio.run(all_of_it())


async def start(stream: Any) -> int:
    """The status of the answer. A stream begins at once with a comment, with which its headers leave the server."""
    status = int((await stream.receive_output(PATIENCE))["status"])
    if status == 200:
        assert await text(stream) == ": following\n\n"
    return status


async def text(stream: Any) -> str:
    return str((await stream.receive_output(PATIENCE))["body"].decode())


def test_events_are_sent_as_they_happen_until_the_run_has_ended() -> None:
    run = made.executing()
    token = program_of(made.alice()).token

    async def listen(stream: Any) -> list[str]:
        assert await start(stream) == 200
        missed = await text(stream)
        await told(run)
        second = await text(stream)
        await from_database(lambda: gate_decisions.cancel(run.pk, made.alice(), ""))
        await announce(run)
        return [missed, second, await text(stream), await text(stream)]

    missed, second, last, end = follow(run, token, listen, 0, **{"last-event-id": str(run.event_count - 1)})
    assert missed.startswith(f"id: {run.event_count}\ndata: {{")
    number, data = second.removesuffix("\n\n").split("\ndata: ")
    assert (number, json.loads(data)["sentence"]) == (f"id: {run.event_count + 1}", "Something happened.")
    assert last.endswith("event: end\ndata: {}\n\n")
    assert end == ""
    assert not event_stream._open


def test_an_event_is_one_line_for_programs_that_know_more_ends_of_lines() -> None:
    run = made.executing()
    record(run.pk, Note(text="One\u2028two\x85three"))
    run.refresh_from_db()

    async def listen(stream: Any) -> str:
        assert await start(stream) == 200
        return await text(stream)

    sent = follow(run, program_of(made.alice()).token, listen, run.event_count - 1)
    number, data, *_ = sent.splitlines()
    assert (number, json.loads(data.removeprefix("data: "))["data"]["text"]) == (
        f"id: {run.event_count}",
        "One\u2028two\x85three",
    )


@pytest.mark.parametrize("ending", ["token", "person", "share"])
def test_a_stream_ends_with_what_allows_it(ending: str) -> None:
    run = made.executing()
    bob = made.bob()
    made.share(run, bob)
    token = program_of(bob).token

    def end() -> None:
        match ending:
            case "token":
                access_tokens.revoke(bob, AccessToken.objects.get(user=bob).pk)
            case "person":
                User.objects.filter(pk=bob.pk).update(is_active=False)
            case "share":
                run.shares.all().delete()

    async def listen(stream: Any) -> str:
        assert await start(stream) == 200
        await from_database(end)
        await told(run)
        return await text(stream)

    assert follow(run, token, listen, run.event_count) == ""


def test_a_silent_stream_shows_that_it_is_alive_and_a_token_has_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    run = made.executing()
    token = program_of(made.alice()).token
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.01)

    async def listen(stream: Any) -> tuple[int, str]:
        return await start(stream), await text(stream)

    assert follow(run, token, listen, run.event_count) == (200, ": nothing new\n\n")
    monkeypatch.setattr(event_stream, "MAX_STREAMS", 0)

    async def listen_to_refusal(stream: Any) -> tuple[int, dict[bytes, bytes], str]:
        begin = await stream.receive_output(PATIENCE)
        return begin["status"], dict(begin["headers"]), await text(stream)

    status, headers, said = follow(run, token, listen_to_refusal, 0)
    assert (status, json.loads(said)["detail"]) == (
        429,
        "This token follows 0 runs already, which is the most. Close a stream first.",
    )
    assert (headers[b"retry-after"], headers[b"cache-control"]) == (b"10", b"no-store")


def test_a_stream_needs_a_token_with_the_scope_a_run_that_is_seen_and_a_number() -> None:
    """It is refused as any other request: not to be stored, and with a line in the audit trail."""
    run = made.executing()

    async def listen(stream: Any) -> tuple[int, int, bytes]:
        begin = await stream.receive_output(PATIENCE)
        return begin["status"], json.loads(await text(stream))["status"], dict(begin["headers"])[b"Cache-Control"]

    def answer(status: int) -> tuple[int, int, bytes]:
        return status, status, b"private, no-store"

    assert follow(run, "pev_none", listen, 0) == answer(401)
    assert follow(run, program_of(made.alice(), TokenScope.GATES_READ).token, listen, 0) == answer(403)
    assert follow(run, program_of(made.charlie()).token, listen, 0) == answer(404)
    number = {"last-event-id": "x"}
    assert follow(run, program_of(made.alice(), name="other").token, listen, 0, **number) == answer(422)
    refused = AuditEntry.objects.filter(kind=AuditKind.REQUEST_REFUSED).order_by("number")
    assert [(line.by, line.channel, line.through) for line in refused] == [
        ("alice", "program", "access token “ci”"),
        ("charlie", "program", "access token “ci”"),
    ]
    assert not event_stream._open


def test_streams_that_are_woken_together_read_once() -> None:
    """A stream that is woken while others read needs what has happened since, and reads by itself."""
    reads: list[int] = []
    go_on = threading.Event()

    def read(number: int) -> int:
        reads.append(number)
        assert go_on.wait(PATIENCE)
        return number

    async def several() -> list[int]:
        together = [asyncio.create_task(event_stream._in_common(read, number)) for number in (1, 1, 1, 2)]
        try:
            async with asyncio.timeout(PATIENCE):
                while len(reads) < 2:
                    await asyncio.sleep(0)
                late = asyncio.create_task(event_stream._in_common(read, 1))
                while len(reads) < 3:
                    await asyncio.sleep(0)
        finally:
            go_on.set()
        return [await one for one in (*together, late)]

    assert asyncio.run(several()) == [1, 1, 1, 2, 1]
    assert sorted(reads) == [1, 1, 2]
    assert not event_stream._looks
