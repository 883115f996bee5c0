"""The pages of agents: administrators add, change and delete them; people who decide see who does a step."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import AuditKind, GateKind
from runs.lifecycle import available_agents
from runs.lifecycle.approval.fingerprint import contract_of
from runs.lifecycle.available_agents import as_bound
from runs.models import Agent, AuditEntry, Run, User
from runs.pev.agents import MAX_INSTRUCTIONS
from runs.pev.imports.imported import exported, plan_from, plan_in
from runs.readmodel.gate_text import about
from tests import factories as made
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.factories.agents import WRITER, agent, change, defined, played_plan
from tests.fakes.team import Team, plan, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
SENT = {"name": "letter-writer", "purpose": "Writes letters.", "instructions": "Write well.\r\nBe short."}


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(made.person("root", is_superuser=True))
    return client


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def field_of(text: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found
    return found[1]


def test_without_agents_the_page_says_what_to_do(root: Client) -> None:
    text = root.get("/agents/").text
    assert "No agents yet" in text
    assert "/agents/new/?sample" in text
    sample = root.get("/agents/new/?sample").text
    assert f'value="{available_agents.SAMPLE_AGENT}"' in sample
    assert "Sign for nobody" in sample


def test_one_is_added_changed_and_deleted(root: Client) -> None:
    assert (
        root.post("/agents/new/", SENT | {"tools": ["read_file"], "model": " claude-opus-5-5 "})["Location"]
        == "/agents/"
    )
    one = Agent.objects.get()
    wanted = defined(
        purpose="Writes letters.",
        instructions="Write well.\nBe short.",
        model="claude-opus-5-5",
        tools=("read_file",),
    )
    assert (one.name, one.definition, one.changed_by.username) == ("letter-writer", wanted, "root")
    assert "claude-opus-5-5 · 1 tool at most" in re.sub(r"\s+", " ", root.get("/agents/").text)
    page = root.get("/agents/letter-writer/").text
    seen = {"seen": field_of(page, "seen")}
    assert 'name="name"' not in page
    root.post("/agents/letter-writer/", SENT | seen | {"instructions": "Write better.", "name": "other"})
    one.refresh_from_db()
    assert (one.name, one.definition.instructions, one.definition.tools) == ("letter-writer", "Write better.", ())
    assert "Delete the agent “letter-writer”?" in root.get("/agents/letter-writer/delete/").text
    assert Agent.objects.count() == 1
    root.post("/agents/letter-writer/delete/")
    assert Agent.objects.count() == 0


def test_what_somebody_else_has_changed_meanwhile_is_not_written_over(root: Client) -> None:
    one = agent()
    seen = field_of(root.get(f"/agents/{WRITER}/").text, "seen")
    change(one, instructions="Write in verse.")
    sent = SENT | {"seen": seen, "instructions": "Mine."}
    answer = root.post(f"/agents/{WRITER}/", sent)
    assert (answer.status_code, "Someone changed this agent since you opened it." in answer.text) == (422, True)
    assert "Mine." in answer.text
    one.refresh_from_db()
    assert one.definition.instructions == "Write in verse."


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "Give the agent a name."),
        ({"name": "Letter Writer"}, "Give the agent a name of small letters, digits and hyphens"),
        ({"name": "a--b"}, "Give the agent a name of small letters, digits and hyphens"),
        ({"name": "new"}, "Give the agent a name of small letters, digits and hyphens"),
        ({"name": WRITER}, f"There is an agent “{WRITER}” already."),
        ({"purpose": " "}, "Say in a sentence what the agent is for."),
        ({"instructions": ""}, "Write the instructions."),
        ({"instructions": "x" * (MAX_INSTRUCTIONS + 1)}, "This is too long by 1 character; 8,000 fit."),
        ({"model": "offline-executor"}, "offline-executor follows no instructions."),
        ({"tools": ["rm -rf"]}, "There is no tool “rm -rf”."),
        ({"effort": "most"}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_one_is_said_and_kept(root: Client, changes: dict[str, str], sentence: str) -> None:
    agent()
    sent = SENT | changes
    answer = root.post("/agents/new/", sent)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert ("Write well." in answer.text) == ("instructions" not in changes)
    assert Agent.objects.count() == 1


def test_hostile_words_are_escaped(root: Client) -> None:
    words = "<script>alert(1)</script>"
    agent(purpose=words, instructions=words)
    for page in ("/agents/", f"/agents/{WRITER}/"):
        text = root.get(page).text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


def test_there_are_so_many_and_no_more(root: Client) -> None:
    zoe = made.person("zoe", is_superuser=True)
    for number in range(available_agents.MAX_AGENTS):
        available_agents.add_agent(zoe, f"writer-{number}", defined())
    assert "There are 100 agents, and no more are allowed." in root.post("/agents/new/", SENT).text


def test_the_list_asks_no_more_for_many(root: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    agent("writer-1")
    with django_assert_num_queries(3):  # session, user, agents
        root.get("/agents/")
    agent("writer-2")
    agent("writer-3")
    with django_assert_num_queries(3):
        root.get("/agents/")


def test_a_tool_that_is_gone_stays_where_it_was_and_is_refused_when_it_is_saved(root: Client) -> None:
    one = agent(tools=("read_file",))
    Agent.objects.update(definition=defined(tools=("read_file", "gone__tool")))
    one.refresh_from_db()
    assert "gone__tool" in root.get(f"/agents/{WRITER}/").text
    sent = SENT | {"tools": ["gone__tool"], "seen": one.changed_at.isoformat()}
    assert "There is no tool “gone__tool”." in root.post(f"/agents/{WRITER}/", sent).text


@pytest.fixture
def run(team: Team, submitted: Submit, bob: User) -> Run:
    """It waits for its plan to be approved, whose first step names an agent."""
    agent(instructions="Name <b>the clause</b>.", model="claude-opus-5-5")
    team.plan = played_plan()
    found = submitted()
    made.share(found, bob)
    drain(found)
    return found


def test_who_decides_sees_who_does_a_step_and_what_they_are_told(run: Run, bob: User, charlie: User) -> None:
    for page, told in (
        (f"/runs/{run.pk}/", f"Instructions for the agent {WRITER}"),
        (f"/runs/{run.pk}/plan/", "Instructions for its agent"),
    ):
        text = browser(bob).get(page).text
        assert told in text
        assert "Name &lt;b&gt;the clause&lt;/b&gt;." in text
        assert "claude-opus-5-5" in text
        assert browser(charlie).get(page).status_code == 404
    gate = " ".join(browser(bob).get(f"/runs/{run.pk}/").text.split())
    assert f"<strong>Agent {WRITER}</strong> carries out “Do one”. Its task: " in gate
    assert "It may use what its steps may use, and sends nothing." in gate


def test_what_became_of_it_is_said_where_the_plan_is_read(run: Run, bob: User) -> None:
    answer(run, bob)
    change(Agent.objects.get(), instructions="Write in verse.")
    said = f"The agent {WRITER} was changed since this plan was approved."
    assert said in browser(bob).get(f"/runs/{run.pk}/plan/").text
    Agent.objects.all().delete()
    assert f"The agent {WRITER} no longer exists." in browser(bob).get(f"/runs/{run.pk}/plan/").text


def shown(text: str) -> str:
    """What the gate shows of changes: words in brackets are gone, those in braces are new."""
    changes = text[text.index('<ul class="changed agent-changes">') :].split("</ul>")[0]
    marked = changes.replace("<del>", "[").replace("</del>", "]").replace("<ins>", "{").replace("</ins>", "}")
    return " ".join(re.sub(r"<[^>]*>", "", marked.replace("<p", " <p").replace("</p>", "\n")).split())


def test_who_is_asked_again_sees_sentence_by_sentence_what_differs_of_the_agent(
    team: Team, submitted: Submit, bob: User
) -> None:
    one = agent(instructions="Name the <b>clause</b> in every notice.", tools=("read_file", "write_file"))
    team.plan = plan(step("zero"), played_plan()["steps"][0] | {"dependencies": ["zero"]})
    run = submitted()
    made.share(run, bob)
    drain(run)
    answer(run, bob)
    change(one, instructions="Name the page in every notice. <i>", model="claude-opus-5-5", tools=("write_file",))
    drain(run)
    text = browser(bob).get(f"/runs/{run.pk}/").text
    assert f"What changed in the agent {WRITER}" in text
    assert shown(text) == (
        "Tools before: [read_file, write_file] · now: {write_file}"
        "Model before: [claude-sonnet-5-5, the model of the run] · now: {claude-opus-5-5}"
        "Instructions Before: [Name the &lt;b&gt;clause&lt;/b&gt; in every notice.] "
        "Now: {Name the page in every notice.} {&lt;i&gt;}"
    )
    assert f"something has changed (the agent {WRITER} was changed)." in text
    assert f"The agent {WRITER} was changed since this plan was approved." not in text
    said = about(open_gate(run))
    assert [line for line in said if line.startswith("! ")] == [
        f"! The agent {WRITER} was changed since this plan was approved.",
        "! tools: [-read_file, write_file-] {+write_file+}",
        "! model: [-claude-sonnet-5-5, the model of the run-] {+claude-opus-5-5+}",
        "! instructions: [-Name the <b>clause</b> in every notice.-] {+Name the page in every notice.+} {+<i>+}",
    ]
    answer(run, bob)
    assert "agent-changes" not in browser(bob).get(f"/runs/{run.pk}/plan/").text, "this is what is approved now"
    assert run.plans.get().approved_agents == {WRITER: Agent.objects.get().definition}


def test_an_agent_that_was_changed_back_is_what_was_approved(run: Run, bob: User) -> None:
    was = Agent.objects.get().definition.instructions
    answer(run, bob)
    change(Agent.objects.get(), instructions="Write in verse.")
    assert "agent-changes" in browser(bob).get(f"/runs/{run.pk}/plan/").text
    change(Agent.objects.get(), instructions=was)
    text = browser(bob).get(f"/runs/{run.pk}/plan/").text
    assert ("agent-changes" in text, "was changed since" in text) == (False, False)


def test_what_was_changed_while_it_was_approved_is_not_taken_for_what_was_approved(run: Run) -> None:
    one = Agent.objects.get()
    digest = one.definition.digest
    assert as_bound({"plan": "0", f"agent {WRITER}": digest}) == {WRITER: one.definition}
    change(one, instructions="Write in verse.")
    assert as_bound({"plan": "0", f"agent {WRITER}": digest, "agent gone": ""}) == {}


def test_where_it_is_not_known_what_was_approved_the_words_stay(run: Run, bob: User) -> None:
    """Approvals of before have digests alone."""
    answer(run, bob)
    run.plans.update(approved_agents={})
    change(Agent.objects.get(), instructions="Write in verse.")
    text = browser(bob).get(f"/runs/{run.pk}/plan/").text
    assert ("agent-changes" in text, "was changed since this plan was approved" in text) == (False, True)


@pytest.mark.slow
def test_its_step_and_its_report_say_the_agent_as_it_was(run: Run, alice: User) -> None:
    digest = Agent.objects.get().definition.digest
    finish(run, alice)
    Agent.objects.all().delete()
    page = browser(alice)
    step = run.plans.get().steps.get(key="one")
    text = page.get(f"/runs/{run.pk}/steps/{step.pk}/").text
    assert f"Instructions that the agent {WRITER} had" in text
    assert "Name &lt;b&gt;the clause&lt;/b&gt;." in text
    report = json.loads(page.get(f"/runs/{run.pk}/report.json").getvalue())
    assert [(one["agent"], one["attempts"][0]["agent"]) for one in report["steps"]] == [(WRITER, digest), (None, None)]
    assert f"With the agent {WRITER} ({digest[:12]})." in page.get(f"/runs/{run.pk}/report/").text


@pytest.mark.slow
def test_the_report_says_where_one_model_judged_its_own_work(team: Team, submitted: Submit, alice: User) -> None:
    agent(model="claude-haiku-5-5")
    run = finish(submitted(plan=plan_from(played_plan()), same_model_verifier=True), alice)
    report = json.loads(browser(alice).get(f"/runs/{run.pk}/report.json").getvalue())
    assert report["judged_its_own_work"] == "claude-haiku-5-5"


def test_a_plan_that_was_exported_comes_back_with_its_agents(run: Run, alice: User) -> None:
    sent = browser(alice).get(f"/runs/{run.pk}/plans/1.json").getvalue()
    assert json.loads(sent)["steps"][0]["agent"] == WRITER
    assert plan_in(sent) == contract_of(run.plans.get())
    assert plan_in(exported(plan_from(played_plan())).encode()).steps[0].agent == WRITER


def test_an_agent_is_chosen_where_the_plan_is_edited(run: Run, alice: User) -> None:
    agent("other-writer")
    page = browser(alice)
    text = page.get(f"/runs/{run.pk}/plan/edit/?step=0").text
    choices = re.search(r'<select name="steps-0-agent".*?</select>', text, re.DOTALL)
    assert choices
    assert re.findall(r'value="([^"]*)"( selected)?', choices[0]) == [
        ("", ""),
        (WRITER, " selected"),
        ("other-writer", ""),
    ]


def test_the_terminal_says_the_agent(run: Run) -> None:
    assert f"    agent: {WRITER}: Writes notices to other parties." in about(open_gate(run))


def test_a_person_who_lets_a_step_start_sees_its_agent(team: Team, submitted: Submit, alice: User) -> None:
    agent()
    run = submitted(plan=plan_from(played_plan()), step_moment="before", step_approval="all")
    drain(run)
    answer(run, alice)
    drain(run)
    assert open_gate(run).kind == GateKind.START
    assert (
        f"<strong>Agent {WRITER}</strong> Writes notices to other parties."
        in browser(alice).get(f"/runs/{run.pk}/").text
    )


def test_each_change_of_an_agent_is_in_the_audit_trail() -> None:
    zoe = made.person("zoe", is_superuser=True)
    first, then = defined(), defined(instructions="Write one letter and nothing else.")
    writer = available_agents.add_agent(zoe, "writer", first)
    available_agents.edit_agent(zoe, writer, then, writer.changed_at.isoformat())
    available_agents.delete_agent(zoe, Agent.objects.get())
    lines = AuditEntry.objects.filter(kind=AuditKind.SETTING_CHANGED, by="zoe", subject="agent writer").order_by(
        "number"
    )
    assert [(line.details.get("before"), line.details.get("after")) for line in lines] == [
        (None, first.digest),
        (first.digest, then.digest),
        (then.digest, None),
    ]
