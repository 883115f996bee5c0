"""Subagents on pages and in what leaves the product: who may do what, and which call was whose."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from runs.models import Run, Step, User
from runs.readmodel.gate_text import about
from runs.reports.archive import journal_lines
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.factories.agents import WRITER, agent, change
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.team import Team, plan, report, step
from tests.integration.web.submitting import JSON, form
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
TOOLS = ["delegate", "read_file", "write_file"]


def executor(request: Request, right: Answer) -> Answer:
    if "delegate" not in request.tool_names:
        return right
    if request.tool_results:
        return Say(json.dumps(report("Found by one.")))
    hand_on = ToolUse("delegate", {"agent": WRITER, "task": "Read it."})
    return UseTools(hand_on, ToolUse("write_file", {"path": "one.md", "content": "Found by one.\n"}))


@pytest.fixture(autouse=True)
def helped(team: Team) -> Team:
    """A step with a subagent, which reads a file that is there and one that is not."""
    team.plan = plan(step("one") | {"tools": TOOLS}, step("two", "one"))
    team.executor = executor
    reads = [ToolUse("read_file", {"path": path}) for path in ("notes.md", "gone.md")]
    team.subagent = lambda request, right: right if request.tool_results else UseTools(*reads)
    return team


def page_of(step: Step, client: Client) -> str:
    return " ".join(client.get(f"/runs/{step.plan.run_id}/steps/{step.pk}/").text.split())


def test_who_approves_sees_to_whom_parts_may_go(submitted: Submit, alice: User, client: Client) -> None:
    agent()
    run = submitted(subagents=[WRITER])
    drain(run)
    client.force_login(alice)
    page = " ".join(client.get(f"/runs/{run.pk}/").text.split())
    assert f"<strong>May hand parts to {WRITER}</strong> in “Do one”" in page
    said = f"<strong>Agent {WRITER}</strong> may be given parts of “Do one”. Its task: Writes notices to other parties."
    assert said in page
    assert f"Instructions for the agent {WRITER}" in page
    whole = " ".join(client.get(f"/runs/{run.pk}/plan/").text.split())
    assert f"<strong>may hand parts to {WRITER}</strong>" in whole
    assert f"Instructions for its subagent {WRITER}" in whole
    assert f"! may hand parts to {WRITER}" in "\n".join(about(open_gate(run)))


def test_a_changed_subagent_is_named_at_the_gate(submitted: Submit, alice: User, client: Client, team: Team) -> None:
    writer = agent()
    team.plan = plan(step("one"), step("two", "one") | {"tools": TOOLS})
    run = submitted(subagents=[WRITER])
    drain(run)
    answer(run, alice)
    change(writer, instructions="Write in verse.")
    client.force_login(alice)
    changed = f"The agent {WRITER} was changed since this plan was approved."
    assert changed in client.get(f"/runs/{run.pk}/plan/").text
    drain(run)
    assert f"(the agent {WRITER} was changed)" in client.get(f"/runs/{run.pk}/").text


@pytest.mark.slow
def test_who_reads_a_step_its_history_or_an_export_finds_whose_each_call_was(
    submitted: Submit, alice: User, client: Client
) -> None:
    one = agent()
    run = finish(submitted(subagents=[WRITER]), alice)
    client.force_login(alice)
    page = page_of(Step.objects.get(plan__run=run, key="one"), client)
    assert page.count(f'<span class="faint">by {WRITER}</span>') == 2
    assert f'<span class="mono">delegate</span> <span class="tool-about">{WRITER}</span>' in page
    assert f"Instructions that the subagent {WRITER} had" in page
    work = run.work.get(attempt__step__key="one").pk
    history = client.get(f"/runs/{run.pk}/history/calls/{work}/").text
    assert f"read_file notes.md by {WRITER}." in history
    assert f"read_file gone.md by {WRITER} failed." in history
    whose = [(one["tool"], one["agent"]) for one in map(json.loads, journal_lines(run)) if one["kind"] == "tool"]
    assert whose[:4] == [("read_file", WRITER), ("read_file", WRITER), ("delegate", None), ("write_file", None)]
    machine = as_json(run)
    assert [each["agent"] for each in machine["refused_tool_calls"]] == [WRITER]
    assert machine["steps"][0]["attempts"][0]["subagents"] == {WRITER: one.definition.digest}
    assert f"May hand parts to {WRITER} ({one.definition.digest[:12]})." in as_markdown(run)


def test_the_form_offers_the_agents_there_are(alice_client: Client) -> None:
    assert "Subagents" not in alice_client.get("/runs/new/").text
    agent()
    text = alice_client.get("/runs/new/").text
    assert f'name="subagents" value="{WRITER}"' in text
    alice_client.post("/runs/new/", form(subagents=[WRITER]))
    assert Run.objects.get().policy.subagents == (WRITER,)
    refused = alice_client.post("/runs/new/", form(subagents=["nobody"]), headers=JSON)
    assert refused.status_code == 422


@pytest.mark.slow
def test_a_run_that_is_done_again_shows_a_subagent_that_is_gone_so_that_it_can_be_left_out(
    submitted: Submit, alice: User, client: Client
) -> None:
    one = agent()
    run = finish(submitted(subagents=[WRITER]), alice)
    one.delete()
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/again/with/").text
    assert re.search(rf'name="subagents" value="{WRITER}"[^>]* checked', page)
