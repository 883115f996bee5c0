"""A rolling upgrade: a newer version has changed the tables, and a process of this one is still at work."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import databases
from tests.fakes.anthropic_answers import Answer, Request
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import ROOT, Installation
from tests.integration.engine.machine import Machine
from tests.integration.engine.machine import environ as with_model
from tests.waiting import wait_until

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.services]
TABLES = ("run", "plan", "step", "attempt", "workitem", "event", "modelcall", "toolcall", "gate", "tree")


@pytest.fixture
def data(tmp_path: Path, installation: Installation) -> Path:
    return installation.copy(tmp_path / "data")


@pytest.fixture
def machine(data: Path, api: FakeAnthropic) -> Iterator[Machine]:
    machine = Machine(data, api)
    yield machine
    machine.kill()


@pytest.mark.exhaustive
def test_work_under_way_is_finished_on_newer_tables_and_no_old_process_starts_there(
    machine: Machine, data: Path, api: FakeAnthropic
) -> None:
    upgraded = threading.Event()

    def report_after_the_upgrade(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            upgraded.wait(120)
        return right

    team = Team(plan=plan(step("one"), step("two", "one")), executor=report_after_the_upgrade)
    api.script(team)
    machine.submit()
    machine.start()
    wait_until(lambda: len(team.seen.get("executor", [])) == 2)
    databases.write(data, *(f"ALTER TABLE runs_{name} ADD COLUMN of_later text NULL" for name in TABLES))
    applied = "INSERT INTO django_migrations (app, name, applied) VALUES ('runs', '9999_later', CURRENT_TIMESTAMP)"
    databases.write(data, applied)
    upgraded.set()
    wait_until(lambda: machine.rows("SELECT outcome FROM runs_run") == [("succeeded",)])
    assert machine.rows("SELECT count(*) FROM runs_toolcall") == [(2,)]
    assert machine.rows("SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(0,)]
    machine.kill()
    late = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", "0"],
        cwd=ROOT,
        env=with_model(data, api),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (late.returncode, late.stdout, len(late.stderr.splitlines())) == (1, "", 1)
    assert "used by a newer version of pevsite, which has changed its tables (9999_later)" in late.stderr
