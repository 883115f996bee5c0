"""What ends its process each time is not carried out for ever: the kills are real, and there is a bound on them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Request
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.services]
SIGKILL = -9
LOSSES = "SELECT kind, status, losses FROM runs_workitem ORDER BY id"


@pytest.fixture(scope="module")
def shared(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, service: FakeAnthropic
) -> Iterator[Nursery]:
    """Saved as `submitted`: nobody has begun to work on the run."""
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, service)
    assert nursery.send(Errand("submit")) == ([], 0)
    nursery.save("submitted")
    yield nursery
    nursery.close()


@pytest.fixture
def nursery(shared: Nursery) -> Nursery:
    shared.restore("submitted")
    return shared


def kills(nursery: Nursery, errand: str, before: str, times: int) -> None:
    """So often the worker is killed when it has done that and is about to record it."""
    endings = [nursery.send(Errand(errand, kill_on=f"before .*{before}"))[1] for _ in range(times)]
    assert endings == [SIGKILL] * times


@pytest.mark.exhaustive
def test_a_tool_call_that_ends_its_process_is_carried_out_three_times(nursery: Nursery, api: FakeAnthropic) -> None:
    def once(request: Request, right: Answer) -> Answer:
        seen.append(request.tool_results)
        return right

    seen: list[object] = []
    api.script(Team(plan=plan(step("one")), executor=once))
    nursery.send(Errand("plan"))
    kills(nursery, "attempt", "toolcall", times=3)
    assert rows(nursery.data, LOSSES) == [("plan", "done", 0), ("attempt", "leased", 2)]
    nursery.send(Errand("attempt"))
    assert rows(nursery.data, "SELECT ordinal, is_error, result, writes FROM runs_toolcall LIMIT 1") == [
        (
            1,
            1,
            "This call was not carried out again: 3 times in a row the process that worked on it ended before there "
            "was a result. Do it in another way, or leave it out and say so.",
            "{}",
        )
    ]
    assert rows(nursery.data, LOSSES)[1][2] == 0
    assert "was not carried out again" in json.dumps(seen[1])


@pytest.mark.exhaustive
def test_losses_with_something_new_between_them_do_not_add_up(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one"))))
    nursery.send(Errand("plan"))
    kills(nursery, "attempt", "toolcall", times=2)
    kills(nursery, "attempt", "verdict", times=2)
    assert rows(nursery.data, LOSSES)[1] == ("attempt", "leased", 1)
    nursery.send(Errand("drain"))
    assert rows(nursery.data, "SELECT outcome FROM runs_run") == [("succeeded",)]
    assert rows(nursery.data, "SELECT is_error FROM runs_toolcall") == [(0,)]


def test_work_that_ends_its_process_each_time_waits_for_a_person(nursery: Nursery, api: FakeAnthropic) -> None:
    team = Team(plan=plan(step("one")))
    api.script(team)
    kills(nursery, "plan", "modelcall", times=5)
    assert rows(nursery.data, LOSSES) == [("plan", "leased", 4)]
    assert nursery.send(Errand("plan"))[1] == 0
    assert rows(nursery.data, "SELECT kind, status, question FROM runs_gate") == [
        (
            "error",
            "open",
            "5 times in a row the process that worked on it ended without progress. Its log may say why.",
        )
    ]
    assert rows(nursery.data, LOSSES) == [("plan", "suspended", 5)]
    assert len(team.seen["planner"]) == 5
