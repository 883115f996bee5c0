"""D3 for canaries: a worker is killed with -9 at each boundary, and a canary is judged once and counted once."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, report, step, step_of
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.killing import KILLED, asked, begin, killed_everywhere
from tests.integration.engine.machine import Nursery

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]
CITED = "Some notes were taken: [“Some notes.”](notes.md#L1).\n"


def executor(request: Request, right: Answer) -> Answer:
    if request.tool_results:
        return Say(json.dumps(report(CITED.strip())))
    (output,) = step_of(request)["expected_outputs"]
    return UseTools(ToolUse("write_file", {"path": output["path"], "content": CITED}))


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        server.script(Team(plan=plan(step("one")), executor=executor))
        yield server
    assert server.violations == []


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    variables = {"ANTHROPIC_BASE_URL": api.url, "PEV_MAX_LOSSES": "1000"}
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, api, variables)
    for errand in (Errand("submit", policy={"canary_every": 1, "budget": 20}), Errand("plan")):
        assert nursery.send(errand)[1] == 0
    nursery.save("planned")
    yield nursery
    nursery.close()


def test_a_killed_worker_neither_repeats_nor_skips_a_canary(nursery: Nursery, api: FakeAnthropic) -> None:
    course = killed_everywhere(nursery, api, "attempt", "planned")
    crossed = [boundary for boundary in course.crossed if "modelcall:verifier" in boundary or "canary" in boundary]
    assert [boundary.split(" ")[0] for boundary in crossed].count("before") == 2, (
        "the verdict on the result; then that on the copy, with the end of the attempt"
    )
    assert [found[2:3] + found[6:8] for found in course.facts["canaries"]] == [["irrelevant_quote", "passed", ""]]
    assert rows(nursery.data, "SELECT count(*) FROM runs_event WHERE kind = 'canary'") == [(1,)]


def test_a_canary_that_ends_its_process_again_and_again_is_given_up(nursery: Nursery, api: FakeAnthropic) -> None:
    begin(nursery, api, "planned")
    for _ in range(3):
        assert nursery.send(Errand("attempt", kill_on="before .*canary"))[1] == KILLED
    assert nursery.send(Errand("attempt"))[1] == 0
    why = "3 times in a row the process that judged it ended."
    assert rows(nursery.data, "SELECT outcome, why FROM runs_canary") == [("", why)]
    assert rows(nursery.data, "SELECT status FROM runs_step") == [("passed",)]
    assert rows(nursery.data, "SELECT count(*) FROM runs_gate") == [(0,)]


def test_a_worker_that_ends_while_a_fault_is_planted_keeps_the_verdict(nursery: Nursery, api: FakeAnthropic) -> None:
    begin(nursery, api, "planned")
    for _ in range(3):
        assert nursery.send(Errand("attempt", kill_in="plant"))[1] == KILLED
    assert nursery.send(Errand("attempt", kill_in="plant"))[1] == 0
    assert rows(nursery.data, "SELECT count(*) FROM runs_modelcall WHERE role = 'verifier'") == [(1,)]
    assert asked(api)[1] == 0, "the verdict on the result is asked for, and paid for, once"
    why = "3 times in a row the process that judged it ended."
    assert rows(nursery.data, "SELECT outcome, fault, why FROM runs_canary") == [("", "", why)]
    assert rows(nursery.data, "SELECT status FROM runs_step") == [("passed",)]
    assert rows(nursery.data, "SELECT count(*) FROM runs_gate") == [(0,)]
