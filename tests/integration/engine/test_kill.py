"""A server killed with -9 in mid-step: started again, the run goes on by itself and nothing happens twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.anthropic_answers import Answer, Request, Slow
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.integration.engine.machine import Machine

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


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
