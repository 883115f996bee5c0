"""“No sources are needed”, chosen by a person: at the submission or with the answer to the first plans."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from django.test import Client

from runs.enums import Verb
from runs.errors import DecisionRefused, InvalidInput, PlanRefused
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Run, User
from runs.pev.imports.imported import plan_from
from runs.pev.policy import Policy
from runs.submission.submit import Submission, submit
from tests.factories import MODELS, Submit, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, answering, plan, step, told
from tests.integration.source import without_layout
from tests.reporting import as_json, as_markdown

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


def about(topic: str) -> dict[str, Any]:
    """A plan of one step whose judged criteria are about sources or the output."""
    made = plan(step("one"))
    for criterion in (*made["steps"][0]["acceptance_criteria"], *made["success_criteria"]):
        criterion["about"] = "output" if criterion["check"] else topic
    return made


def heeds_the_limits(request: Request, right: Answer) -> Answer:
    limits = json.loads(next(part.text for part in told(request) if part.kind == "limits"))
    return Say(json.dumps(answering(request, about("sources" if limits["sources_needed"] else "output"))))


@pytest.fixture
def team(api: FakeAnthropic) -> Team:
    found = Team(planner=heeds_the_limits)
    api.script(found)
    return found


def answer(run: Run, user: User, verb: Verb, reason: str = "") -> None:
    gate = open_gate(run)
    decide(gate.pk, user, Decision(verb, gate.digest, reason, no_sources=True))


def test_chosen_with_the_task_the_planner_is_told_and_the_report_says_so(
    team: Team, submitted: Submit, alice: User
) -> None:
    run = submitted(sources_needed=False)
    drain(run)
    (asked,) = team.seen["planner"]
    assert any("needs no sources: it is creative work" in block["text"] for block in asked.messages[0]["content"])
    assert "No sources were needed: a person chose that before it started (alice, with the task, " in as_markdown(run)
    assert str(as_json(run)["no_sources"]).startswith("No sources were needed: ")


def test_where_they_are_needed_nothing_is_said(team: Team, submitted: Submit) -> None:
    run = submitted(sources_needed=True)
    drain(run)
    assert as_json(run)["no_sources"] == ""
    assert "No sources were needed" not in as_markdown(run)


def test_a_planner_that_asks_for_sources_all_the_same_is_corrected(api: FakeAnthropic, submitted: Submit) -> None:
    def stubborn(request: Request, right: Answer) -> Answer:
        return Say(json.dumps(about("sources" if len(asked.seen["planner"]) == 1 else "output")))

    asked = Team(planner=stubborn)
    api.script(asked)
    drain(submitted(sources_needed=False))
    assert (
        "Step “one”, criterion “one says what was found”: it is about sources, and this run needs none; "
        "ask with `about` “output” how the result has to be, or leave it out."
    ) in asked.seen["planner"][1].last_text


def test_criteria_of_a_plan_from_elsewhere_that_say_nothing_are_about_the_output(alice: User) -> None:
    given = plan_from({"objective": "A poem", "steps": ["Write it"], "postconditions": ["It rhymes."]})
    rules = Policy(models=MODELS, sources_needed=False)
    run = submit(alice, Submission("A poem", (), rules, uuid.uuid4(), plan=given, plan_from="Imported."))
    kept = fingerprint.contract_of(run.plans.get())
    assert [one.about for one in (*kept.steps[0].acceptance_criteria, *kept.success_criteria)] == ["output"] * 2
    assert run.plans.get().reason == (
        "Imported. 2 criteria do not say what they are about: the output, since no sources are needed."
    )


def test_a_plan_from_elsewhere_that_compares_with_sources_is_refused_where_none_are_needed(alice: User) -> None:
    check = {"kind": "absent", "path": "a.md", "terms": ["liability"]}
    criteria: list[Any] = [{"text": "Nothing is said of it.", "check": check}]
    given = plan_from({"objective": "A poem", "steps": ["Write it"], "postconditions": criteria})
    rules = Policy(models=MODELS, sources_needed=False)
    with pytest.raises(PlanRefused, match=r"^success_criteria, .*: it is about sources, and this run needs none"):
        submit(alice, Submission("A poem", (), rules, uuid.uuid4(), plan=given, plan_from="Imported."))


def test_it_cannot_be_approved_with_a_plan_that_asks_for_sources(team: Team, submitted: Submit, alice: User) -> None:
    run = submitted(sources_needed=True)
    drain(run)
    with pytest.raises(InvalidInput, match="This plan has criteria about sources: Step “one”, criterion “one says"):
        answer(run, alice, Verb.APPROVE)
    run.refresh_from_db()
    assert (run.policy.sources_needed, open_gate(run).status) == (True, "open")


@pytest.mark.slow
def test_rejected_with_it_the_next_plan_needs_none_and_the_run_says_who_chose_that(
    team: Team, submitted: Submit, alice: User
) -> None:
    run = submitted(sources_needed=True)
    drain(run)
    answer(run, alice, Verb.REJECT, "It is a poem.")
    drain(run)
    assert run.policy.sources_needed is False
    assert "This plan" not in open_gate(run).question
    assert run.plans.get(version=2).header.success_criteria[0].about == "output"
    decided = run.events.get(kind="gate_decided")
    assert decided.data["no_sources"] is True
    assert "(alice, with the answer to a plan, " in str(as_json(finish(run, alice))["no_sources"])


def test_approved_with_it_the_approval_is_bound_to_the_changed_policy(
    api: FakeAnthropic, submitted: Submit, alice: User
) -> None:
    api.script(Team(plan=about("output")))
    run = submitted(sources_needed=True)
    drain(run)
    answer(run, alice, Verb.APPROVE)
    run.refresh_from_db()
    approved = run.plans.get()
    assert run.policy.sources_needed is False
    assert approved.approval_fingerprint == fingerprint.fingerprint_of(run, approved)


def test_once_work_has_begun_it_cannot_be_chosen(api: FakeAnthropic, submitted: Submit, alice: User) -> None:
    api.script(Team(plan=about("output")))
    run = submitted(sources_needed=True)
    drain(run)
    gate = open_gate(run)
    decide(gate.pk, alice, Decision(Verb.APPROVE, gate.digest))
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(parallel=2))
    drain(run)
    with pytest.raises(DecisionRefused, match="Work has begun"):
        answer(run, alice, Verb.APPROVE)
    run.refresh_from_db()
    assert run.policy.sources_needed is True


def test_the_box_stands_at_the_gate_and_stays_ticked_when_it_was_refused(
    team: Team, submitted: Submit, alice: User, client: Client
) -> None:
    client.force_login(alice)
    run = submitted(sources_needed=True)
    drain(run)
    gate = open_gate(run)
    assert 'name="no_sources"' in client.get(f"/runs/{run.pk}/").text
    sent = {"verb": "approve", "digest": gate.digest, "no_sources": "on", "reason": "A poem"}
    refused = client.post(f"/runs/{run.pk}/gates/{gate.pk}/", sent)
    assert refused.status_code == 422
    assert 'name="no_sources" hx-morph-skip checked>' in without_layout(refused.text)
    assert "A poem</textarea>" in refused.text


def test_stopped_with_the_box_ticked_it_is_stopped(team: Team, submitted: Submit, alice: User, client: Client) -> None:
    client.force_login(alice)
    run = submitted(sources_needed=True)
    drain(run)
    gate = open_gate(run)
    sent = {"verb": "stop", "digest": gate.digest, "no_sources": "on"}
    assert client.post(f"/runs/{run.pk}/gates/{gate.pk}/", sent).status_code == 302
    run.refresh_from_db()
    assert (run.outcome, run.policy.sources_needed) == ("cancelled", True)
