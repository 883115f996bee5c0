"""Reads documents in the background: those of a run before its plan is made, those of drafts when they come in."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.conf import settings
from django.db import connection
from django.tasks import task
from django.utils import timezone

from runs.engine import claim
from runs.engine.database import database
from runs.engine.recording import Recording
from runs.events import kinds as events
from runs.lifecycle import outcomes
from runs.lifecycle.advance import advance
from runs.models import Rendition, WorkItem
from runs.store import event_log, renditions, trees

REPORT_INTERVAL = 2.0
"""Seconds between two events about the progress of reading."""
_readers = {False: [threading.Lock()], True: [threading.Lock(), threading.Lock()]}
"""One thread for documents that take seconds, so that they wait for no scan, and two for those that take minutes."""


def read_inputs(recording: Recording) -> None:
    """Read the documents of a run. If another process is reading one, the work is postponed: no thread waits."""
    files = trees.files_of(recording.item.run.inputs)
    sources = {info.sha256 for info in files.values()}
    documents = database.call(lambda: renditions.documents_among(sources))
    reported = time.monotonic()
    for source in database.call(lambda: renditions.still_waiting(sources)):
        recording.lease.check()
        _read(source)
        if time.monotonic() - reported >= REPORT_INTERVAL and (
            left := database.call(lambda: renditions.still_waiting(sources))
        ):
            recording.commit(partial(_report_progress, done=documents - len(left), documents=documents))
            reported = time.monotonic()
    if database.call(lambda: renditions.still_waiting(sources)):
        recording.commit(lambda mine: claim.postpone(mine, timezone.now() + renditions.POLL_INTERVAL))
        return

    def end(mine: WorkItem) -> None:
        outcomes.documents_read(mine.run)
        claim.finish(mine)
        advance(mine.run_id)

    recording.commit(end)


def _read(source: str) -> None:
    if row := database.call(lambda: renditions.take(source)):
        with _extending_claim(row):
            renditions.make(row)
        database.call(lambda: renditions.keep(row))


@contextmanager
def _extending_claim(row: Rendition) -> Iterator[None]:
    """Extend the claim on a rendition in a thread while it is made. The claim of a killed process expires."""
    ended = threading.Event()

    def extend() -> None:
        while not ended.wait(settings.LEASE_SECONDS / 3):
            database.call(lambda: renditions.extend(row))
        connection.close()

    keeper = threading.Thread(target=extend, name="reading", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()
        keeper.join()


def _report_progress(mine: WorkItem, done: int, documents: int) -> None:
    event_log.record(mine.run_id, events.Reading(done=done, documents=documents))


@task
def read_waiting(minutes: bool) -> None:
    """Read waiting documents one after the other: those that may take `minutes`, or the others.

    Returns at once if as many calls as there are threads for it are running in this process.
    """
    mine = next((one for one in _readers[minutes] if one.acquire(blocking=False)), None)
    if mine is None:
        return
    try:
        while source := database.call(partial(renditions.untaken, 1, minutes=minutes)):
            _read(source[0])
    finally:
        mine.release()


def refresh() -> None:
    """Notify workers if a document waits and no worker is reading it."""
    for minutes, readers in _readers.items():
        if not all(one.locked() for one in readers) and renditions.untaken(1, minutes=minutes):
            read_waiting.enqueue(minutes)
