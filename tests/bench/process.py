"""Runs a benchmark in a process of its own, so that memory, threads and crashes are its own."""

from __future__ import annotations

import logging
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure


def measured(name: str, migrated: Path, **options: Any) -> list[Figure]:
    """The figures of one benchmark, measured with `options`. `migrated`: a fresh database, made by the first benchmark
    that needs one and copied by the others.

    Raises what the benchmark raised, and BrokenProcessPool when it was killed.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, name, migrated, options).result()


def environment_of_peer() -> dict[str, str]:
    """The environment without what is meant for this interpreter alone."""
    own = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DJANGO_SETTINGS_MODULE"}
    return {name: value for name, value in os.environ.items() if name not in own}


def _measure(name: str, migrated: Path, options: dict[str, Any]) -> list[Figure]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"  # the product's, on a data folder that goes away
    # the settings are chosen only now
    import django
    from django.conf import settings

    django.setup()
    _log_to(settings.DATA_DIR / "bench.log")
    ours = settings.DATA_DIR / "migrated.sqlite3"
    if migrated.exists():
        shutil.copy(migrated, ours)
    try:
        figures: list[Figure] = import_module(f"tests.bench.{name}").measure(**options)
        return figures
    finally:
        if ours.exists() and not migrated.exists():
            shutil.copy(ours, migrated)
        shutil.rmtree(settings.DATA_DIR, ignore_errors=True)


def _log_to(path: Path) -> None:
    """Every line is written, for its cost is measured too; only warnings are shown between the figures."""
    root = logging.getLogger()
    (console,) = root.handlers
    lines = logging.FileHandler(path)
    lines.setFormatter(console.formatter)
    root.addHandler(lines)
    console.setLevel(logging.WARNING)
