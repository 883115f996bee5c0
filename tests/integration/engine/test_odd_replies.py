"""Replies that their own server does not take back as they came: the run goes on, also after a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.enums import Outcome
from runs.models import ModelCall, Run, ToolCall, User
from runs.pev.tools.toolbox import RunTools
from tests.factories import Submit, answer, drain, finish
from tests.factories.agents import WRITER, agent
from tests.fakes.anthropic_answers import Answer, Request, Say, Served, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, report, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
BLANK: dict[str, Any] = {"type": "text", "text": " \n"}
THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "", "signature": "of another server"}


def call(key: str, name: str = "write_file", **given: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": given}


def write(key: str, words: str) -> dict[str, Any]:
    return call(key, path="one.md", content=f"{words}\n")


REPEATED = [
    [THOUGHT, BLANK, write("call_0", "First"), BLANK],
    [write("call_0", "Second"), write("call_0", "Third")],
    [BLANK, write("call_0", "Found by one.")],
]
REFUSED = [
    [write("", "First"), write("", "Second")],
    [write("functions.write_file:0", "Third"), call("b", "functions.none")],
    [write("x" * 300, "Found by one.")],
]


def saying(*turns: list[dict[str, Any]]) -> Player:
    """An executor that says these blocks, turn by turn, and then what is right."""

    def play(request: Request, right: Answer) -> Answer:
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return Served(tuple(turns[turn]), "tool_use") if turn < len(turns) else right

    return play


def ids_sent(request: Request) -> list[str]:
    return [b["id"] for message in request.messages for b in message["content"] if b["type"] == "tool_use"]


def calls_of(run: Run) -> list[tuple[str, str]]:
    rows = ToolCall.objects.filter(run=run).order_by("ordinal")
    return [(row.use_id, str(row.arguments.get("content", "")).strip()) for row in rows]


@pytest.mark.parametrize(
    ("turns", "sent", "stored"),
    [
        (REPEATED, ["call_0", "call-2", "call-3", "call-4"], ["call_0"] * 4),
        (REFUSED, ["call-1", "call-2", "call-3", "b", "call-5"], ["", "", "functions.write_file:0", "b", "x" * 120]),
    ],
    ids=["repeated", "refused"],
)
def test_ids_and_blank_texts_that_are_refused_do_not_fail_a_run(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    turns: list[list[dict[str, Any]]],
    sent: list[str],
    stored: list[str],
) -> None:
    team = Team(plan=plan(step("one")), executor=saying(*turns))
    api.script(team)
    run = finish(submitted(), alice)
    assert run.outcome == Outcome.SUCCEEDED
    last = team.seen["executor"][-1]
    assert ids_sent(last) == sent
    results = [b["tool_use_id"] for message in last.messages for b in message["content"] if b["type"] == "tool_result"]
    assert results == sent
    assert [key for key, _ in calls_of(run)] == stored
    thoughts = [b for message in last.messages for b in message["content"] if b["type"] == "thinking"]
    assert thoughts == ([THOUGHT] if turns is REPEATED else [])
    contents = [one.content for one in ModelCall.objects.filter(run=run, role="executor").order_by("ordinal")]
    assert contents[0] == turns[0], "what is recorded stays as it came"


@pytest.mark.parametrize("killed_at", [1, 2, 3, 4])
def test_after_a_crash_the_same_conversation_goes_on(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch, killed_at: int
) -> None:
    team = Team(plan=plan(step("one")), executor=saying(*REPEATED))
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice)
    carry_out, number = RunTools.run, iter(range(1, 100))

    def killed(self: Any, use: Any) -> Any:
        if next(number) == killed_at:
            raise SystemExit
        return carry_out(self, use)

    with monkeypatch.context() as patch:
        patch.setattr(RunTools, "run", killed)
        with pytest.raises(SystemExit):
            drain(run)
    run.work.open().update(lease_until="2020-01-01T00:00Z")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(team.seen["executor"]) == 4, "no question is asked twice"
    assert ids_sent(team.seen["executor"][-1]) == ["call_0", "call-2", "call-3", "call-4"]
    assert calls_of(run) == [
        ("call_0", "First"),
        ("call_0", "Second"),
        ("call_0", "Third"),
        ("call_0", "Found by one."),
    ]


@pytest.mark.parametrize("content", [[BLANK], [THOUGHT], [THOUGHT, BLANK], [BLANK, BLANK]])
def test_a_reply_that_says_nothing_is_asked_for_again(
    api: FakeAnthropic, submitted: Submit, alice: User, content: list[dict[str, Any]]
) -> None:
    def executor(request: Request, right: Answer) -> Answer:
        """Writes, says nothing, and reports when it is asked again."""
        replies: int = sum(message["role"] == "assistant" for message in request.messages)
        answers: list[Answer] = [right, Served(tuple(content)), Say(json.dumps(report("Found by one.")))]
        return answers[replies]

    team = Team(plan=plan(step("one")), executor=executor)
    api.script(team)
    assert finish(submitted(), alice).outcome == Outcome.SUCCEEDED
    assert len(team.seen["executor"]) == 3


def test_a_subagent_may_repeat_ids_too(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    agent()
    hands_on = ToolUse("delegate", {"agent": WRITER, "task": "Write it."})
    tools = ["read_file", "write_file", "delegate"]
    team = Team(plan=plan(step("one") | {"tools": tools}))
    team.executor = lambda request, right: (
        right if request.tool_results else UseTools(hands_on, *(right.tools if isinstance(right, UseTools) else ()))
    )
    team.subagent = saying(*REPEATED)
    api.script(team)
    assert finish(submitted(subagents=[WRITER]), alice).outcome == Outcome.SUCCEEDED
    assert ids_sent(team.seen["subagent"][-1]) == ["call_0", "call-2", "call-3", "call-4"]
