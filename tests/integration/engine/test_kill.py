"""D3: a worker is killed with -9 around each kind of journal entry, and the run ends as if nothing had happened.

Real processes on a real database. The tests marked `exhaustive` kill at every boundary there is, which takes minutes.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.databases import rows
from tests.factories.agents import WRITER
from tests.fakes.anthropic_answers import Answer, Request, Say, Served, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_serving import found, results, use
from tests.fakes.team import Team, plan, reads, report, step
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.killing import KILLED, Course, asked, begin, broken, facts, killed_everywhere, undisturbed
from tests.integration.engine.machine import Machine, Nursery
from tests.integration.engine.test_mcp_calls import TICKETS
from tests.services.processes import Process, free_port, listens
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]
TOOLS = [
    "ask_person",
    "delegate",
    "list_files",
    "read_file",
    "run_command",
    "tickets__create",
    "web_search",
    "write_file",
]
FOUND = found("https://statistics.example/singapore", "Facts")
NOTE = {"path": "one.md", "content": "Found by one.\n"}


def block(name: str, **arguments: object) -> dict[str, object]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


def executor(request: Request, right: Answer) -> Answer:
    """A turn for each kind of entry: tool result, subagent, command, call of the service, question, acting call."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            return UseTools(ToolUse("list_files", {}))
        case 1:
            return UseTools(ToolUse("delegate", {"agent": WRITER, "task": "Read the notes."}))
        case 2:
            return UseTools(ToolUse("write_file", NOTE), ToolUse("run_command", {"command": "tests"}))
        case 3:
            search = (use("srvtoolu_1", "web_search", query="Singapore"), results("srvtoolu_1", FOUND))
            return Served((*search, block("ask_person", question="Which law applies?")), "tool_use")
        case 4:
            return UseTools(ToolUse("tickets__create", {"title": "The door is broken"}))
        case _:
            return Say(json.dumps(report("Found by one.")))


def subagent(request: Request, right: Answer) -> Answer:
    return right if request.tool_results else UseTools(reads("notes.md"))


@pytest.fixture(scope="module")
def scripted() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        server.script(Team(plan=plan(step("one") | {"tools": TOOLS}), executor=executor, subagent=subagent))
        yield server
    assert server.violations == []


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a line for each call that the MCP server was sent."""
    return tmp_path_factory.mktemp("tickets") / "calls"


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, scripted: FakeAnthropic, calls: Path
) -> Iterator[Nursery]:
    """Saved as `submitted`, `planned`, `asks` (a question to a person is open) and `waits` (a call needs approval)."""
    folder, port = tmp_path_factory.mktemp("nursery"), free_port()
    environ = os.environ | {"PORT": str(port), "LOG": str(calls)}
    tickets = Process([sys.executable, TICKETS], folder / "tickets.log", lambda: listens(port), environ=environ)
    tickets.start()
    servers = {"tickets": {"url": f"http://127.0.0.1:{port}/mcp"}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    variables = {
        "http_proxy": scripted.url,  # the fake stands in for Anthropic's own service
        "no_proxy": "127.0.0.1",
        "ANTHROPIC_BASE_URL": "http://api.anthropic.com",
        "PEV_MCP": str(folder / "mcp.json"),
        "PEV_SERVICE_TOOLS": "web_search",
        "PEV_WEB": "*",
        "PEV_COMMANDS": "tests: test -s one.md",
        "PEV_MAX_LOSSES": "1000",
    }
    nursery = Nursery(folder, installation, scripted, variables)
    for errands, name in (
        ([Errand("submit", policy={"subagents": [WRITER]})], "submitted"),
        ([Errand("plan")], "planned"),
        ([Errand("drain")], "asks"),
        ([Errand("answer"), Errand("drain")], "waits"),
    ):
        for errand in errands:
            assert nursery.send(errand)[1] == 0
        nursery.save(name)
    yield nursery
    nursery.close()
    tickets.kill()


ENTRIES = {
    "reply of the planner": "modelcall:planner",
    "reply of the executor": "modelcall:executor",
    "tool result": "toolcall:list_files",
    "tool result within a subagent": "toolcall:read_file",
    "subagent": "toolcall:delegate",
    "command": "toolcall:run_command",
    "call of a service": "toolcall:web_search",
    "question": "gate:question",
    "answer of a person": "toolcall:ask_person",
    "request for an approval": "gate:tool",
    "acting call": "toolcall:tickets__create",
    "reply of the verifier": "modelcall:verifier",
    "reply of the synthesizer": "modelcall:synthesizer",
}
"""Each kind of journal entry, in the order of the run, and how its boundary is named."""
MOMENTS = {"before": "writing", "at": "before .*", "after": "after .*"}
"""How a boundary's name begins when the entry is not yet written, written but not committed, and committed."""
ANSWERS = 2
"""How many gates a person answers until the run ends: a question and the approval of a call."""


def sent(calls: Path) -> int:
    return len(calls.read_text().splitlines()) if calls.exists() else 0


@pytest.fixture(scope="module")
def course_from(nursery: Nursery, scripted: FakeAnthropic) -> Callable[[str], Course]:
    """How the run goes on from a saved state to its end when no one kills it."""
    return cache(lambda start: undisturbed(nursery, scripted, "drain", start, ANSWERS))


def drain_killed(nursery: Nursery, calls: Path, entry: str, moment: str, course: Course) -> None:
    """Go on until a worker is killed around this entry."""
    pattern = f"{MOMENTS[moment]}{ENTRIES[entry]}|{MOMENTS[moment]} {ENTRIES[entry]}"
    assert nursery.send(Errand("drain", answers=ANSWERS, kill_on=pattern))[1] == KILLED, entry
    history = facts(nursery.data)["history"]
    assert history == course.facts["history"][: len(history)], entry
    [(approved,)] = rows(nursery.data, "SELECT count(*) FROM runs_gate WHERE kind = 'tool' AND status = 'approved'")
    assert sent(calls) <= approved, entry


@pytest.mark.slow(every_case=True)
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    "moment",
    [pytest.param("before", marks=pytest.mark.exhaustive), pytest.param("at", marks=pytest.mark.services), "after"],
)
def test_killed_around_each_entry_the_run_ends_the_same(
    nursery: Nursery, scripted: FakeAnthropic, course_from: Callable[[str], Course], calls: Path, moment: str
) -> None:
    """Each worker gets as far as the next kind of entry. An acting call that may have been sent has its own test."""
    course = course_from("submitted")
    begin(nursery, scripted, "submitted")
    calls.unlink(missing_ok=True)
    entries = [entry for entry in ENTRIES if moment == "after" or entry != "acting call"]
    for entry in entries:
        drain_killed(nursery, calls, entry, moment, course)
    assert nursery.send(Errand("drain", answers=ANSWERS))[1] == 0
    assert broken(nursery.data) == []
    assert facts(nursery.data) == course.facts
    assert sent(calls) == 1
    replies = [entry for entry in entries if is_reply(entry, course)]
    assert asked(scripted) == (course.questions, 0 if moment == "after" else len(replies))


def is_reply(entry: str, course: Course) -> bool:
    """Whether a reply of a model is lost, and asked for again, when the worker is killed before this entry."""
    return any(ENTRIES[entry] in boundary and "modelcall:" in boundary for boundary in course.crossed)


@pytest.mark.slow(every_case=True)
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    "moment", [pytest.param("before", marks=pytest.mark.exhaustive), pytest.param("at", marks=pytest.mark.services)]
)
def test_killed_around_an_acting_call_a_person_is_asked_again(
    nursery: Nursery, scripted: FakeAnthropic, course_from: Callable[[str], Course], calls: Path, moment: str
) -> None:
    course = course_from("waits")
    begin(nursery, scripted, "waits")
    calls.unlink(missing_ok=True)
    drain_killed(nursery, calls, "acting call", moment, course)
    assert nursery.send(Errand("drain", answers=ANSWERS))[1] == 0
    assert broken(nursery.data) == []
    assert_asked_again(nursery, course, calls)


def assert_asked_again(nursery: Nursery, course: Course, calls: Path) -> None:
    """A call that may have been sent is not sent again before the person has approved it a second time."""
    ended = facts(nursery.data)
    assert [gate[:2] for gate in ended["gates"]] == [*(gate[:2] for gate in course.facts["gates"]), ["tool", "open"]]
    assert sent(calls) == 1
    assert nursery.send(Errand("drain", answers=3))[1] == 0
    ended = facts(nursery.data)
    assert sent(calls) == 2
    same = ("run", "attempts", "verdicts", "tool calls", "replies")
    assert [ended[part] for part in same] == [course.facts[part] for part in same]


@pytest.mark.exhaustive
@pytest.mark.needs("bubblewrap")
def test_killed_at_every_boundary(nursery: Nursery, scripted: FakeAnthropic, calls: Path) -> None:
    """Of planning, of the attempt, its question and its approval, and of the end of the run."""
    killed_everywhere(nursery, scripted, "plan", "submitted")
    attempt = killed_everywhere(nursery, scripted, "attempt", "planned")
    assert len(attempt.crossed) >= 20
    killed_everywhere(nursery, scripted, "answer", "asks")
    nursery.save("answered")
    killed_everywhere(nursery, scripted, "attempt", "answered")
    calls.unlink(missing_ok=True)
    killed_everywhere(nursery, scripted, "answer", "waits")
    assert sent(calls) == 0
    nursery.save("approved")
    killed_around_an_acting_call(nursery, calls)
    nursery.restore("approved")
    assert nursery.send(Errand("attempt"))[1] == 0
    nursery.save("finalise")
    end = killed_everywhere(nursery, scripted, "finalise")
    assert end.facts["run"][0][:3] == ["finished", "succeeded", "The result is done."]


def killed_around_an_acting_call(nursery: Nursery, calls: Path) -> None:
    """Each time it is sent once and its result is there, or a person is asked again and nothing more is sent."""
    nursery.restore("approved")
    calls.unlink(missing_ok=True)
    crossed, status = nursery.send(Errand("attempt"))
    assert (status, sent(calls)) == (0, 1)
    for number, boundary in enumerate(crossed, 1):
        nursery.restore("approved")
        calls.unlink(missing_ok=True)
        assert nursery.send(Errand("attempt", kill_at=number))[1] == KILLED, boundary
        before = sent(calls)
        assert nursery.send(Errand("attempt"))[1] == 0
        gates = rows(nursery.data, "SELECT kind, status FROM runs_gate WHERE status = 'open'")
        [(marked,)] = rows(nursery.data, "SELECT count(*) FROM runs_gate WHERE sent_at IS NOT NULL")
        results = rows(nursery.data, "SELECT count(*) FROM runs_toolcall WHERE name = 'tickets__create'")
        once = sent(calls) == 1 and results == [(1,)]
        assert once or (gates == [("tool", "open")] and sent(calls) == before), boundary
        assert marked == 1, boundary
        assert broken(nursery.data) == [], boundary


@pytest.mark.exhaustive
@pytest.mark.needs("bubblewrap")
def test_killed_at_any_moment_until_it_waits(nursery: Nursery, scripted: FakeAnthropic) -> None:
    """The longer it takes, the later the next blow falls, so that a busy machine comes to an end too."""
    course = undisturbed(nursery, scripted, "drain", "submitted")
    begin(nursery, scripted, "submitted")
    chance = random.Random(3)
    kills = 0
    while nursery.send(Errand("drain", kill_after=chance.random() * (0.2 + 0.02 * kills)))[1] == KILLED:
        kills += 1
    assert kills > 0
    assert facts(nursery.data) == course.facts
    assert broken(nursery.data) == []
    questions, repeated = asked(scripted)
    assert questions == course.questions
    assert repeated <= kills


@pytest.fixture
def machine(tmp_path: Path, installation: Installation, api: FakeAnthropic) -> Iterator[Machine]:
    machine = Machine(installation.copy(tmp_path / "data"), api)
    yield machine
    machine.kill()


@pytest.mark.exhaustive
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
    wait_until(lambda: len(team.seen.get("executor", [])) == 4)
    machine.kill()
    killed.set()
    assert machine.rows("SELECT outcome FROM runs_run") == [(None,)]
    machine.start()
    wait_until(lambda: machine.rows("SELECT outcome FROM runs_run") == [("succeeded",)])
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
