"""What the tools of the service may be used for at most, in an attempt and in the run, and what is said of them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from runs.accounting.usage import served_uses
from runs.contracts.ports import ToolResult
from runs.contracts.ports import ToolUse as UseOfTool
from runs.engine import claim, recording
from runs.engine.perform import perform
from runs.engine.recording import RecordedTools, Recording
from runs.enums import GateKind, Outcome
from runs.errors import InvalidInput, LeaseLost
from runs.models import Attempt, ModelCall, Run, Step, ToolCall, User, WorkItem
from runs.pev.tools.toolbox import RunTools
from runs.reports import archive
from runs.store import journal
from runs.store.journal import CallPlace
from runs.store.trees import Overlay
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say, Served, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.anthropic_serving import found, output, page, results, said, use
from tests.fakes.team import Player, Team, plan, step, step_of, told
from tests.integration.engine.test_service_tools import (
    CITY,
    OURS,
    PASSAGE,
    READ,
    REPORT,
    TOOLS,
    WRITE,
    rounds,
    search,
    start,
)
from tests.integration.engine.test_service_tools import (
    own_service as own_service,
)
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


def test_when_they_are_used_up_the_attempt_goes_on_without_them(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    first = (search(), results("srvtoolu_1", found(CITY, "Facts")), said("So.", (CITY, PASSAGE)), *OURS)
    team = Team(plan=plan(step("one") | {"tools": TOOLS}), executor=rounds(Served(first, "tool_use"), Say(REPORT)))

    def play(request: Request, right: Answer) -> Answer:
        if any(part.kind == "calls" for part in told(request)):
            return Say(REPORT)
        return Served(first, "tool_use")

    team.executor = play
    api.script(team)
    run = start(submitted, sources_needed=False, service_uses=1)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    last = team.seen["executor"][-1]
    assert last.tool_names == ["calculate", "read_file", "write_file"]
    assert "are used up" in json.dumps(last.messages)
    assert PASSAGE in json.dumps(last.messages), "what cannot be had again is shown at length"


def searching(searches: int) -> Player:
    """An executor that searches once in each of its first replies, beside calls of ours, as long as it may."""

    def play(request: Request, right: Answer) -> Answer:
        turns = sum(message["role"] == "assistant" for message in request.messages)
        number = f"{len(json.dumps(request.messages))}_{turns}"
        if turns < searches and "web_search" in request.tool_names:
            looked_up = (search(f"srvtoolu_{number}"), results(f"srvtoolu_{number}", found(CITY, "Facts")))
            return Served((*looked_up, said("So."), *OURS), "tool_use")
        return right

    return play


def searches_in(run: Run) -> int:
    return sum(ModelCall.objects.filter(run=run).values_list("web_searches", flat=True))


def withheld(run: Run) -> dict[str, dict[str, int]]:
    listed = WorkItem.objects.filter(run=run, attempt__isnull=False).select_related("attempt__step").order_by("pk")
    return {item.attempt.step.key: item.withheld for item in listed if item.attempt}


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_tool_that_the_run_has_used_up_is_not_offered_any_more_and_the_others_are(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    """Two searches in the first step; the second is told before it begins. People are told on the pages of both."""
    one, two = (step(key, *after) | {"tools": TOOLS} for key, after in (("one", ()), ("two", ("one",))))
    team = Team(plan=plan(one, two), executor=searching(3))
    api.script(team)
    run = start(submitted, sources_needed=False, service_uses_in_run=2)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert searches_in(run) == 2
    assert withheld(run) == {"one": {"web_search": 3}, "two": {"web_search": 1}}
    asked = team.seen["executor"]
    first = [one for one in asked if "what this run may use of a tool of your service is used up" in str(one.messages)]
    assert first[0].tool_names == ["calculate", "code_execution", "read_file", "web_fetch", "write_file"]
    told_so = "What this run may use of web_search is used up, or kept for steps that are at work now"
    assert told_so in json.dumps(first[0].messages)
    begun = next(one for one in asked if step_of(one)["step_id"] == "two")
    assert "web_search" not in begun.tool_names
    assert told_so in json.dumps(begun.messages[0])
    assert "closed" not in json.dumps(begun.messages[0])
    client.force_login(alice)
    said_so = "The run had used web_search as often as it may, so that this step went on without."
    pages = [client.get(f"/runs/{run.pk}/steps/{one.pk}/").text for one in Step.objects.filter(plan__run=run)]
    assert [page.count(said_so) for page in pages] == [1, 1]
    assert as_markdown(run).count(said_so) == 2


def test_steps_side_by_side_cannot_use_the_same_rest_of_what_the_run_may_search(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first is asked, the second begins: what the first may search at most is reserved."""
    one, two = (step(key) | {"tools": ["read_file", "web_search", "write_file"]} for key in ("one", "two"))
    team = Team(plan=plan(one, two), executor=searching(1))
    api.script(team)
    run = start(submitted, sources_needed=False, service_uses_in_run=1)
    drain(run)
    answer(run, alice)
    first, second = WorkItem.objects.filter(run=run, attempt__isnull=False).order_by("pk")
    clients = recording.clients()

    class InFlight:
        def ask(self, ask: Any, keep_going: Any, draft: Any) -> Any:
            held = WorkItem.objects.get(pk=first.pk).reserved_uses
            if ask.uses and held:
                perform(second.pk)
            return clients.ask(ask, keep_going, draft)

    monkeypatch.setattr("runs.engine.perform.clients", InFlight)
    perform(first.pk)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert searches_in(run) == 1
    assert withheld(run) == {"one": {"web_search": 2}, "two": {"web_search": 1}}
    assert not any(WorkItem.objects.filter(run=run).values_list("reserved_uses", flat=True))


def test_who_resumes_an_attempt_asks_without_the_tool_although_there_would_be_some_of_it_again(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call in flight that it was kept for has not used it, and in between the worker was lost (D3)."""
    one, two = (step(key) | {"tools": ["read_file", "web_search", "write_file"]} for key in ("one", "two"))
    team = Team(plan=plan(one, two))
    api.script(team)
    run = start(submitted, sources_needed=False, service_uses_in_run=1)
    drain(run)
    answer(run, alice)
    first, second = WorkItem.objects.filter(run=run, attempt__isnull=False).order_by("pk")
    in_flight = WorkItem.objects.filter(pk=first.pk)
    later, before = timezone.now() + timedelta(hours=1), timezone.now() - timedelta(hours=1)
    in_flight.update(status="leased", lease_until=later, reserved_uses={"web_search": 1})
    clients = recording.clients()

    class Lost:
        def ask(self, ask: Any, keep_going: Any, draft: Any) -> Any:
            if len(ask.messages) > 1:
                raise LeaseLost("The worker is gone.")
            return clients.ask(ask, keep_going, draft)

    with monkeypatch.context() as patch:
        patch.setattr("runs.engine.perform.clients", Lost)
        perform(second.pk)
    in_flight.update(status="ready", lease_until=None, reserved_uses={})
    WorkItem.objects.filter(pk=second.pk).update(lease_until=before)
    perform(second.pk)
    asked = [request for request in team.seen["executor"] if step_of(request)["step_id"] == "two"]
    assert [(len(one.messages), "web_search" in one.tool_names) for one in asked] == [(1, False), (3, False)]
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


def test_searches_that_were_paid_for_in_vain_count_for_the_run(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    """A reply that came when the lease was lost is of no use, and has cost what it has cost."""
    team = Team(plan=plan(step("one") | {"tools": TOOLS}), executor=searching(1))
    api.script(team)
    run = start(submitted, sources_needed=False, service_uses_in_run=3)
    drain(run)
    ModelCall.objects.filter(run=run).update(live=False, web_searches=3, code_runs=2)
    assert served_uses(run) == {"web_search": 3, "web_fetch": 0, "code_execution": 2}
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert withheld(run) == {"one": {"web_search": 1}}


@pytest.mark.parametrize(
    ("web", "installed", "sent"),
    [
        ("*", "*", {}),
        ("*", "gov.uk", {"allowed_domains": ["gov.uk"]}),
        ("example.org gov.uk", "*", {"allowed_domains": ["example.org", "gov.uk"]}),
        ("* -ads.example", "* -worse.example", {"blocked_domains": ["ads.example", "worse.example"]}),
    ],
)
def test_the_sites_of_policy_and_installation_are_those_of_the_service(
    api: FakeAnthropic, submitted: Submit, alice: User, settings: Any, web: str, installed: str, sent: dict[str, Any]
) -> None:
    settings.WEB = installed
    team = Team(plan=plan(step("one") | {"tools": ["read_file", "web_search", "write_file"]}))
    api.script(team)
    run = start(submitted, sources_needed=False, web=web)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    tool = next(one for one in team.seen["executor"][0].tools if one["name"] == "web_search")
    assert {name: value for name, value in tool.items() if name.endswith("_domains")} == sent


def test_sites_that_the_service_cannot_be_told_are_refused(submitted: Submit, settings: Any) -> None:
    with pytest.raises(InvalidInput, match="web_fetch takes sites, or all sites but some, not both"):
        start(submitted, web="example.org -ads.example.org")
    settings.SERVICE_TOOLS = frozenset({"web_fetch"})
    with pytest.raises(InvalidInput, match=r"does not allow code_execution\. .* it allows: web_fetch\."):
        start(submitted)


@pytest.mark.parametrize("reason", ["policy", "installation", "sites", "server", "model"])
def test_without_leave_or_on_another_server_no_plan_may_name_them(
    api: FakeAnthropic, submitted: Submit, settings: Any, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    team = Team(plan=plan(step("one") | {"tools": ["read_file", "web_search", "write_file"]}))
    api.script(team)
    run = start(submitted, service_tools=(), web="") if reason == "policy" else start(submitted)
    match reason:
        case "installation":
            settings.SERVICE_TOOLS = frozenset()
        case "sites":
            settings.WEB = ""
        case "server":
            monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        case "model":
            models = {**run.policy.model_dump()["models"], "executor": {"model": "claude-haiku-4-5"}}
            Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(models=models))
    drain(run)
    assert open_gate(run).kind == GateKind.ERROR
    assert "names the tool “web_search”, which this run does not have: it needs a model on Anthropic's own service" in (
        open_gate(run).question
    )
    assert "web_search (" not in str(team.seen["planner"][0].messages[0])


def test_the_gate_says_what_a_search_costs(api: FakeAnthropic, submitted: Submit, alice: User, client: Client) -> None:
    api.script(Team(plan=plan(step("one") | {"tools": TOOLS})))
    run = start(submitted)
    drain(run)
    client.force_login(alice)
    text = client.get(f"/runs/{run.pk}/").text
    assert "earches and reads the web (any site)" in text
    assert "uns code at the model&#x27;s service" in text
    assert "earches cost $0.01 each, 8 in an attempt and 40 in the run at most" in text


@pytest.mark.slow
def test_pages_history_and_exports_say_what_the_service_was_asked_and_invent_no_time(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client
) -> None:
    code = "print('<b>" + "x" * 500 + "</b>')"
    made = (
        *(search(query="density of <i>Singapore</i>\n in 2026"), results("srvtoolu_1", found(CITY, "Facts"))),
        *(use("srvtoolu_2", "web_fetch", url=CITY), page("srvtoolu_2", CITY, PASSAGE)),
        *(use("srvtoolu_3", "code_execution", code=code), output("srvtoolu_3", "x\n")),
    )
    team = Team(plan=plan(step("one") | {"tools": TOOLS}))
    team.executor = rounds(UseTools(WRITE, READ), Served((*made, said(REPORT))))
    api.script(team)
    run = start(submitted, sources_needed=False)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    client.force_login(alice)
    attempt = Attempt.objects.get(step__plan__run=run)
    pages = {
        "step": client.get(f"/runs/{run.pk}/steps/{attempt.step_id}/").text,
        "history": client.get(f"/runs/{run.pk}/history/calls/{attempt.work.pk}/").text,
    }
    for name, text in pages.items():
        items = [item.split("<details")[0] for item in text.split("<li")]
        lines = [item for item in items if re.search(r"web_search|web_fetch|code_execution", item)]
        assert [("density of &lt;i&gt;" in line, CITY in line, "&lt;b&gt;xxx" in line) for line in lines] == [
            (True, False, False),
            (False, True, False),
            (False, False, True),
        ], name
        assert not [line for line in lines if re.search(r"\b0 ms|0\.0 s", line)], name
        assert "x" * 300 not in text, name
    assert pages["step"].count("at the service") == 3
    exported: Any = as_json(run)["events"]
    called = [event["data"] for event in exported if event["kind"] == "tool_called"]
    assert [data.get("about", "")[:40] for data in called] == [
        "",
        "",
        "density of <i>Singapore</i> in 2026",
        CITY,
        "print('<b>" + "x" * 30,
    ]
    assert max(len(data.get("about", "")) for data in called) == 200
    entries = [json.loads(line) for line in archive.journal_lines(run)]
    took = {row["tool"]: row["duration_ms"] is None for row in entries if row["kind"] == "tool"}
    assert took == {
        "write_file": False,
        "read_file": False,
        "web_search": True,
        "web_fetch": True,
        "code_execution": True,
    }


def test_the_estimate_of_a_plan_has_the_searches_that_attempts_and_run_may_make(
    api: FakeAnthropic, submitted: Submit
) -> None:
    """Two steps of three attempts, four searches in each at most: 24, or as many as the run may have."""
    both = [step(key) | {"tools": ["web_search", "write_file"]} for key in ("one", "two")]
    api.script(Team(plan=plan(*both)))
    high: dict[int, Decimal] = {}
    for most in (1_000, 24, 15):
        run = start(submitted, service_uses=4, service_uses_in_run=most, attempts=3)
        drain(run)
        found = run.plans.get().estimate
        assert found is not None
        high[most] = found.high
    assert (high[1_000] - high[24], high[24] - high[15]) == (Decimal(0), 9 * Decimal("0.01"))


def test_a_result_of_a_turn_that_counts_no_more_is_not_taken_for_this_one(submitted: Submit) -> None:
    run = start(submitted)
    WorkItem.objects.filter(run=run).update(epoch=1)  # another worker had it
    lease = claim.claim(WorkItem.objects.get(run=run).pk)
    assert lease is not None
    searched = UseOfTool("s1", "web_search", {"query": "q"})
    journal.write_result(lease.item, CallPlace(0, 1), searched, ToolResult("1 found for “q” (2026-01-01)\nOld."), {}, 0)
    overlay = Overlay(run.inputs, {}, max_files=0, max_bytes=0)

    def served(text: str) -> str:
        tools = RecordedTools(RunTools(overlay), overlay, Recording(lease))
        return tools.serve(searched, ToolResult(text)).text

    assert served("1 found for “q”\nOld.") == "1 found for “q” (2026-01-01)\nOld."
    assert served("1 found for “q”\nNew.").endswith(")\nNew.")
    assert [row.result.splitlines()[-1] for row in ToolCall.objects.filter(run=run)] == ["New."]
