"""Runs of long ago with their files, and runs that rest on them."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from runs.models import Attempt, Run
from runs.store import blobs, trees
from tests import factories as made


def contents(run: Run) -> set[str]:
    attempts = Attempt.objects.of_run(run)
    files = [*trees.files_of(run.inputs).values(), *trees.files_of(run.head).values()]
    written = [info for attempt in attempts for info in attempt.overlay.values() if info]
    return {info.sha256 for info in [*files, *written]}


def place(sha256: str) -> Path:
    return Path(blobs.store().path(blobs.name_of(sha256)))


def on_the_disk(sha256s: set[str]) -> set[str]:
    return {sha256 for sha256 in sha256s if place(sha256).exists()}


def long_ago(run: Run, days: int = 1) -> Run:
    """The run and its files are of yesterday, or of so many days ago."""
    then = time.time() - 86_400 * days
    for sha256 in contents(run):
        os.utime(place(sha256), (then, then))
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=days))
    run.refresh_from_db()
    return run


def reusing(run: Run) -> Run:
    """Another run whose inventory is taken over from this one."""
    other = made.executing()
    attempt = Attempt.objects.of_run(other).get()
    earlier = Attempt.objects.of_run(run).passed().first()
    Attempt.objects.filter(pk=attempt.pk).update(reused_from=earlier)
    return other
