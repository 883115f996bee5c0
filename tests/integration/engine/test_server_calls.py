"""Tools of MCP servers in a run: those that act wait for a person, and nothing is sent twice unasked."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from runs.engine.mcp_listings import ask
from runs.enums import GateKind, GateStatus, Outcome, Provenance, Verb, WorkStatus
from runs.errors import InvalidInput
from runs.lifecycle.gates.tool_gate import NO_REASON
from runs.mcp_client.server_config import ServerConfig
from runs.models import Attempt, Gate, Run, ServerListing, ToolCall, User
from runs.pev.tools.toolbox import RunTools
from runs.readmodel.gate_text import about
from runs.web.operations.setup_findings import findings
from tests.factories import Submit, answer, drain, finish, open_gate, share
from tests.factories.agents import WRITER, agent
from tests.fakes import mcp_tickets
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, labels_of, looking, plan, step, told, verdict
from tests.html_forms import undescribed

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]
CREATE = ToolUse("tickets__create", {"title": "The door is broken"})
SEARCH = ToolUse("tickets__search", {"words": "door"})
TOOLS = ["read_file", "write_file", "tickets__search", "tickets__create"]
PLAN = plan(step("one") | {"tools": TOOLS})


class Tickets:
    def __init__(self, settings: Any, log: Path) -> None:
        self._settings, self._log = settings, log
        self.use()

    def use(self, mode: str = "", **more: Any) -> None:
        env = {"MODE": mode, "LOG": str(self._log)}
        values = {
            "command": sys.executable,
            "args": ["-I", "-S", mcp_tickets.__file__, "--plain"],
            "env": env,
            "effects": {"search": "reads"},
            **more,
        }
        self._settings.MCP = {"tickets": ServerConfig.model_validate(values)}

    @property
    def calls(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture(autouse=True)
def tickets(settings: Any, tmp_path: Path) -> Tickets:
    return Tickets(settings, tmp_path / "calls")


def planned(api: FakeAnthropic, submitted: Submit, alice: User, *uses: ToolUse, **policy: Any) -> Run:
    """A run whose plan is approved and whose step has begun with these calls."""
    api.script(Team(plan=PLAN, executor=looking(one=list(uses))))
    run = submitted(servers=["tickets"], **policy)
    drain(run)
    answer(run, alice)
    drain(run)
    return run


def server_calls(run: Run) -> list[ToolCall]:
    return list(ToolCall.objects.filter(run=run, name__startswith="tickets__"))


def test_what_acts_waits_for_a_person_who_sees_what_is_sent(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, tickets: Tickets
) -> None:
    run = planned(api, submitted, alice, SEARCH, CREATE)
    gate = open_gate(run)
    assert gate.kind == GateKind.TOOL
    assert gate.call
    assert (gate.call["name"], gate.call["arguments"]) == (CREATE.name, CREATE.input)
    assert gate.call["schema"]["properties"]["title"] == {"type": "string"}
    assert [work.status for work in run.work.open()] == [WorkStatus.SUSPENDED]
    assert tickets.calls == ["search door"]
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert "Carry out “create” on tickets?</h2>" in page
    assert '<bdi class="act-words">The door is broken</bdi>' in page
    assert about(gate)[:7] == [
        "Carry out “create” on tickets?",
        "! Why: the AI gives no reason",
        "Named in the approved plan: step “Do one” may use this tool",
        "! Not known whether it can be undone",
        "! In whose name: unknown. The administrator has not said which account “tickets” uses.",
        "Tool: create of the server tickets",
        "Title: The door is broken",
    ]
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert tickets.calls == ["search door", "create The door is broken"]
    (_, created) = server_calls(run)
    assert created.result.splitlines()[0].startswith("tickets: create, called on 20")
    assert "Created ticket 8" in created.result
    gate.refresh_from_db()
    assert gate.sent_at is not None


def test_a_call_of_a_subagent_that_acts_waits_for_a_person_like_any_other(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    """It goes on within its conversation, once for each yes; nothing is asked or done twice."""
    agent()
    hands_on = ToolUse("delegate", {"agent": WRITER, "task": "Report the door."})
    team = Team(plan=plan(step("one") | {"tools": [*TOOLS, "delegate"]}), executor=looking(one=[hands_on]))
    team.subagent = lambda request, right: UseTools(SEARCH, CREATE) if len(request.messages) == 1 else right
    api.script(team)
    run = submitted(servers=["tickets"], subagents=[WRITER])
    drain(run)
    answer(run, alice)
    drain(run)
    assert (open_gate(run).kind, tickets.calls) == (GateKind.TOOL, ["search door"])
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert tickets.calls == ["search door", "create The door is broken"]
    assert len(team.seen["subagent"]) == 2
    calls = ToolCall.objects.filter(run=run).order_by("ordinal").values_list("name", "agent")
    assert list(calls) == [
        ("tickets__search", WRITER),
        ("tickets__create", WRITER),
        ("delegate", ""),
        ("write_file", ""),
    ]


def test_who_approves_a_plan_sees_what_it_may_do_outside(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, tickets: Tickets
) -> None:
    create = {"does": "Creates a ticket and tells the caretaker.", "can_be_undone": False}
    tickets.use(account="robot@example.com", tools={"create": create})
    team = Team(plan=PLAN)
    api.script(team)
    run = submitted(servers=["tickets"])
    drain(run)
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    acts = (
        "Creates a ticket and tells the caretaker. Account: robot@example.com. Cannot be undone. "
        "Each call needs a decision."
    )
    assert "Acts outside: tickets__create" in page
    assert acts in page
    assert acts in client.get(f"/runs/{run.pk}/plan/").text
    assert "Reads outside: tickets__search" in page
    assert "tickets__create (acts outside): Creates a ticket." in str(team.seen["planner"][0].messages[0])


def test_a_refusal_is_told_to_the_model_and_nothing_is_sent(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    run = planned(api, submitted, alice, CREATE)
    answer(run, alice, Verb.REJECT, "There is one already")
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (call,) = server_calls(run)
    assert call.is_error
    assert call.result == "alice has not allowed this call, and nothing was sent: There is one already."
    assert tickets.calls == []
    assert run.gates.get(kind=GateKind.TOOL).request is None


def test_a_refusal_needs_no_words(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, tickets: Tickets
) -> None:
    run = planned(api, submitted, alice, CREATE)
    gate = open_gate(run)
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    buttons = re.findall(
        r'<button class="button" name="verb" value="(approve|reject)">(.*?)</button>', undescribed(page)
    )
    assert [(verb, strip_tags(words).strip()) for verb, words in buttons] == [
        ("approve", "Carry out"),
        ("reject", "Don’t carry out"),
    ]
    client.post(f"/runs/{run.pk}/gates/{gate.pk}/", {"verb": "reject", "digest": gate.digest})
    gate.refresh_from_db()
    assert (gate.status, gate.reason) == (GateStatus.REJECTED, NO_REASON)
    history = " ".join(strip_tags(client.get(f"/runs/{run.pk}/history/").text).split())
    assert "alice decided against carrying out “create” on tickets in “" in history
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (call,) = server_calls(run)
    assert call.result == "alice has not allowed this call, and nothing was sent: No reason given."
    assert tickets.calls == []


def test_what_the_model_writes_with_a_call_is_its_reason(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    def explaining(request: Request, right: Answer) -> Answer:
        return UseTools(CREATE, text="The caretaker has to know.") if isinstance(right, UseTools) else right

    api.script(Team(plan=PLAN, executor=explaining))
    run = submitted(servers=["tickets"])
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    assert gate.why == "The caretaker has to know."
    assert about(gate)[1] == "Why, in words of the AI: “The caretaker has to know.”"


def test_the_words_of_an_administrator_are_shown_and_approving_is_bound_to_them(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, tickets: Tickets
) -> None:
    words = {"create": {"does": "Creates a ticket that everyone sees.", "can_be_undone": False}}
    tickets.use(account="robot@example.com", tools=words)
    run = planned(api, submitted, alice, CREATE)
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert '<p class="gate-lead">Creates a ticket that everyone sees.</p>' in page
    assert '<li data-mark="warn"><strong>Cannot be undone</strong></li>' in page
    account = "<strong>In the name of:</strong> robot@example.com"
    assert account in page
    tickets.use(account="boss@example.com", tools=words)
    answer(run, alice)
    drain(run)
    assert tickets.calls == []
    gate = open_gate(run)
    assert gate.question == (
        "Carry out “create” on tickets? What the administrator says about it has changed since it was approved."
    )
    assert account.replace("robot", "boss") in client.get(f"/runs/{run.pk}/").text
    answer(run, alice)
    drain(run)
    assert tickets.calls == ["create The door is broken"]


def test_nobody_is_asked_more_often_than_the_policy_says(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    other = ToolUse(CREATE.name, {"title": "The lamp is broken"})
    run = planned(api, submitted, alice, CREATE, other, acting_calls=1)
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert tickets.calls == ["create The door is broken"]
    assert [call.is_error for call in server_calls(run)] == [False, True]
    assert server_calls(run)[1].result.startswith("This run may ask to let 1 call act outside")
    assert run.gates.filter(kind=GateKind.TOOL).count() == 1


def test_each_call_is_let_go_by_itself(api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets) -> None:
    run = planned(api, submitted, alice, CREATE, CREATE)
    answer(run, alice)
    drain(run)
    assert tickets.calls == ["create The door is broken"]
    assert open_gate(run).kind == GateKind.TOOL
    answer(run, alice)
    finish(run, alice)
    assert len(tickets.calls) == 2


def test_arguments_that_change_between_gate_and_execution_are_asked_about_again(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    run = planned(api, submitted, alice, CREATE)
    Gate.objects.filter(pk=open_gate(run).pk).update(digest="0" * 64)
    answer(run, alice)
    drain(run)
    assert tickets.calls == []
    assert open_gate(run).kind == GateKind.TOOL


@pytest.mark.parametrize(("repeatable", "again"), [([], True), (["create"], False)])
def test_a_call_whose_process_ended_is_repeated_only_if_that_does_no_harm(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    tickets: Tickets,
    monkeypatch: pytest.MonkeyPatch,
    repeatable: list[str],
    again: bool,
) -> None:
    tickets.use(repeatable=repeatable)
    run = planned(api, submitted, alice, CREATE)
    answer(run, alice)
    called = RunTools.run

    def killed(self: Any, use: Any) -> Any:
        called(self, use)
        raise SystemExit  # as if the process had ended before there was a row

    with monkeypatch.context() as patch:
        patch.setattr(RunTools, "run", killed)
        with pytest.raises(SystemExit):
            drain(run)
    assert tickets.calls == ["create The door is broken"]
    run.work.open().update(lease_until="2020-01-01T00:00Z")
    drain(run)
    if again:
        gate = open_gate(run)
        assert "may have been carried out already" in " ".join(gate.question.split())
        assert len(tickets.calls) == 1
        answer(run, alice, Verb.REJECT, "It is there")
        finish(run, alice)
        (call,) = server_calls(run)
        assert "alice has not allowed it to be repeated: It is there." in call.result
        assert len(tickets.calls) == 1
    else:
        finish(run, alice)
        assert len(tickets.calls) == 2
        assert run.gates.filter(kind=GateKind.TOOL).count() == 1


def test_what_a_server_says_is_evidence_if_it_only_looks_things_up(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    def quoting(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        quote = "is broken since 2026-03-01"
        return right if final else Say(json.dumps(verdict(labels_of(request), "@tool-1", quote)))

    one = step("one") | {"tools": TOOLS}
    one["acceptance_criteria"][1] |= {"about": "sources", "text": "The door is broken since March"}
    team = Team(plan=plan(one), executor=looking(one=[SEARCH]), verifier=quoting)
    api.script(team)
    run = submitted(servers=["tickets"], sources_needed=True)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (proof,) = Attempt.objects.get(step__plan__run=run).verdict.results[1].evidence
    assert proof.provenance == Provenance.OBSERVED


@pytest.mark.exhaustive
def test_a_tool_that_the_api_refuses_does_not_fail_the_run_and_every_text_is_evidence(
    api: FakeAnthropic, submitted: Submit, alice: User, client: Client, tickets: Tickets
) -> None:
    def quoting(request: Request, right: Answer) -> Answer:
        final = any(part.kind == "subject" and part.text.startswith("The whole") for part in told(request))
        quote = "The door is broken since 2026-03-01"
        return right if final else Say(json.dumps(verdict(labels_of(request), "@tool-1", quote)))

    tickets.use("odd")
    one = step("one") | {"tools": TOOLS}
    one["acceptance_criteria"][1] |= {"about": "sources", "text": "The door is broken since March"}
    api.script(Team(plan=plan(one), executor=looking(one=[SEARCH]), verifier=quoting))
    run = submitted(servers=["tickets"], sources_needed=True)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (call,) = server_calls(run)
    assert "[link to Photo of the door, ticket:7/photo: its content is not included]" in call.result
    assert '{"status": "open"}' in call.result
    alice.is_superuser = True
    alice.save()
    client.force_login(alice)
    page = client.get("/status/servers/").text
    assert "filter is left out: the API refuses the name of its argument “$filter”" in page
    assert "any is left out: its schema has anyOf at the top, which the API refuses" in page
    assert "typed is left out: its schema has a type that does not exist" in page


@pytest.mark.parametrize("mode", ["lie", "inject"])
def test_what_a_server_claims_lets_nothing_go(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets, mode: str
) -> None:
    tickets.use(mode)
    run = planned(api, submitted, alice, SEARCH, CREATE)
    assert open_gate(run).kind == GateKind.TOOL
    assert tickets.calls == ["search door"]


def test_a_tool_that_changes_after_the_approval_is_not_called(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    tickets.use("change")
    run = planned(api, submitted, alice, SEARCH)
    (call,) = server_calls(run)
    assert call.is_error
    assert "has changed its tool search since it was listed" in call.result
    assert tickets.calls == []
    gate = open_gate(run)
    assert gate.kind == GateKind.PLAN
    assert "Since version 1 was approved, something has changed (MCP servers)" in gate.question


@pytest.mark.exhaustive
def test_a_server_that_dies_in_mid_call_is_an_error_in_words(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    tickets.use("die")
    run = planned(api, submitted, alice, CREATE)
    answer(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    (call,) = server_calls(run)
    assert call.is_error
    assert call.result.startswith("The server did not answer the call of create")
    assert call.result.endswith("Whether it was carried out is not known.")


def test_a_second_person_lets_a_call_go_where_the_policy_wants_one(
    api: FakeAnthropic, submitted: Submit, alice: User, bob: User
) -> None:
    api.script(Team(plan=PLAN, executor=looking(one=[CREATE])))
    run = submitted(servers=["tickets"])
    share(run, bob)
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    drain(run)
    answer(run, bob)
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.needs_second_person) == (GateKind.TOOL, True)


def test_without_the_server_in_the_policy_no_plan_may_name_its_tools(api: FakeAnthropic, submitted: Submit) -> None:
    ask("tickets")
    team = Team(plan=PLAN)
    api.script(team)
    run = submitted()
    drain(run)
    assert "names the tool “tickets__search”" in open_gate(run).question
    assert "tickets__" not in str(team.seen["planner"][0].messages[0])
    with pytest.raises(InvalidInput, match=r"has no MCP server “other”\. There are: tickets\."):
        submitted(servers=["other"])


def test_a_server_that_is_away_is_a_finding_and_keeps_its_tools(tickets: Tickets) -> None:
    ask("tickets")
    assert [tool.name for tool in ServerListing.objects.get().tools] == ["create", "search"]
    tickets.use(command="/nowhere/tickets")
    ask("tickets")
    row = ServerListing.objects.get()
    assert [tool.name for tool in row.tools] == ["create", "search"]
    (found,) = [one for one in findings() if one.about == "MCP"]
    assert found.is_wrong
    assert "The server did not list its tools" in found.text
    assert "create (acts outside), search (reads outside)" in found.text


def test_a_run_that_is_stopped_at_such_a_gate_sends_nothing(
    api: FakeAnthropic, submitted: Submit, alice: User, tickets: Tickets
) -> None:
    run = planned(api, submitted, alice, CREATE)
    answer(run, alice, Verb.STOP)
    run.refresh_from_db()
    assert run.outcome == Outcome.CANCELLED
    assert tickets.calls == []
    assert run.gates.get(kind=GateKind.TOOL).status == GateStatus.STOPPED
