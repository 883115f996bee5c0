"""D3 with the Agent SDK: its program ends with its worker, and the next one is told all that the journal has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import rows
from tests.fakes.anthropic_answers import Answer, Request, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, reads, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery
from tests.integration.engine.test_kill_everywhere import (
    executor,
    killed_after_each_row,
    undisturbed,
    verifier,
)

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.needs("the Agent SDK")]


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
    assert server.violations == []


def team(**others: Any) -> Team:
    return Team(plan=plan(step("one", outputs=("one.md", "list.md"))), executor=executor, verifier=verifier, **others)


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    """Saved as `messages` and `agent-sdk`: a run is submitted, with each of the executors."""
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, api, {"PEV_MAX_LOSSES": "1000"})
    for errand, name in (("submit", "messages"), ("submit with the Agent SDK", "agent-sdk")):
        nursery.restore("new")
        assert nursery.send(Errand(errand)) == ([], 0)
        nursery.save(name)
    yield nursery
    nursery.close()


def of_executors(questions: list[str]) -> list[str]:
    return [text for text in questions if "# Your role: executor" in text]


def but_reuse(attempts: list[Any]) -> list[Any]:
    """All but the key by which other runs find a result: it says who did it."""
    return [[*row[:6], *row[7:]] for row in attempts]


def resumed(nursery: Nursery) -> list[Any]:
    return [
        json.loads(data) for (data,) in rows(nursery.data, "SELECT data FROM runs_event WHERE kind = 'session_resumed'")
    ]


def test_it_asks_the_same_as_our_loop_and_goes_on_where_it_was_killed(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(team())
    own = undisturbed(nursery, api, "drain", start="messages")
    course = killed_after_each_row(nursery, api, "drain", start="agent-sdk")
    assert of_executors(course.questions) == of_executors(own.questions)
    for part in ("run", "verdicts", "tool calls", "replies", "trees", "blobs"):
        assert course.facts[part] == own.facts[part], part
    assert but_reuse(course.facts["attempts"]) == but_reuse(own.facts["attempts"])
    # the worker that comes to the end has the last reply from the model, and commits it with its report
    assert resumed(nursery) == [{"step": "one", "attempt": 1, "replies": 3}]


def looks_first(request: Request, right: Answer) -> Answer:
    return right if request.tool_results else UseTools(ToolUse("list_files", {}), reads("notes.md"))


def test_a_planner_that_was_killed_is_told_what_it_has_seen(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(team(planner=looks_first))
    course = killed_after_each_row(nursery, api, "plan", start="agent-sdk")
    assert [row[2] for row in course.facts["tool calls"]] == ["list_files", "read_file"]
    assert [row[3] for row in course.facts["plan"]] == ["one"]
    assert resumed(nursery) == [{"replies": 1}]
