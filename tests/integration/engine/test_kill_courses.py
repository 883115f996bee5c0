"""D3 for courses that a run seldom takes: each worker adds one entry to the journal and is killed right after it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.databases import rows
from tests.documents.pdfs import line, pages_of
from tests.factories.agents import WRITER
from tests.fakes.anthropic_answers import Answer, Fail, Request, Say, Served, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_serving import found, pdf_page, results, said, use
from tests.fakes.team import (
    Player,
    Team,
    labels_of,
    looking,
    output_criterion,
    plan,
    reads,
    report,
    step,
    told,
    verdict,
)
from tests.installation import Installation
from tests.integration.engine.killed import Errand
from tests.integration.engine.killing import (
    KILLED,
    facts,
    in_four_rounds,
    killed_after_each_row,
    of_whole_task,
    proves_when_asked_again,
    undisturbed,
)
from tests.integration.engine.machine import Nursery
from tests.optional import BOTH_EXECUTORS

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive, pytest.mark.allow_hosts(["127.0.0.1"])]
CITY = "https://statistics.example/singapore"
FOUND = found(CITY, "Facts")


@pytest.fixture(scope="module")
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server
    assert server.violations == []


@pytest.fixture(scope="module")
def nursery(
    tmp_path_factory: pytest.TempPathFactory, installation: Installation, api: FakeAnthropic
) -> Iterator[Nursery]:
    variables = {
        "http_proxy": api.url,  # the fake stands in for Anthropic's own service
        "ANTHROPIC_BASE_URL": "http://api.anthropic.com",
        "PEV_WEB": "*",
        "PEV_COMMANDS": "tests: test -s one.md",
        "PEV_SERVICE_TOOLS": "web_search web_fetch",
        "PEV_MAX_LOSSES": "1000",
        "PEV_CONTEXT_TOKENS_EXECUTOR": "14000",  # one course fills it
    }
    nursery = Nursery(tmp_path_factory.mktemp("nursery"), installation, api, variables)
    yield nursery
    nursery.close()


def submit(nursery: Nursery, *errands: str, **policy: Any) -> None:
    """Save as `start`: a run with this policy, and these errands done."""
    nursery.restore("new")
    for errand in (Errand("submit", policy={"service_tools": [], **policy}), *map(Errand, errands)):
        assert nursery.send(errand)[1] == 0
    nursery.save("start")


def test_a_budget_is_reserved_once(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(
        Team(
            plan=plan(step("one", outputs=("one.md", "list.md"))),
            executor=in_four_rounds,
            verifier=proves_when_asked_again,
        )
    )
    submit(nursery, budget=5)
    course, kills = killed_after_each_row(nursery, api, "drain", "start")
    assert course.facts["run"][0][:3] == ["finished", "succeeded", "The result is done."]
    assert kills == len(course.facts["replies"]) + len(course.facts["tool calls"])


def circling(request: Request, right: Answer) -> Answer:
    """Lists the files until it is stopped, once more although tools are forbidden, and reports then."""
    turns = sum(message["role"] == "assistant" for message in request.messages)
    if turns == 0:
        return UseTools(ToolUse("write_file", {"path": "one.md", "content": "one.md was changed in line 1\n"}))
    return UseTools(ToolUse("list_files", {})) if turns < 5 else Say(json.dumps(report("Found by one.")))


def test_an_attempt_that_goes_round_in_circles_takes_the_same_turns_again(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one")), executor=circling))
    submit(nursery)
    course, _ = killed_after_each_row(nursery, api, "drain", "start")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    calls = [row[1:3] for row in course.facts["tool calls"]]
    assert calls == [[1, "write_file"], [2, "list_files"], [3, "list_files"], [4, "list_files"]]


def writing_at_length(request: Request, right: Answer) -> Answer:
    """Writes more than the window holds, in two turns; in the new conversation it reads some of that, and reports then.

    After the first turn the window is full by estimate, not by what the server has reported.
    """
    if not any(part.kind == "calls" for part in told(request)):
        return UseTools(ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n" * 1_400}))
    if request.tool_results:
        return Say(json.dumps(report("Found by one.")))
    return UseTools(ToolUse("read_file", {"path": "one.md", "lines": 3}))


def test_an_attempt_that_fills_its_window_goes_on_at_the_same_place(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one")), executor=writing_at_length))
    submit(nursery)
    course, _ = killed_after_each_row(nursery, api, "drain", "start")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    assert [row[1:3] for row in course.facts["tool calls"]] == [[1, "write_file"], [2, "write_file"], [3, "read_file"]]
    asked_again = [text for text in course.questions if "was near the limit of 14,000 tokens" in text]
    assert len(asked_again) == 2


def rewriting(request: Request, right: Answer) -> Answer:
    if request.tool_results:
        return Say(json.dumps(report("Found by one.")))
    asked_for = any(part.kind == "person" for part in told(request))
    text = "A draft.\nSeverity: high.\n" if asked_for else "A draft.\n"
    return UseTools(ToolUse("write_file", {"path": "one.md", "content": text}))


def slow_to_prove(request: Request, right: Answer) -> Answer:
    """Of what a person asked for: first a line that was there before; asked for evidence again, the new one."""
    if of_whole_task(request):
        return right
    quote = "A draft." if len(request.messages) == 1 else "Severity: high."
    return Say(json.dumps(verdict(labels_of(request), "one.md", quote)))


def test_what_a_person_asked_for_is_judged_as_if_nothing_had_happened(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one", complexity="high")), executor=rewriting, verifier=slow_to_prove))
    submit(nursery, "drain", "reject")
    course, _ = killed_after_each_row(nursery, api, "drain", "start")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "rejected"], ["one", 2, "passed"]]
    (answered,) = json.loads(course.facts["verdicts"][1][-1])
    assert (answered["status"], answered["evidence"][0]["quote"]) == ("met", "Severity: high.")
    assert [row[:2] + row[4:] for row in course.facts["gates"]] == [
        ["step", "rejected", "Name the severity", 1],
        ["step", "open", "", None],
    ]


def asks_first(request: Request, right: Answer) -> Answer:
    question = ToolUse("ask_person", {"question": "Which law applies?"})
    return right if request.tool_results else UseTools(question)


def asks_between(request: Request, right: Answer) -> Answer:
    """Writes and asks two questions in one turn, one of them the planner's; what it writes then rests on the answer."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            asks = [ToolUse("ask_person", {"question": text}) for text in ("Which law applies?", "And whose address?")]
            return UseTools(ToolUse("write_file", {"path": "one.md", "content": "A draft.\n"}), *asks)
        case 1:
            law = "German" if "German law" in json.dumps(request.last_blocks) else "No"
            return UseTools(ToolUse("write_file", {"path": "one.md", "content": f"{law} law applies.\n"}))
        case _:
            return Say(json.dumps(report("Found by one.")))


def test_questions_of_a_planner_and_of_an_executor_are_asked_once(nursery: Nursery, api: FakeAnthropic) -> None:
    api.script(Team(plan=plan(step("one")), planner=asks_first, executor=asks_between))
    submit(nursery)
    course, _ = killed_after_each_row(nursery, api, "drain", "start", answers=2)
    calls = [row[2] for row in course.facts["tool calls"]]
    assert calls == ["ask_person", "write_file", "ask_person", "ask_person", "write_file"]
    assert [row[:2] + row[5:] for row in course.facts["gates"]] == [
        ["question", "answered", 1],
        ["question", "answered", 2],
    ]
    assert course.facts["run"][0][:2] == ["finished", "succeeded"]


@pytest.mark.needs("bubblewrap")
def test_what_a_check_by_a_command_printed_decides_after_a_crash_too(nursery: Nursery, api: FakeAnthropic) -> None:
    """Run by a model, as a check of a step, and as one of the whole task; each is in the journal once."""
    check = output_criterion("The tests pass", {"kind": "command", "command": "tests"})
    one = step("one") | {"tools": ["write_file", "run_command"]}
    one["acceptance_criteria"].append(check)
    whole = plan(one)
    whole["success_criteria"].append(check)
    run = ToolUse("run_command", {"command": "tests"})
    api.script(Team(plan=whole, executor=looking(one=[run])))
    submit(nursery)
    course, _ = killed_after_each_row(nursery, api, "drain", "start")
    assert course.facts["run"][0][:2] == ["finished", "succeeded"]
    assert [(row[1], row[2]) for row in course.facts["tool calls"]] == [
        (1, "run_command"),
        (2, "write_file"),
        (30_000, "run_command"),
        (30_000, "run_command"),
    ]
    printed = [row[4] for row in course.facts["tool calls"] if row[2] == "run_command"]
    assert printed == [f"tests (test -s one.md) ended with status {status}.\n" for status in (1, 0, 0)]


def forbidden_at_first(request: Request, right: Answer) -> Answer:
    """Every question about the first version is refused, once a file has been read."""
    if any(part.kind == "goal" and "otherwise" in part.text for part in told(request)):
        return right
    if not request.tool_results:
        return UseTools(ToolUse("read_file", {"path": "notes.md"}))
    return Fail(403, "permission_error", "This is not allowed.")


def test_changes_requested_at_an_error_are_planned_wherever_it_is_killed(nursery: Nursery, api: FakeAnthropic) -> None:
    """Between the answer of the person and the new plan too: the answer is there with all that follows, or not."""
    api.script(Team(plan=plan(step("one")), executor=forbidden_at_first))
    submit(nursery, "drain")
    held = facts(nursery.data)
    crossed, _ = nursery.send(Errand("reject"))
    nursery.save("revised")
    revised = facts(nursery.data)
    assert [row[:2] for row in revised["work"]] == [["plan", "done"], ["attempt", "cancelled"], ["plan", "ready"]]
    for number, boundary in enumerate(crossed, 1):
        nursery.restore("start")
        assert nursery.send(Errand("reject", kill_at=number)) == (crossed[:number], KILLED)
        assert facts(nursery.data) == (held if boundary.startswith("before") else revised), boundary
    course, _ = killed_after_each_row(nursery, api, "drain", "revised")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "cancelled"], ["one", 1, "passed"]]
    assert course.facts["run"][0][:2] == ["finished", "succeeded"]
    assert [row[:2] + row[4:] for row in course.facts["gates"]] == [["error", "rejected", "Name the severity", 1]]
    [asked_again] = [text for text in course.questions if "Name the severity" in text and "Your role: planner" in text]
    assert "An error that held version 1 in step one" in asked_again


def search(number: int) -> dict[str, Any]:
    return use(f"srvtoolu_{number}", "web_search", query=f"question {number}")


def writes(number: int) -> dict[str, Any]:
    given = {"path": "one.md", "content": "Found by one.\n"}
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "write_file", "input": given}


def with_service(api: FakeAnthropic, player: Player, *tools: str) -> None:
    api.script(Team(plan=plan(step("one") | {"tools": [*tools, "write_file"]}), executor=player))


def searching(request: Request, right: Answer) -> Answer:
    """Searches next to a call of ours, then into a pause, then twice in one reply, and cites what came before."""
    match sum(message["role"] == "assistant" for message in request.messages):
        case 0:
            return Served((search(1), writes(1)), "tool_use")
        case 1:
            return Served((results("srvtoolu_1", FOUND), said("So.", (CITY, "5,450,000")), search(2)), "pause_turn")
        case _:
            last = said(json.dumps(report("Found by one.")), (CITY, "720.2 square kilometres"))
            return Served((results("srvtoolu_2", FOUND), search(3), results("srvtoolu_3", FOUND), last))


def test_calls_of_the_service_are_made_and_paid_for_once(nursery: Nursery, api: FakeAnthropic) -> None:
    """A reply is committed with the first of its calls, so that there are fewer boundaries than rows."""
    with_service(api, searching, "web_search")
    submit(nursery, "plan", service_tools=["web_search"])
    course, kills = killed_after_each_row(nursery, api, "attempt", "start")
    assert kills == 3 + 1 + 2 + 1, "replies of the executor, our call, what follows the first of a reply, the verdict"
    made = [(row[1], row[2], json.loads(row[3]).get("query")) for row in course.facts["tool calls"]]
    assert made == [
        (1, "write_file", None),
        (2, "web_search", "question 1"),
        (3, "web_search", "question 2"),
        (4, "web_search", "question 3"),
        (5, "web_search", "question 1"),
    ]
    counted = rows(nursery.data, "SELECT role, web_searches FROM runs_modelcall WHERE web_searches > 0")
    assert counted == [("executor", 1), ("executor", 2)]


def test_an_attempt_goes_on_without_a_tool_that_the_run_has_used_up(nursery: Nursery, api: FakeAnthropic) -> None:
    """Each reply may search once and makes one search next to a call of ours, until the tool is no longer offered."""

    def player(request: Request, right: Answer) -> Answer:
        turns = sum(message["role"] == "assistant" for message in request.messages)
        if "web_search" not in request.tool_names:
            return Served((said(json.dumps(report("Found by one."))),))
        return Served((search(turns), results(f"srvtoolu_{turns}", FOUND), said("So."), writes(turns)), "tool_use")

    with_service(api, player, "web_search")
    submit(nursery, "plan", service_tools=["web_search"], service_uses_in_run=2)
    course, _ = killed_after_each_row(nursery, api, "attempt", "start")
    assert [row[2] for row in course.facts["tool calls"]] == ["web_search", "write_file"] * 2
    assert [row[4:6] for row in course.facts["work"] if row[0] == "attempt"] == [["{}", '{"web_search": 3}']]
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]


def test_a_pdf_file_that_the_service_fetches_is_fetched_once(nursery: Nursery, api: FakeAnthropic) -> None:
    address, data = "https://statistics.example/report.pdf", pages_of([line("It has 5,450,000 inhabitants.")])

    def fetching(request: Request, right: Answer) -> Answer:
        if not any(message["role"] == "assistant" for message in request.messages):
            read = (use("srvtoolu_1", "web_fetch", url=address), pdf_page("srvtoolu_1", address, data))
            return Served((search(2), results("srvtoolu_2", FOUND), *read, said("So."), writes(1)), "tool_use")
        return Served((said(json.dumps(report("Found by one."))),))

    with_service(api, fetching, "web_fetch", "web_search")
    submit(nursery, "plan", service_tools=["web_fetch", "web_search"])
    course, _ = killed_after_each_row(nursery, api, "attempt", "start")
    assert [row[2] for row in course.facts["tool calls"]] == ["web_search", "web_fetch", "write_file"]
    assert "It has 5,450,000 inhabitants." in course.facts["tool calls"][1][4]
    assert rows(nursery.data, "SELECT count(*) FROM runs_modelcall WHERE web_fetches > 0") == [(1,)]


OTHER = json.dumps({"purpose": "Writes verse.", "instructions": "Rhyme."})
MEANWHILE = {
    "the agent is deleted": "DELETE FROM runs_agent",
    "the agent changes": f"UPDATE runs_agent SET definition = '{OTHER}'",
}


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
def test_an_attempt_keeps_the_agent_that_it_began_with(nursery: Nursery, api: FakeAnthropic, meanwhile: str) -> None:
    api.script(Team(plan=plan(step("one") | {"agent": WRITER}), executor=looking(one=[reads("notes.md")])))
    submit(nursery, "plan", subagents=[WRITER])
    killed_after_each_row(nursery, api, "attempt", "start", meanwhile)
    [(kept,)] = rows(nursery.data, "SELECT agent FROM runs_attempt")
    assert "Write in plain words." in json.dumps(kept)


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


def delegating(request: Request, right: Answer) -> Answer:
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


@pytest.mark.parametrize("loop", BOTH_EXECUTORS)
def test_a_subagent_goes_on_where_it_was(nursery: Nursery, api: FakeAnthropic, loop: str) -> None:
    """Nothing is asked or done twice, also when its definition is deleted meanwhile."""
    api.script(Team(plan=plan(step("one") | {"tools": TOOLS}), executor=delegating, subagent=subagent))
    submit(nursery, "plan", executor=loop, subagents=[WRITER])
    course, kills = killed_after_each_row(nursery, api, "attempt", "start", "DELETE FROM runs_agent")
    assert [row[:3] for row in course.facts["attempts"]] == [["one", 1, "passed"]]
    assert [row[1:3] for row in course.facts["tool calls"]] == CALLS
    assert kills > len(CALLS)
    callers = rows(nursery.data, "SELECT agent FROM runs_toolcall ORDER BY ordinal")
    assert [agent for (agent,) in callers] == ["", WRITER, WRITER, "", WRITER, WRITER, "", ""]


def looks_first(request: Request, right: Answer) -> Answer:
    return right if request.tool_results else UseTools(ToolUse("list_files", {}), reads("notes.md"))


def resumed(nursery: Nursery) -> list[Any]:
    found = rows(nursery.data, "SELECT data FROM runs_event WHERE kind = 'session_resumed'")
    return [json.loads(data) for (data,) in found]


@pytest.mark.needs("the Agent SDK")
def test_the_agent_sdk_asks_the_same_as_our_loop_and_goes_on_where_it_was_killed(
    nursery: Nursery, api: FakeAnthropic
) -> None:
    wanted = plan(step("one", outputs=("one.md", "list.md")))
    api.script(Team(plan=wanted, executor=in_four_rounds, verifier=proves_when_asked_again))
    submit(nursery)
    own = undisturbed(nursery, api, "drain", "start")
    submit(nursery, executor="agent-sdk")
    course, _ = killed_after_each_row(nursery, api, "drain", "start")
    asked_executor = "# Your role: executor"
    assert [text for text in course.questions if asked_executor in text] == [
        text for text in own.questions if asked_executor in text
    ]
    for part in ("run", "verdicts", "tool calls", "replies", "trees", "blobs"):
        assert course.facts[part] == own.facts[part], part
    # all but the key by which other runs find a result: it says who did it
    attempts = [[[*row[:6], *row[7:]] for row in one.facts["attempts"]] for one in (course, own)]
    assert attempts[0] == attempts[1]
    # the worker that comes to the end has the last reply from the model, and commits it with its report
    assert resumed(nursery) == [{"step": "one", "attempt": 1, "replies": 3}]


@pytest.mark.exhaustive
@pytest.mark.needs("the Agent SDK")
def test_a_planner_of_the_agent_sdk_is_told_what_it_has_seen(nursery: Nursery, api: FakeAnthropic) -> None:
    wanted = plan(step("one", outputs=("one.md", "list.md")))
    api.script(Team(plan=wanted, planner=looks_first, executor=in_four_rounds, verifier=proves_when_asked_again))
    submit(nursery, executor="agent-sdk")
    course, _ = killed_after_each_row(nursery, api, "plan", "start")
    assert [row[2] for row in course.facts["tool calls"]] == ["list_files", "read_file"]
    assert [row[3] for row in course.facts["plan"]] == ["one"]
    assert resumed(nursery) == [{"replies": 1}]
