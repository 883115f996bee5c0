"""The installation that a benchmark runs on: a fresh SQLite file with the product's settings, its engine, runs."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection, connections

from runs.engine.process import Engine
from runs.enums import ApprovalPolicy, AttemptStatus, GateStatus, Outcome, RunStatus, StepApproval
from runs.models import Attempt, Event, ModelCall, Run, Step
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests.bench.figures import ShapeBroken
from tests.factories import alice, policy

NOTES = {"notes.md": b"Some notes.\nMore of them.\n"}
RUN_TIMEOUT = 120.0
"""Seconds after which a run that does not end is a broken one."""


@contextmanager
def site(workers: int = 16) -> Iterator[None]:
    """An installation with nothing in it, whose engine runs as it does inside `serve`."""
    fresh_database()
    engine = Engine(workers)
    engine.start()
    try:
        yield
    finally:
        engine.stop()


def fresh_database() -> None:
    """Migrating takes longer than most measurements: the database of the first one is copied."""
    connection.close()
    migrated = settings.DATA_DIR / "migrated.sqlite3"
    if not migrated.exists():
        call_command("migrate", verbosity=0, interactive=False)
        database_bytes()
        shutil.copy(_path(), migrated)
        connection.close()
    connections.settings["default"]["NAME"] = settings.DATA_DIR / f"{uuid.uuid4()}.sqlite3"
    shutil.copy(migrated, _path())


def _path() -> Path:
    return Path(connections.settings["default"]["NAME"])


def database_bytes() -> int:
    """Size of the database file with everything of the write-ahead log in it."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return _path().stat().st_size


def submitted(files: Mapping[str, bytes] = NOTES, **changes: Any) -> Run:
    """A run of Alice's that asks no one. Its scripted executors write one line each, and most read nothing."""
    uploads = [Upload(path, ContentFile(content)) for path, content in files.items()]
    asks_no_one = {"plan_approval": ApprovalPolicy.NEVER, "step_approval": StepApproval.NONE, "reuse": True}
    unjudged = {"min_document_bytes": 0, "sources_needed": False}
    chosen = policy(**asks_no_one | unjudged | changes)
    return submit(alice(), Submission("Do the work", uploads, chosen, uuid.uuid4()))


def finished(run: Run) -> Run:
    """The run once it is over. Raises ShapeBroken when it does not come to its end, or to another than success."""
    ends = time.monotonic() + RUN_TIMEOUT
    while run.status != RunStatus.FINISHED:
        gate = run.gates.filter(status=GateStatus.OPEN).first()
        if gate or time.monotonic() > ends:
            raise ShapeBroken(f"{run} is still {run.status}. {gate.question if gate else 'It takes too long.'}")
        time.sleep(0.1)  # times are taken from the rows: polling costs what is measured
        run.refresh_from_db(fields=["status", "outcome", "failure", "finished_at"])
    if run.outcome != Outcome.SUCCEEDED:
        raise ShapeBroken(f"{run} ended as {run.outcome}: {run.failure}")
    return run


def seconds_of(run: Run) -> float:
    """From the submission to the commit that ended it."""
    assert run.finished_at is not None
    return (run.finished_at - run.created_at).total_seconds()


def check_complete(run: Run, *, steps: int, calls: int, attempts: int | None = None) -> None:
    """Raises ShapeBroken unless every step passed, and every attempt, call and event is there exactly once."""
    tried = Attempt.objects.filter(step__plan__run=run)
    numbers = list(Event.objects.filter(run=run).values_list("seq", flat=True))
    expected = {
        "steps": steps,
        "attempts": attempts or steps,
        "passed attempts": steps,
        "replies": calls,
        "events without a gap": len(numbers),
    }
    found = {
        "steps": Step.objects.filter(plan__run=run).count(),
        "attempts": tried.count(),
        "passed attempts": tried.filter(status=AttemptStatus.PASSED).count(),
        "replies": ModelCall.objects.filter(run=run).count(),
        "events without a gap": len(numbers) if numbers == list(range(1, len(numbers) + 1)) else -1,
    }
    if found != expected:
        raise ShapeBroken(f"{run}: expected {expected}, found {found}.")
