"""Plans that the program of the Agent SDK makes in its plan mode: it looks and changes nothing."""

from __future__ import annotations

import json
from typing import Any

import psutil
import pytest
from django.test import Client

from runs.enums import EventKind, GateKind, Outcome, PlanStatus, Verb
from runs.models import ModelCall, Run, ToolCall, User
from runs.pev.conversation.turns import MAX_DEMANDS, MAX_TURNS
from runs.pev.tools.registry import LOOKING, WRITING
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, plan, reads, step

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("the Agent SDK"),
]
FILES = {"notes.md": b"The lease ends on 31 March.\n"}


def first_with(*uses: ToolUse) -> Player:
    """A planner that makes these calls before it plans."""
    return lambda request, right: right if request.tool_results else UseTools(*uses)


def planned_calls(run: Run) -> list[tuple[str, bool]]:
    calls = ToolCall.objects.filter(run=run, work__kind="plan").order_by("ordinal")
    return list(calls.values_list("name", "is_error"))


def modes() -> list[str]:
    """Those of the programs of the Agent SDK that this process has started."""
    lines = [one.cmdline() for one in psutil.Process().children(recursive=True) if one.name() == "claude"]
    return [line[line.index("--permission-mode") + 1] for line in lines]


@pytest.mark.slow
def test_the_planner_looks_into_the_files_and_changes_nothing(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    write = ToolUse("write_file", {"path": "notes.md", "content": "The lease never ends."})
    outside = (ToolUse("Write", {"file_path": "/tmp/x", "content": "x"}), ToolUse("ExitPlanMode", {"plan": "Go."}))
    seen: dict[str, list[str]] = {}

    def planner(request: Request, right: Answer) -> Answer:
        seen["planner"] = modes()
        return first_with(reads("notes.md"), write, *outside)(request, right)

    def executor(request: Request, right: Answer) -> Answer:
        seen["executor"] = modes()
        return right

    team = Team(plan=plan(step("one")), planner=planner, executor=executor)
    api.script(team)
    run = submitted(files=FILES, executor="agent-sdk", plan_approval="always")
    drain(run)
    assert open_gate(run).kind == GateKind.PLAN
    assert run.head == run.inputs
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    first, second = team.seen["planner"]
    assert {tool["name"] for tool in first.body["tools"]} == LOOKING >= {"ask_person", "glob", "read_file"}
    assert LOOKING.isdisjoint(WRITING)
    assert "You are in plan mode: look into the files" in first.last_text
    assert "The lease ends on 31 March." in json.dumps(second.body["messages"][2])
    refused = [("write_file", True), ("Write", True), ("ExitPlanMode", True)]
    assert planned_calls(run) == [("read_file", False), *refused]
    assert seen == {"planner": ["plan"], "executor": ["dontAsk"]}


@pytest.mark.slow
def test_our_own_loop_plans_from_what_it_is_told(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    team = Team(plan=plan(step("one")))
    api.script(team)
    assert finish(submitted(files=FILES), alice).outcome == Outcome.SUCCEEDED
    (request,) = team.seen["planner"]
    assert {tool["name"] for tool in request.body["tools"]} == {"ask_person"}
    assert "plan mode" not in request.last_text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_an_unsound_plan_is_told_so_in_the_session_and_mended(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    bad = plan(step("one", "zero"))

    def planner(request: Request, right: Answer) -> Answer:
        return right if len(request.messages) > 1 else Say(json.dumps(bad))

    team = Team(plan=plan(step("one")), planner=planner)
    api.script(team)
    run = finish(submitted(executor="agent-sdk"), alice)
    assert run.outcome == Outcome.SUCCEEDED
    assert run.plans.count() == 1
    assert "Step “one” depends on “zero”, which is no step of this plan." in team.seen["planner"][1].last_text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_planner_that_only_looks_is_asked_for_its_plan_and_then_a_person(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def planner(request: Request, right: Answer) -> Answer:
        return UseTools(ToolUse("list_files", {"path": f"folder-{len(request.messages)}"}))

    team = Team(planner=planner)
    api.script(team)
    run = submitted(executor="agent-sdk")
    drain(run)
    gate = open_gate(run)
    assert gate.kind == GateKind.ERROR
    assert f"The planner used its {MAX_TURNS} rounds without a plan." in gate.question
    assert len(team.seen["planner"]) == MAX_TURNS + MAX_DEMANDS - 1
    assert "Answer now with the plan" in team.seen["planner"][MAX_TURNS - 1].last_text
    assert not run.plans.exists()


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_question_before_the_plan_holds_no_program_and_the_session_goes_on(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    question = ToolUse("ask_person", {"question": "Which law applies?", "choices": ["German law"]})

    def planner(request: Request, right: Answer) -> Answer:
        calls: dict[int, Any] = {1: reads("notes.md"), 3: question}
        return UseTools(calls[len(request.messages)]) if len(request.messages) in calls else right

    team = Team(plan=plan(step("one")), planner=planner)
    api.script(team)
    run = submitted(files=FILES, executor="agent-sdk")
    drain(run)
    assert open_gate(run).kind == GateKind.QUESTION
    answer(run, alice, Verb.ANSWER, "German law")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(team.seen["planner"]) == ModelCall.objects.filter(run=run, role="planner").count() == 3
    assert planned_calls(run) == [("read_file", False), ("ask_person", False)]
    (event,) = run.events.filter(kind=EventKind.SESSION_RESUMED)
    assert event.data == {"replies": 2}
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/history/").text
    assert "The planner's session was given 2 replies from the journal, and continued where it was." in page.replace(
        "&#x27;", "'"
    )


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_plan_that_a_person_sends_back_is_made_again_with_their_words(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    team = Team(plan=plan(step("one")))
    api.script(team)
    run = submitted(executor="agent-sdk", plan_approval="always")
    drain(run)
    answer(run, alice, Verb.REJECT, "Name the date, too.")
    drain(run)
    assert [one.status for one in run.plans.order_by("version")] == [PlanStatus.REJECTED, PlanStatus.PROPOSED]
    assert "Name the date, too." in json.dumps(team.seen["planner"][1].body)
