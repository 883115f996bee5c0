"""What every test has: nothing remembered of the rows of others, no network, and data folders that go away."""

import gc
import os
import shutil
from collections import Counter
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from runs.models import AuditEntry
from runs.store import audit_triggers
from tests import databases, optional
from tests.installation import Installation

_SLOW_TESTS = pytest.StashKey[int]()

hypothesis_settings.register_profile("quick", deadline=None, max_examples=15)  # a busy machine is not a failure
hypothesis_settings.register_profile("thorough", deadline=None)
hypothesis_settings.load_profile("quick")  # --hypothesis-profile=thorough replaces it


@pytest.fixture(autouse=True)
def _fresh_caches() -> None:
    """All tests come from one address, whose tries to sign in are counted."""
    for name in settings.CACHES:
        caches[name].clear()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """The tables of the tests are made without migrations, which make the triggers of the audit trail."""
    with django_db_blocker.unblock():
        if AuditEntry._meta.db_table in connection.introspection.table_names():  # none if no test asks for a database
            audit_triggers.make(connection)


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Installation:
    """For tests of processes, which need not migrate again what another test migrates."""
    base = tmp_path_factory.getbasetemp()
    return Installation(base if worker_id == "master" else base.parent)  # the parent of all workers' folders


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        type=int,
        metavar="N",
        help="of each slow test with parameters, run only the first N cases, unless it is marked slow(every_case=True)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """With several workers a path that does not exist would run no test at all, without a word of why."""
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        if not path.exists():
            raise pytest.UsageError(f"there is no file or folder {path}")


def pytest_collection_finish() -> None:
    gc.freeze()  # what was imported stays: no collection has to look at it between the tests
    gc.set_threshold(100_000, 50, 100)  # collecting as often as usual is a tenth of the processor's time


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = [name for name, part in optional.PARTS.items() if not part.is_here()]
    required = {name for name in os.environ.get("PEV_TESTS_REQUIRE", "").split(",") if name}
    absent = sorted(required - (set(optional.PARTS) - set(missing)))
    assert not absent, f"PEV_TESTS_REQUIRE names what is not installed, or is no part of tests/optional.py: {absent}"
    for item in items:
        path = str(item.path)
        if "/unit/" in path and not item.get_closest_marker("allow_hosts"):
            item.add_marker(pytest.mark.disable_socket)
        if "/browser/" in path:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.enable_socket)
            item.add_marker(pytest.mark.needs("Chromium"))
        needed = [part for marker in item.iter_markers("needs") for part in marker.args]
        for part in needed:
            assert part in optional.PARTS, f"{item.nodeid} needs {part}, which tests/optional.py does not declare"
            if part in missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {part}"))
        if "PostgreSQL" in needed:
            item.add_marker(pytest.mark.services)
    if (cases := config.getoption("--cases")) is not None:
        _keep_cases(config, items, cases)


def _keep_cases(config: pytest.Config, items: list[pytest.Item], cases: int) -> None:
    """Leave out the further cases of slow tests: they take the same way through the code with other inputs."""
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        seen[name] += 1
        slow = item.get_closest_marker("slow")
        further = slow is not None and not slow.kwargs.get("every_case") and seen[name] > cases
        (left_out if further else kept).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what `-m` leaves out. With several workers each of them leaves out the same."""
    if not items:  # `--lf` may deselect nothing
        return
    config = items[0].config
    slow = sum(item.get_closest_marker("slow") is not None for item in items)
    config.stash[_SLOW_TESTS] = config.stash.get(_SLOW_TESTS, 0) + slow


def pytest_sessionfinish(session: pytest.Session) -> None:
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["slow_tests"] = session.config.stash.get(_SLOW_TESTS, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist has ended."""
    node.config.stash[_SLOW_TESTS] = getattr(node, "workeroutput", {}).get("slow_tests", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what this run has left out and how to run it, so that no one takes a green run for more than it is."""
    if slow := config.stash.get(_SLOW_TESTS, 0):
        terminalreporter.write_line(f'Left out: {slow} slow tests. To run them too: uv run pytest -m ""', yellow=True)
    skipped = [report.longrepr[2].partition("needs ")[2] for report in terminalreporter.stats.get("skipped", ())]
    for name, part in optional.PARTS.items():
        if count := skipped.count(name):
            terminalreporter.write_line(f"Left out: {count} tests that need {name}. {part.install}", yellow=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(settings.DATA_DIR, ignore_errors=True)
    if not hasattr(config, "workerinput"):  # the process that has started all others, and ends last
        databases.drop_all()
