"""A run that is repeated with recorded replies: no model is asked, no page is read, and its result is the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.engine import recording
from runs.enums import Outcome
from runs.llm.replies import NOT_RECORDED, REPLAYED, RecordedReplies
from runs.models import ModelCall, Run, ServerListing, ToolCall, User
from tests.factories import Submit, drain, finish
from tests.fakes import anthropic_delivery
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, looking, plan, report, step
from tests.integration.engine.test_fetching import Web, web
from tests.integration.engine.test_server_calls import CREATE, PLAN, SEARCH, Tickets, tickets
from tests.reporting import as_json

__all__ = ["tickets", "web"]
pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"])]


@pytest.fixture
def replies(tmp_path: Path) -> Iterator[RecordedReplies]:
    """Those that the engine uses in this test."""
    recorded = RecordedReplies(tmp_path / "replies")
    recording.clients().replies = recorded
    yield recorded
    recording.clients().replies = None


def run_of(submitted: Submit) -> Run:
    run = submitted("Read the page", web="*", plan_approval="never")
    drain(run)
    return run


def test_a_repeated_run_asks_no_model_and_reads_no_page(
    api: FakeAnthropic, submitted: Submit, web: Web, settings: Any, replies: RecordedReplies
) -> None:
    settings.WEB = "*"
    address = web.put("/area", "The area is 720.2 km².", "text/plain")

    def executor(request: Request, right: Answer) -> Answer:
        said = str(request.messages[-1])
        found = "720.2" if "720.2" in said else "another figure"
        turns: list[Answer] = [
            UseTools(ToolUse("fetch_page", {"address": address})),
            UseTools(ToolUse("write_file", {"path": "one.md", "content": f"The page says {found}."})),
            Say(json.dumps(report("The page was read."))),
        ]
        return turns[len(request.messages) // 2]

    team = Team(plan=plan(step("one") | {"tools": ["fetch_page", "write_file"]}), executor=executor)
    api.script(team)
    first = run_of(submitted)
    assert first.outcome == Outcome.SUCCEEDED
    api.requests.clear()
    web.put("/area", "The area is 999 km².", "text/plain")

    second = run_of(submitted)
    assert api.requests == []
    calls = ModelCall.objects.filter(run=second)
    assert set(calls.values_list("request_id", flat=True)) == {REPLAYED}
    assert [call.cost_usd for call in calls] == [call.cost_usd for call in ModelCall.objects.filter(run=first)]
    assert [file["sha256"] for file in as_json(second)["files"]] == [file["sha256"] for file in as_json(first)["files"]]


@pytest.mark.slow
def test_a_repeated_run_calls_no_server_and_changes_nothing_again(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    tickets: Tickets,
    replies: RecordedReplies,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As from a model whose calls have no ids: the search after the ticket was created is another one.
    def without_id(name: str, given: object, mint: object) -> dict[str, object]:
        return {"type": "tool_use", "id": "", "name": name, "input": given}

    monkeypatch.setattr(anthropic_delivery, "_tool_use", without_id)
    api.script(Team(plan=PLAN, executor=looking(one=[SEARCH, CREATE, SEARCH])))
    first = finish(submitted("Report the door", servers=["tickets"]), alice)
    assert (first.outcome, len(tickets.calls)) == (Outcome.SUCCEEDED, 3)
    api.requests.clear()
    ServerListing.objects.all().delete()
    tickets.use(command="/bin/false", args=[])  # the server is gone

    second = finish(submitted("Report the door", servers=["tickets"]), alice)
    assert (second.outcome, len(tickets.calls), api.requests) == (Outcome.SUCCEEDED, 3, [])
    results = [list(ToolCall.objects.filter(run=run).values_list("name", "result")) for run in (first, second)]
    assert results[0] == results[1]


def test_a_question_without_a_recorded_reply_fails_the_work_and_is_not_tried_again(
    team: Team, api: FakeAnthropic, submitted: Submit, tmp_path: Path, replies: RecordedReplies
) -> None:
    recording.clients().replies = RecordedReplies(tmp_path / "replies", only_recorded=True)
    run = submitted(plan_approval="never")
    drain(run)
    (call,) = ModelCall.objects.filter(run=run)
    assert call.error_kind == NOT_RECORDED
    assert "There is no recorded reply to this question of the planner." in run.gates.get().question
    assert api.requests == []
