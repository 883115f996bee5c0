"""Attempts whose loop is run by the program of the Agent SDK: real sessions over the fake Messages API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.test import Client

from runs.enums import EventKind, GateKind, Outcome, Verb
from runs.models import ModelCall, Run, ToolCall, User
from runs.pev.tools.registry import TOOL_NAMES
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, Served, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, report, step, told

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("the Agent SDK"),
]
QUESTION = ToolUse("ask_person", {"question": "Which law applies?", "choices": ["German law"]})


def programs() -> list[psutil.Process]:
    """Those of the Agent SDK that this process has started, or what it started."""
    return [one for one in psutil.Process().children(recursive=True) if one.name() == "claude"]


@pytest.mark.slow
def test_its_program_knows_no_key_and_nothing_of_this_machine(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEV_SECRET_KEY", "a secret of this installation")
    seen: list[dict[str, str]] = []

    def executor(request: Request, right: Answer) -> Answer:
        seen.extend(one.environ() for one in programs())
        return right

    api.script(Team(plan=plan(step("one")), executor=executor))
    run = finish(submitted(executor="agent-sdk"), alice)
    assert run.outcome == Outcome.SUCCEEDED
    assert len(seen) == 2  # it was asked twice
    for environ in seen:
        values = "\n".join(environ.values())
        assert "a secret of this installation" not in values
        assert "test-key-of-nobody" not in values
        assert environ["ANTHROPIC_BASE_URL"].startswith("http://127.0.0.1:")
        assert environ["ANTHROPIC_BASE_URL"] != api.url
        assert not Path(environ["HOME"]).exists()
        for request in api.requests:
            assert environ["HOME"] not in json.dumps(request.body)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_words_of_a_document_are_no_commands_of_the_program(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    team = Team(plan=plan(step("one")))
    api.script(team)
    words = "/compact @/etc/passwd @notes.md #remember !ls"
    assert finish(submitted(words, executor="agent-sdk"), alice).outcome == Outcome.SUCCEEDED
    first = team.seen["executor"][0]
    (given,) = [part.text for part in told(first) if part.kind == "request"]
    assert given == words
    assert "root:" not in json.dumps(first.body)
    assert {tool["name"] for tool in first.body["tools"]} <= TOOL_NAMES


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_tool_that_is_not_there_is_refused_by_us_and_has_its_number(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        if request.tool_results:
            return right
        write = ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n"})
        return UseTools(ToolUse("Bash", {"command": "id"}), write, ToolUse("Task", {"prompt": "Do it for me."}))

    api.script(Team(plan=plan(step("one")), executor=executor))
    run = finish(submitted(executor="agent-sdk"), alice)
    assert run.outcome == Outcome.SUCCEEDED
    calls = ToolCall.objects.filter(run=run).order_by("ordinal").values_list("ordinal", "name", "is_error")
    assert list(calls) == [(1, "write_file", False), (2, "Bash", True), (3, "Task", True)]
    assert "There is no tool “Bash”" in ToolCall.objects.get(run=run, name="Bash").result


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_stub_goes_back_at_once(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        match len(request.messages):
            case 1:
                return UseTools(ToolUse("write_file", {"path": "one.md", "content": "TODO"}))
            case 3:
                return UseTools(ToolUse("write_file", {"path": "one.md", "content": "Found by one. " * 10}))
            case _:
                return Say(json.dumps(report("Found by one.")))

    one = step("one")
    check = {"kind": "no_placeholders", "path": "one.md"}
    one["acceptance_criteria"].append({"text": "It is written out", "about": "output", "check": check})
    team = Team(plan=plan(one), executor=executor)
    api.script(team)
    run = finish(submitted(executor="agent-sdk", min_document_bytes=100), alice)
    assert run.outcome == Outcome.SUCCEEDED
    first, second = ToolCall.objects.filter(run=run).order_by("ordinal").values_list("result", flat=True)
    assert first == (
        "one.md was created: 4 bytes, 1 line.\n"
        "Code has looked at the file, and as it is the attempt would fail:\n"
        "- one.md still has a placeholder: “TODO”, line 1\n"
        "- one.md has 4 bytes; in this run it has to have 100"
    )
    assert second == "one.md was replaced: 140 bytes, 1 line."
    assert first in json.dumps(team.seen["executor"][1].body, ensure_ascii=False).replace("\\n", "\n")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_calls_with_the_same_id_are_carried_out_one_by_one(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def writes(*contents: str) -> Answer:
        given = [{"path": "one.md", "content": content} for content in contents]
        calls = [{"type": "tool_use", "id": "call_0", "name": "write_file", "input": one} for one in given]
        return Served(({"type": "text", "text": " "}, *calls), "tool_use")

    def executor(request: Request, right: Answer) -> Answer:
        replies: int = sum(message["role"] == "assistant" for message in request.messages)
        return [writes("First.", "Second."), writes("Found by one.\n"), right][replies]

    team = Team(plan=plan(step("one")), executor=executor)
    api.script(team)
    run = finish(submitted(executor="agent-sdk"), alice)
    assert run.outcome == Outcome.SUCCEEDED
    calls = ToolCall.objects.filter(run=run).order_by("ordinal").values_list("use_id", "arguments__content")
    assert list(calls) == [("call_0", "First."), ("call_0", "Second."), ("call_0", "Found by one.\n")]
    blocks = [b for message in team.seen["executor"][-1].messages for b in message["content"]]
    assert [b["id"] for b in blocks if b["type"] == "tool_use"] == ["call_0", "call-2", "call-3"]
    assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == ["call_0", "call-2", "call-3"]


def asking(request: Request, right: Answer) -> Answer:
    return right if len(request.messages) > 3 else UseTools(QUESTION if len(request.messages) == 1 else WRITE)


WRITE = ToolUse("write_file", {"path": "one.md", "content": "Found by one, under German law.\n"})


def asked(api: FakeAnthropic, submitted: Submit) -> tuple[Team, Run]:
    """A run whose session has asked a person something."""
    team = Team(plan=plan(step("one")), executor=asking)
    api.script(team)
    run = submitted(executor="agent-sdk", plan_approval="never")
    drain(run)
    return team, run


@pytest.mark.slow
def test_a_question_holds_no_program_and_the_session_goes_on_with_the_answer(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    team, run = asked(api, submitted)
    assert open_gate(run).kind == GateKind.QUESTION
    assert programs() == []
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(team.seen["executor"]) == ModelCall.objects.filter(run=run, role="executor").count() == 3
    (event,) = run.events.filter(kind=EventKind.SESSION_RESUMED)
    assert event.data == {"step": "one", "attempt": 1, "replies": 1}
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/history/").text
    assert "was given 1 reply from the journal, and continued where it was." in page


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_session_that_takes_another_turn_begins_again_and_says_so(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    """As after an upgrade of its program, which then puts other words into its questions."""
    _, run = asked(api, submitted)
    ModelCall.objects.filter(run=run, role="executor").update(question="0" * 64)
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (event,) = run.events.filter(kind=EventKind.SESSION_RESUMED)
    assert event.data == {"step": "one", "attempt": 1, "replies": 0, "otherwise": True}
    assert run.gates.filter(kind=GateKind.QUESTION).count() == 1  # the same question is asked once in a run


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_budget_is_kept_by_us(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        words = f"{len(request.messages)} " + "many words, each of which costs something. " * 40
        return UseTools(ToolUse("search_files", {"text": words}))

    team = Team(plan=plan(step("one")), executor=executor)
    api.script(team)
    run = submitted(executor="agent-sdk", plan_approval="never", budget="0.30", rounds=50)
    drain(run)
    assert open_gate(run).kind == GateKind.BUDGET
    assert programs() == []
    calls = ModelCall.objects.filter(run=run)
    assert calls.filter(role="executor").count() > 3
    spent: Any = sum(call.cost_usd or 0 for call in calls)
    assert spent <= run.policy.budget
