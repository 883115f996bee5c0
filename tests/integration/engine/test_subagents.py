"""Steps that hand parts of their work to subagents: what these are told and may do, and what an approval holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings

from runs.enums import Outcome
from runs.models import Agent, ModelCall, Run, ToolCall, User
from tests.factories import Submit, finish
from tests.factories.agents import WRITER, agent
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import Team, block, plan, report, step, told

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
OPUS = "claude-opus-5-5"
TASK = "Name the parties of the lease in notes.md, with the lines they stand in."
HAND_ON = ToolUse("delegate", {"agent": WRITER, "task": TASK})
WRITE = ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n"})
READ = ToolUse("read_file", {"path": "notes.md"})
TOOLS = ["delegate", "list_files", "read_file", "write_file"]
BOTH = ["messages", *(["agent-sdk"] if settings.AGENT_SDK else [])]


def delegating_plan(*tools: str) -> dict[str, Any]:
    """Two steps, of which the first may hand parts on."""
    return plan(step("one") | {"tools": [*TOOLS, *tools]}, step("two", "one"))


def turns(request: Request) -> int:
    return sum(message["role"] == "assistant" for message in request.messages)


def in_turns(*answers: Answer) -> Any:
    """What a model answers in its first turn of a conversation, in the second, and so on; then the last one again."""
    return lambda request, right: answers[min(turns(request), len(answers) - 1)]


def first_step(*answers: Answer) -> Any:
    """An executor that answers so in the step that may hand on."""

    def play(request: Request, right: Answer) -> Answer:
        return in_turns(*answers)(request, right) if "delegate" in request.tool_names else right

    return play


DONE = Say(json.dumps(report("Found by one.")))


@pytest.fixture
def writer(team: Team) -> Agent:
    """The subagent that the first step of the team's plan hands a part to: it reads a file, and answers."""
    team.plan = delegating_plan()
    team.executor = first_step(UseTools(HAND_ON, WRITE), DONE)
    team.subagent = in_turns(UseTools(READ), Say("The lessor is “Some notes.”, line 1."))
    return agent(model=OPUS, effort="high", tools=("read_file", "write_file", "calculate"))


def calls_of(run: Run) -> list[tuple[int, str, str, bool]]:
    rows = ToolCall.objects.filter(run=run, attempt__step__key="one").order_by("ordinal")
    return list(rows.values_list("ordinal", "name", "agent", "is_error"))


@pytest.mark.parametrize("executor", BOTH)
def test_it_works_in_a_conversation_of_its_own_and_each_call_is_in_the_journal(
    writer: Agent, team: Team, submitted: Submit, alice: User, executor: str
) -> None:
    run = finish(submitted(subagents=[WRITER], executor=executor), alice)
    assert run.outcome == Outcome.SUCCEEDED
    first, second = team.seen["subagent"]
    assert (first.model, first.body["output_config"]["effort"]) == (OPUS, "high")
    assert (first.tool_names, second.tool_names) == (["read_file", "write_file"], ["read_file", "write_file"])
    assert [(part.kind, part.name) for part in told(first)] == [("files", ""), ("agent", WRITER), ("task", "")]
    assert block(told(first), "task") == TASK
    assert block(told(first), "agent") == "Write in plain words. Name the clause."
    assert calls_of(run) == [
        (1, "read_file", WRITER, False),
        (2, "delegate", "", False),
        (3, "write_file", "", False),
    ]
    handed = ToolCall.objects.get(run=run, name="delegate")
    head, *rest = handed.result.splitlines()
    assert head == f"“{WRITER}” has answered. Its call is @tool-1. Cite these, not its words."
    assert rest[1] == "The lessor is “Some notes.”, line 1."
    replies = ModelCall.objects.filter(run=run, attempt__step__key="one", role="executor").order_by("ordinal")
    assert list(replies.values_list("ordinal", "model")) == [
        (1, "claude-sonnet-5-5"),
        (2, OPUS),
        (3, OPUS),
        (4, "claude-sonnet-5-5"),
    ]
    results = json.dumps(team.seen["executor"][1].last_blocks, ensure_ascii=False)
    assert ("@tool-2 delegate" in results, "@tool-3 write_file" in results) == (True, True)
