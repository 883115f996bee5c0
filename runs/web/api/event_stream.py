"""Server-sent events: the events of a run as they happen, for programs that follow it.

It is an ASGI application in front of the pages, because a view of Django keeps a thread and a connection to the
database until its answer has ended. Here, a stream that waits holds neither.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from runs.logs import about
from runs.models import AccessToken, Run
from runs.models.querysets import one_of
from runs.people.permissions import find_visible_run
from runs.store.audit_trail import coming_from
from runs.web.api.event_operations import EVENT_STREAM, MAX_EVENTS, STREAMS, EventPage, Stream, events_after
from runs.web.api.tokens import READS_RUNS
from runs.web.live.announcements import announcements
from runs.web.live.subscribers import from_database
from runs.web.site.addresses import API_PATH
from runs.web.site.admission import still_admitted
from runs.web.site.audit_origin import origin_of_program
from runs.web.site.problems import MEDIA_TYPE, problem_json
from runs.web.site.requests import client_of
from runs.web.site.same_origin import values

log = logging.getLogger(__name__)
type Send = Callable[[dict[str, Any]], Awaitable[None]]

MAX_STREAMS = 30
"""Streams with one access token at the same time."""
HEARTBEAT_SECONDS = 15.0
"""Seconds after which a comment is sent, and rights are checked, while nothing happens."""
MAX_SECONDS = 3_600.0
"""The longest that a stream lasts. A program connects again with `Last-Event-ID`, as after every interruption."""
MIN_DELAY = 0.2
"""Seconds between two reads at least. What happens in between is sent with the next one."""
_PATH = re.compile(rf"{re.escape(API_PATH)}runs/([0-9]{{1,18}})/events")
_HEADERS = [
    (b"content-type", EVENT_STREAM.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # or nginx would collect events before it passes them on
]
MOMENT = 0.01
"""Seconds in which streams that were woken by the same event ask the database together."""
_looks: dict[tuple[Any, ...], asyncio.Task[Any]] = {}
"""What streams are about to read; changed by the event loop only."""
_open: Counter[int] = Counter()
"""Streams by access token; changed by the event loop only."""


class WithEventStreams:
    """An ASGI application that passes requests on to the pages, and sends a stream of events where they accept one."""

    def __init__(self, pages: Any) -> None:
        self._pages = pages

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if not _PATH.fullmatch(scope["path"]) or not _asks_for_stream(scope):
            await self._pages(scope, receive, send)
            return
        streams: list[Stream] = []
        is_accepted = False

        async def send_refusal(message: dict[str, Any]) -> None:
            nonlocal is_accepted
            is_accepted |= bool(streams) and message.get("status") == HTTPStatus.OK
            if not is_accepted:
                await send(message)

        # As any other request, so that a refusal has the same headers, and the same lines in the log and audit trail.
        await self._pages(scope | {STREAMS: streams}, receive, send_refusal)
        if is_accepted:
            await _serve(streams[0], scope, receive, send)


def _asks_for_stream(scope: Any) -> bool:
    return scope["method"] == "GET" and EVENT_STREAM.encode() in b",".join(values(scope["headers"], b"accept"))


async def _serve(stream: Stream, scope: Any, receive: Any, send: Send) -> None:
    token = stream.token
    if _open[token.pk] >= MAX_STREAMS:
        await _refuse_another(token, send)
        return
    _open[token.pk] += 1
    try:
        with coming_from(origin_of_program(client_of(scope), token)):
            await _until_gone(receive, _follow(token, stream.run_id, stream.since, send))
    finally:
        _open[token.pk] -= 1
        if not _open[token.pk]:
            del _open[token.pk]


async def _follow(token: AccessToken, run_id: int, since: int, send: Send) -> None:
    """Sends the events after `since`, and those that happen, until the run has ended or may no longer be seen."""
    ends = time.monotonic() + MAX_SECONDS
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    async with announcements(run_id, token.user_id) as wait:
        await _write(send, ": following\n\n")  # headers leave with the first bytes, and a silent run has none to send
        while time.monotonic() < ends:
            page = await _look(token.pk, run_id, since)
            if page is None:
                break
            since = page.next
            # As ASCII, because many programs end a line at U+2028 and others too.
            text = "".join(f"id: {one.seq}\ndata: {one.model_dump_json(ensure_ascii=True)}\n\n" for one in page.events)
            if page.finished:
                await _write(send, f"{text}event: end\ndata: {{}}\n\n")
                break
            if text:
                await _write(send, text)
            if len(page.events) < MAX_EVENTS and not await wait(HEARTBEAT_SECONDS):
                await _write(send, ": nothing new\n\n")
            await asyncio.sleep(MIN_DELAY)
    await send({"type": "http.response.body", "body": b""})


async def _look(token_id: int, run_id: int, since: int) -> EventPage | None:
    """The next events; None if the token no longer works, or its person may no longer see the run."""
    page: EventPage | None = await _in_common(_events, run_id, since)
    # Checked after the events were read, so that none is sent that happened when the rights had ended.
    return page if await _in_common(_may_follow, token_id, run_id) else None


async def _in_common(read: Callable[..., Any], *arguments: int) -> Any:
    """What a function reads from the database, once for all streams that ask for the same at this moment: each event
    wakes every stream of its run.
    """
    key = (read, *arguments)

    async def look() -> Any:
        try:
            await asyncio.sleep(MOMENT)
        finally:
            del _looks[key]  # before it begins: a stream that is woken from now on needs what happens from now on
        return await from_database(partial(read, *arguments))

    if key not in _looks:
        _looks[key] = asyncio.create_task(look())
    return await asyncio.shield(_looks[key])  # a stream that ends leaves it to the others


def _events(run_id: int, since: int) -> EventPage | None:
    run = one_of(Run.objects.filter(pk=run_id))
    return events_after(run, since, MAX_EVENTS) if run else None


def _may_follow(token_id: int, run_id: int) -> bool:
    """Whether the token still works and allows it, and its person may see the run."""
    token = still_admitted(token_id)
    if token is None or not token.allows(READS_RUNS.scope):
        return False
    return find_visible_run(token.user, run_id) is not None


async def _write(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def _until_gone(receive: Any, following: Any) -> None:
    """Waits for the end of the stream, and ends it if the program has closed the connection."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.create_task(following), asyncio.create_task(gone())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _refuse_another(token: AccessToken, send: Send) -> None:
    sentence = f"This token follows {MAX_STREAMS} runs already, which is the most. Close a stream first."
    log.info("refused: %s", sentence, extra=about(user=token.user.get_username()))
    status = HTTPStatus.TOO_MANY_REQUESTS.value
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"retry-after", b"10"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": problem_json(status, sentence)})
