"""A server killed with -9 in mid-step: started again, the run goes on by itself and nothing happens twice."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.anthropic_answers import Answer, Request, Slow
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ROOT = Path(__file__).resolve().parents[3]
SUBMIT = """
import django; django.setup()
import uuid
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.core.files.base import ContentFile
from runs.enums import Role
from runs.lifecycle.policy import Policy, RoleModel
from runs.lifecycle.submission import Submission, Upload, submit
from runs.management.commands.serve import first_administrator
models = {Role.PLANNER: "claude-opus-5-5", Role.EXECUTOR: "claude-sonnet-5-5", Role.VERIFIER: "claude-haiku-5-5"}
policy = Policy(models={role: RoleModel(model=name) for role, name in models.items()}, plan_approval="never")
files = [Upload("notes.md", ContentFile(b"Some notes."))]
submit(first_administrator(), Submission("Do the work", files, policy, uuid.uuid4()))
"""


class Machine:
    """A data folder and the server that runs on it, in processes of their own."""

    def __init__(self, data: Path, api: FakeAnthropic) -> None:
        self._data = data
        self._server: subprocess.Popen[bytes] | None = None
        self._environ = {
            **os.environ,
            "PEV_DATA_DIR": str(data),
            "PEV_LEASE_SECONDS": "2",
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test-key-of-nobody",
            "DJANGO_SETTINGS_MODULE": "pevsite.settings",
        }

    def start(self) -> None:
        arguments = [sys.executable, "manage.py", "serve", "--port", "0"]
        self._server = subprocess.Popen(arguments, cwd=ROOT, env=self._environ, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGKILL)
            self._server.wait()

    def submit(self) -> None:
        subprocess.run([sys.executable, "-c", SUBMIT], cwd=ROOT, env=self._environ, check=True)

    def rows(self, sql: str) -> list[Any]:
        """What the database says. A server that has not made it yet says nothing."""
        with closing(sqlite3.connect(f"file:{self._data}/pevsite.sqlite3?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()


@pytest.fixture
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
    assert server.violations == []


@pytest.fixture
def machine(tmp_path: Path, api: FakeAnthropic) -> Iterator[Machine]:
    machine = Machine(tmp_path, api)
    yield machine
    machine.kill()


def wait_for(true: Callable[[], bool], seconds: float = 40) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.05)


def test_a_killed_server_continues_where_it_was(machine: Machine, api: FakeAnthropic) -> None:
    def slow_report(request: Request, right: Answer) -> Answer:
        return Slow(0.8, right) if request.tool_results else right

    team = Team(plan=plan(step("one"), step("two", "one")), executor=slow_report)
    api.script(team)
    machine.submit()
    machine.start()
    wait_for(lambda: len(team.seen.get("executor", [])) == 2)
    machine.kill()
    assert machine.rows("SELECT outcome FROM runs_run") == [(None,)]
    machine.start()
    wait_for(lambda: machine.rows("SELECT outcome FROM runs_run") == [("succeeded",)])
    assert machine.rows(
        "SELECT s.key, a.number, a.status FROM runs_attempt a JOIN runs_step s ON s.id = a.step_id"
    ) == [
        ("one", 1, "passed"),
        ("two", 1, "passed"),
    ]
    assert machine.rows("SELECT count(*) FROM runs_toolcall") == [(2,)]
    assert len(team.seen["executor"]) == 5, "two calls a step, and the one that was in flight once more"
    passed = [json.loads(data) for (data,) in machine.rows("SELECT data FROM runs_event WHERE kind = 'step_passed'")]
    assert [event["step"] for event in passed] == ["one", "two"]
    numbers = [seq for (seq,) in machine.rows("SELECT seq FROM runs_event ORDER BY seq")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert machine.rows("SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(1,)]
