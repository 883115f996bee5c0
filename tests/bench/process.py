"""Owns the process that a benchmark has to itself, so that memory, threads and crashes are its own."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context

from tests.bench.figures import Figure


def measured(name: str, *, short: bool) -> list[Figure]:
    """The figures of one benchmark. Raises what the benchmark raised, and BrokenProcessPool when it was killed."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure, name, short).result()


def _measure(name: str, short: bool) -> list[Figure]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"  # the product's, on a data folder that goes away
    import django
    from django.conf import settings

    django.setup()
    os.environ["ANTHROPIC_API_KEY"] = "test-key-of-nobody"  # without a model no task but the sample is accepted
    try:
        figures: list[Figure] = import_module(f"tests.bench.{name}").measure(short=short)
        return figures
    finally:
        shutil.rmtree(settings.DATA_DIR, ignore_errors=True)
