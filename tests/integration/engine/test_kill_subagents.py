"""D3 with subagents: wherever kill -9 hits, a conversation within a call goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import rows, write
from tests.factories.agents import WRITER
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, report, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.machine import Nursery
from tests.integration.engine.test_kill_everywhere import (
    KILLED,
    asked,
    begin,
    broken,
    facts,
    killed_everywhere,
    undisturbed,
)
from tests.optional import BOTH_EXECUTORS

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
DEFINITION = {
    "purpose": "Reads.",
    "instructions": "Name the line.",
    "model": "claude-opus-5-5",
    "effort": "",
    "tools": [],
}
TOOLS = ["delegate", "ask_person", "list_files", "read_file", "write_file"]
CALLS = [
    [1, "list_files"],
    [2, "read_file"],
    [3, "write_file"],
    [4, "delegate"],
    [5, "read_file"],
    [6, "read_file"],
    [7, "delegate"],
    [8, "write_file"],
]


def executor(request: Request, right: Answer) -> Answer:
    """Two parts are handed on in the second turn, between a call before and one after."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            return UseTools(ToolUse("list_files", {}))
        case 1:
            parts = [ToolUse("delegate", {"agent": WRITER, "task": task}) for task in ("Draft it.", "Check it.")]
            return UseTools(*parts, ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n"}))
        case _:
            return Say(json.dumps(report("Found by one.")))


def subagent(request: Request, right: Answer) -> Answer:
    turn, drafts = sum(message["role"] == "assistant" for message in request.messages), "Draft it." in str(request.body)
    if turn == 2:
        return Say("Drafted." if drafts else "Checked.")
    draft = ToolUse("write_file", {"path": "one.md", "content": "A draft.\n"})
    read = ToolUse("read_file", {"path": "one.md" if turn else "notes.md"})
    return UseTools(draft if drafts and turn else read)


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        server.script(Team(plan=plan(step("one") | {"tools": TOOLS}), executor=executor, subagent=subagent))
        yield server
    assert server.violations == []


@pytest.fixture(params=BOTH_EXECUTORS)
def nursery(
    request: pytest.FixtureRequest, tmp_path: Path, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    """Saved as `attempt`: the step that hands parts on is about to be carried out."""
    nursery = Nursery(tmp_path / "nursery", installation, api, {"PEV_MAX_LOSSES": "1000"})
    assert nursery.send(Errand("submit" if request.param == "messages" else "submit with the Agent SDK"))[1] == 0
    columns = "name, definition, changed_by_id, changed_at"
    values = f"SELECT '{WRITER}', '{json.dumps(DEFINITION)}', min(id), CURRENT_TIMESTAMP FROM runs_user"
    write(nursery.data, f"INSERT INTO runs_agent ({columns}) {values}")
    ((policy,),) = rows(nursery.data, "SELECT policy FROM runs_run")
    known = json.loads(policy) if isinstance(policy, str) else policy
    write(nursery.data, f"UPDATE runs_run SET policy = '{json.dumps(known | {'subagents': [WRITER]})}'")
    assert nursery.send(Errand("plan"))[1] == 0
    nursery.save("attempt")
    yield nursery
    nursery.close()


def test_each_worker_adds_one_entry_and_dies_of_it(nursery: Nursery, api: FakeAnthropic) -> None:
    """Nothing is asked or done twice, by our own loop and by the Agent SDK."""
    course = undisturbed(nursery, api, "drain", start="attempt")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    assert [row[1:3] for row in course.facts["tool calls"]] == CALLS
    assert course.facts["run"][0][:2] == ["finished", "succeeded"]
    begin(nursery, api, "attempt")
    deaths = 0
    while nursery.send(Errand("drain", kill_on="after .*(modelcall|toolcall)"))[1] == KILLED:
        deaths += 1
        assert deaths < 50
    assert deaths > len(CALLS)
    assert facts(nursery.data) == course.facts
    assert broken(nursery.data) == []
    assert asked(api) == (course.questions, 0)
    callers = rows(nursery.data, "SELECT agent FROM runs_toolcall ORDER BY ordinal")
    assert [agent for (agent,) in callers] == ["", WRITER, WRITER, "", WRITER, WRITER, "", ""]


@pytest.mark.parametrize("nursery", ["messages"], indirect=True)
def test_killed_at_every_boundary(nursery: Nursery, api: FakeAnthropic) -> None:
    """Also before the answer of a subagent is taken down, and with all of them gone from the installation."""
    write(nursery.data, "DELETE FROM runs_agent")
    nursery.save("gone")
    course = killed_everywhere(nursery, api, "attempt", "gone")
    assert [row[1:3] for row in course.facts["tool calls"]] == CALLS
