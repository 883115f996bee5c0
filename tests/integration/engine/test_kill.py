"""A server killed with -9 in mid-step: started again, the run goes on by itself and nothing happens twice."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.anthropic_answers import Answer, Request
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import Installation
from tests.integration.engine.machine import Machine

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]


@pytest.fixture
def machine(tmp_path: Path, installation: Installation, api: FakeAnthropic) -> Iterator[Machine]:
    machine = Machine(installation.copy(tmp_path / "data"), api)
    yield machine
    machine.kill()


def wait_for(true: Callable[[], bool], seconds: float = 120) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.05)


def test_a_killed_server_continues_where_it_was(machine: Machine, api: FakeAnthropic) -> None:
    """Two steps are under way side by side, each with its file written and its report asked for."""
    killed = threading.Event()

    def report_after_the_kill(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            killed.wait(120)
        return right

    team = Team(plan=plan(step("one"), step("two"), step("three", "one", "two")), executor=report_after_the_kill)
    api.script(team)
    machine.submit()
    machine.start()
    wait_for(lambda: len(team.seen.get("executor", [])) == 4)
    machine.kill()
    killed.set()
    assert machine.rows("SELECT outcome FROM runs_run") == [(None,)]
    machine.start()
    wait_for(lambda: machine.rows("SELECT outcome FROM runs_run") == [("succeeded",)])
    assert sorted(
        machine.rows("SELECT s.key, a.number, a.status FROM runs_attempt a JOIN runs_step s ON s.id = a.step_id")
    ) == [("one", 1, "passed"), ("three", 1, "passed"), ("two", 1, "passed")]
    assert machine.rows("SELECT count(*) FROM runs_toolcall") == [(3,)]
    assert len(team.seen["executor"]) == 8, "two calls a step, and the two that were in flight once more"
    passed = [json.loads(data) for (data,) in machine.rows("SELECT data FROM runs_event WHERE kind = 'step_passed'")]
    assert sorted(event["step"] for event in passed) == ["one", "three", "two"]
    numbers = [seq for (seq,) in machine.rows("SELECT seq FROM runs_event ORDER BY seq")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert machine.rows("SELECT count(*) FROM runs_event WHERE kind = 'recovered'") == [(2,)]
