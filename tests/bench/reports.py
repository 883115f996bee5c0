"""Measures how long each form of a report takes for 40 steps with three attempts each, and what comes of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from statistics import median

from runs.models import Run
from runs.reports import archive
from runs.reports.formats import html
from tests.bench.figures import Figure, ShapeBroken
from tests.bench.site import fresh_database
from tests.factories.long import long_run
from tests.reporting import as_json, as_markdown, exported, written

MAX_PDF_SECONDS = 5.0
MAX_SECONDS = 1.0
FORMS: dict[str, Callable[[Run], int]] = {
    "outline": lambda run: len(exported(run).protocol),
    "Markdown": lambda run: len(as_markdown(run)),
    "HTML": lambda run: len(html.as_html(exported(run))),
    "JSON": lambda run: len(as_json(run)),
    "DOCX": lambda run: len(written(exported(run), "docx")),
    "PDF": lambda run: len(written(exported(run), "pdf")),
    "zip": lambda run: sum(map(len, archive.stream(run))),
}


def measure(*, short: bool) -> list[Figure]:
    steps, attempts, times = (3, 2, 1) if short else (40, 3, 3)
    fresh_database()
    os.environ["ANTHROPIC_API_KEY"] = "test-key-of-nobody"  # so that it can be submitted; no model is ever asked
    run = long_run(steps, attempts)
    figures = []
    for name, make in FORMS.items():
        if not make(run):  # for caches, and for the process that waits to be forked
            raise ShapeBroken(f"{name} is empty.")
        most = MAX_PDF_SECONDS if name == "PDF" else MAX_SECONDS
        figures.append(
            Figure(f"{name}, {steps} steps with {attempts} attempts", _seconds(make, run, times), "s", max=most)
        )
    return figures


def _seconds(make: Callable[[Run], int], run: Run, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        make(Run.objects.get(pk=run.pk))
        taken.append(time.perf_counter() - began)
    return median(taken)
