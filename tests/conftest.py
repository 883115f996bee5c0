"""What every test has: nothing remembered of the rows of others, no network, and data folders that go away."""

import gc
import os
import re
import shutil

import pytest
from django.conf import settings
from django.core.cache import cache
from hypothesis import settings as hypothesis_settings

from tests import databases
from tests.installation import Installation

_LEFT_OUT = {
    "PostgreSQL": "With it and redis-server: uv run python -m tests.services uv run pytest tests/integration",
    "redis-server": "Install it (Debian: redis-server), and run them again.",
    "bubblewrap": "Install it (Debian: bubblewrap), and run them again.",
    "the Agent SDK": "Install it (uv sync --group agent-sdk), and run them with UV_NO_SYNC=1.",
    "Chromium": "Install it (Debian: chromium), and run: uv run pytest tests/browser",
}
"""What tests need that is no package of Python, as the reasons of their marks name it, and how to have it."""

hypothesis_settings.register_profile("pevsite", deadline=None)  # a busy machine is no failure
hypothesis_settings.load_profile("pevsite")


@pytest.fixture(autouse=True)
def _fresh_caches() -> None:
    """What a process remembers of rows and addresses; tests roll rows back, use the same keys for others, and all come
    from one address.
    """
    # the models can be imported only when Django is set up
    from runs.lifecycle import created
    from runs.lifecycle.state import reset_memory
    from runs.trees import reset_cache

    reset_cache()
    reset_memory()
    created.reset()
    cache.clear()


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installation:
    """For tests of processes, which need not migrate again what another test migrates."""
    base = tmp_path_factory.getbasetemp()
    return Installation(base if worker_id == "master" else base.parent)  # the parent of all workers' folders


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a quarter of the time a worker waits, for servers, browsers and leases."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    gc.freeze()  # what was imported stays: no collection has to look at it between the tests
    gc.set_threshold(100_000, 50, 100)  # collecting as often as usual is a tenth of the processor's time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/unit/" in str(item.path) and not item.get_closest_marker("allow_hosts"):
            item.add_marker(pytest.mark.disable_socket)
        if not settings.AGENT_SDK and re.search(r"agent[-_]sdk(?!/test_gateway|/test_launcher)", item.nodeid):
            item.add_marker(pytest.mark.skip(reason="needs the Agent SDK, which is an extra"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What this run has left out, and how to run it: nobody shall take a green run for more than it is."""
    skipped = [report.longrepr[2].partition("needs ")[2] for report in terminalreporter.stats.get("skipped", ())]
    for need, way in _LEFT_OUT.items():
        if count := sum(reason.startswith(need) for reason in skipped):
            terminalreporter.write_line(f"Left out: {count} tests that need {need}. {way}", yellow=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)
    if not hasattr(config, "workerinput"):  # the process that has started all others, and ends last
        databases.drop_all()
