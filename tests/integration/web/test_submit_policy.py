"""The policy on the form of a new run: its fields, presets, limits, the second person, the models."""

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from pevsite.setting_values import policy_values
from runs.enums import (
    ApprovalPolicy,
    AtLimit,
    AuditKind,
    FaultKind,
    GateKind,
    PersonRole,
    Role,
    StepApproval,
    StepMoment,
)
from runs.mcp_client.server_config import ServerConfig
from runs.models import AuditEntry, Run, User
from runs.people.permissions import can_decide
from runs.pev.decision_limits import DecisionLimits
from runs.pev.policy import Policy
from runs.pev.policy_setting import SettingGroup
from runs.submission.policy_presets import SETTABLE
from runs.web.new_run.new_run_form import NewRunForm
from runs.web.new_run.policy_forms import FIELD_NAMES
from tests import factories
from tests.factories.agents import agent
from tests.factories.calibrations import stored_calibration
from tests.integration.web.submitting import JSON, form


def test_every_field_of_a_policy_is_on_the_form(alice: User, settings: Any) -> None:
    settings.COMMANDS, settings.WEB = {"tests": ("pytest",)}, "*"
    settings.MCP = {"tickets": ServerConfig(command="tickets")}
    settings.SERVICE_TOOLS = frozenset({"web_search"})
    settings.AGENT_SDK = True
    agent()
    named = {**FIELD_NAMES, "sources_needed": "no_sources"}
    made = NewRunForm(owner=alice)
    assert [name for name in SETTABLE if named.get(name, name) not in made.fields] == []
    shown = [field.name for group in made.groups for part in group.parts for field in part.fields]
    assert shown == list(FIELD_NAMES.values()), "each once, in the order in which they are declared"
    assert [group.title for group in made.groups] == list(SettingGroup)


def test_the_form_starts_with_what_the_installation_sets(alice_client: Client, settings: Any) -> None:
    settings.POLICY = policy_values("attempts=7, attempt_seconds=90, sources_needed=off, min_document_bytes=0")
    initial = NewRunForm(owner=factories.alice()).initial
    assert (initial["attempts"], initial["attempt_minutes"], initial["no_sources"]) == (7, 2, True)
    text = alice_client.get("/runs/new/").text
    assert 'name="attempts" value="7"' in text
    assert 'name="min_document_bytes" value="0"' in text


def test_the_policy_is_what_was_chosen(alice_client: Client, bob: User) -> None:
    alice_client.post(
        "/runs/new/",
        form(
            plan_approval="never",
            step_approval="all",
            step_moment="before",
            attempts=1,
            executor_model="m-1",
            approvers=[bob.pk],
        ),
    )
    run = Run.objects.get()
    policy = Policy.model_validate(run.policy)
    assert (policy.plan_approval, policy.step_approval) == (ApprovalPolicy.NEVER, StepApproval.ALL)
    assert (policy.step_moment, policy.attempts) == (StepMoment.BEFORE, 1)
    assert policy.model_for(Role.EXECUTOR).model == "m-1"
    assert factories.shared_with(run) == [bob]


@pytest.mark.parametrize("field", ["verifier_model", "fallback_verifier"])
def test_a_judge_of_its_own_work_has_to_be_allowed(alice_client: Client, field: str) -> None:
    same_model = {field: "claude-sonnet-5-5"}
    refused = alice_client.post("/runs/new/", form(**same_model), headers=JSON)
    assert refused.status_code == 422
    assert "claude-sonnet-5-5 would judge its own work" in refused.json()["errors"][0]
    assert (
        alice_client.post("/runs/new/", form(**same_model, same_model_verifier="on"), headers=JSON).status_code == 201
    )


def test_a_minimum_of_the_verifier_is_kept_on_the_form_until_a_calibration_proves_it(alice_client: Client) -> None:
    sent = form(min_catch_rate="0.85", request="Compare the rents.")
    page = alice_client.post("/runs/new/", sent)
    text = html.unescape(page.text)
    assert (page.status_code, Run.objects.count()) == (422, 0)
    assert "“claude-haiku-5-5” has no current calibration" in text
    assert "Ask an administrator to calibrate it, choose another verifier, or lower the minimum catch rate" in text
    assert 'name="min_catch_rate" value="0.85"' in text
    assert "Compare the rents." in text
    stored_calibration(kinds=list(FaultKind), size=60, missed=0)
    assert alice_client.post("/runs/new/", sent).status_code == 302
    assert Run.objects.get().policy.min_catch_rate == 0.85


@pytest.mark.parametrize("wrong", ["0", "1", "90", "most"])
def test_a_minimum_that_no_calibration_can_prove_is_refused(alice_client: Client, wrong: str) -> None:
    assert alice_client.post("/runs/new/", form(min_catch_rate=wrong)).status_code == 422
    assert Run.objects.count() == 0


def test_a_budget_needs_prices(alice_client: Client) -> None:
    refused = alice_client.post("/runs/new/", form(budget="5", fallback_verifier="llama"), headers=JSON)
    assert refused.json()["errors"] == [
        "The budget cannot be kept: no price is known for llama. Leave the budget empty."
    ]


def test_limits_are_taken_in_dollars_and_minutes(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(budget="2.50", limit_minutes="90", attempt_minutes="5"))
    policy = Policy.model_validate(Run.objects.get().policy)
    assert (str(policy.budget), policy.time_limit, policy.attempt_seconds, policy.reuse) == ("2.50", 5_400, 300, True)


def test_a_second_person_has_to_be_named(alice_client: Client, bob: User) -> None:
    refused = alice_client.post("/runs/new/", form(second_person="on"), headers=JSON)
    assert refused.json()["errors"] == [
        "A second person has to approve, but no one else may decide. Name someone who may."
    ]
    assert (
        alice_client.post("/runs/new/", form(second_person="on", approvers=[bob.pk]), headers=JSON).status_code == 201
    )


@pytest.mark.parametrize(
    ("waiting", "problem"),
    [
        (
            {"plan_approval": "never"},
            "no plan would wait for one. Let the first plan or every plan wait, or do without",
        ),
        ({"step_approval": "none"}, "no result would wait for one. Let high-risk steps wait at least, or do"),
        ({"plan_approval": "never", "step_approval": "none"}, "no plan would wait for one. Let the first plan or"),
    ],
)
def test_a_second_person_whom_nobody_would_ask_is_refused(
    alice_client: Client, bob: User, waiting: dict[str, str], problem: str
) -> None:
    sent = form(second_person="on", approvers=[bob.pk], **waiting)
    refused = alice_client.post("/runs/new/", sent, headers=JSON)
    assert refused.status_code == 422
    (sentence,) = refused.json()["errors"]
    assert sentence.startswith(f"A second person has to approve, but {problem}")
    assert not Run.objects.exists()


@pytest.mark.usefixtures("no_model")
def test_without_a_model_the_form_says_so_and_offers_what_can_be_run(alice_client: Client) -> None:
    text = alice_client.get("/runs/new/").text
    assert "No model is connected." in text
    assert '<option value="" disabled>The planner writes it (needs a model)</option>' in text
    assert '<option value="document-review" selected>Document review</option>' in text
    for key, name in (("idea-workflow", "Idea workflow"), ("project-analysis", "Project analysis")):
        assert re.search(f'<option value="{key}"[^>]* disabled>{name} \\(needs a model\\)</option>', text)
    assert alice_client.get("/templates/").text.count("needs a model") == 5


def test_with_a_model_no_template_is_held_back(alice_client: Client) -> None:
    assert "needs a model" not in alice_client.get("/runs/new/").text + alice_client.get("/templates/").text


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("careful", ("always", "all", "ask", 0.7)),
        ("balanced", ("always", "high", "ask", 0.5)),
        ("hands_off", ("never", "none", "accept", 0.5)),
    ],
)
def test_without_a_script_a_preset_is_taken_where_the_fields_were_left_alone(
    alice_client: Client, preset: str, expected: tuple[str, str, str, float]
) -> None:
    alice_client.post("/runs/new/", form(preset=preset, preset_shown="balanced", attempts=5))
    policy = Run.objects.get().policy
    assert (policy.plan_approval, policy.step_approval, policy.exhausted, policy.min_confidence) == expected
    assert policy.attempts == 5


def test_a_preset_that_filled_the_fields_changes_none_of_them_again(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(preset="careful", preset_shown="careful", step_approval="none"))
    assert Run.objects.get().policy.step_approval is StepApproval.NONE


def test_presets_say_what_they_are_and_which_one_this_installation_sets(alice_client: Client, settings: Any) -> None:
    text = alice_client.get("/runs/new/").text
    assert "You approve every plan and the results of high-risk steps. You are asked when a step is out" in text
    assert "as set up here" not in text
    settings.POLICY = policy_values("plan_approval=first, step_approval=none")
    text = alice_client.get("/runs/new/").text
    assert "You approve the first plan and no result. You are asked when a step is out of attempts." in text
    assert "as set up here" in text


def test_decisions_are_assigned_to_a_group_and_have_limits(alice_client: Client) -> None:
    Group.objects.create(name="Legal team")
    page = alice_client.get("/runs/new/").text
    assert '<option value="group:Legal team">The group Legal team, in turn</option>' in page
    sent = {"assigned_to": "group:Legal team", "remind_hours": 24, "end_hours": 72, "at_end": "reject"}
    alice_client.post("/runs/new/", form(**sent, decision_limits="tool:end 80"))
    policy = Run.objects.get().policy
    assert policy.limits_for(GateKind.PLAN) == DecisionLimits("group:Legal team", 24, None, 72, AtLimit.REJECT)
    assert (policy.decision_limits, policy.limits_for(GateKind.TOOL).end) == ("tool: end 80", 80)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"remind_hours": 72, "end_hours": 24}, "each needs more hours than the one before"),
        ({"at_end": "stop"}, "To stop at the end of the time limit, say after how many hours it ends."),
        ({"at_end": "approve"}, "Select a valid choice. approve is not one of the available choices."),
        ({"assigned_to": "group:Nobody"}, "Select a valid choice."),
        ({"decision_limits": "meal: end 3"}, "“meal” is no kind of decision"),
        ({"end_hours": 99_999}, "Ensure this value is less than or equal to 8784."),
    ],
)
def test_limits_that_cannot_be_used_are_said_at_the_form(
    alice_client: Client, sent: dict[str, object], said: str
) -> None:
    answer = alice_client.post("/runs/new/", form(**sent))
    assert (answer.status_code, Run.objects.count()) == (422, 0)
    assert said in html.unescape(answer.text)


def test_it_is_shared_from_the_beginning_with_people_groups_and_everyone(alice_client: Client, bob: User) -> None:
    legal, dora = Group.objects.create(name="Legal"), factories.person("dora")
    User.objects.bulk_create(User(username=f"user{number:03}") for number in range(60))
    Group.objects.get(name=PersonRole.APPROVER).user_set.add(*User.objects.filter(username__startswith="user"))
    page = alice_client.get("/runs/new/").text
    assert page.count('name="approvers"') == 50
    assert ('name="also"' in page, "user059" in page) == (True, False)
    last = User.objects.get(username="user059")
    sent = form(approvers=[last.pk], teams=[legal.pk], also="bob, dora ,Legal", level="look", open_to_all="on")
    refused = alice_client.post("/runs/new/", sent | {"also": "bob, nobody"}, headers=JSON)
    assert "no one who can decide with the name “nobody”" in refused.json()["errors"][0]
    again = alice_client.post("/runs/new/", sent | {"also": "bob, nobody"}).text
    assert (f'value="{last.pk}"' in again, "bob, nobody" in again) == (True, True)
    assert alice_client.post("/runs/new/", sent, headers=JSON).status_code == 201
    run = Run.objects.get()
    shares = {(str(one.user or one.group), one.level) for one in run.shares.all()}
    assert shares == {("user059", "look"), ("bob", "look"), ("dora", "look"), ("Legal", "look")}
    assert (run.open_to_all, can_decide(dora, run)) == (True, False)
    trail = AuditEntry.objects.filter(kind=AuditKind.SHARED).values_list("subject", flat=True)
    assert sorted(trail) == ["bob", "dora", "everyone here", "the group Legal", "user059"]


@pytest.mark.parametrize(("level", "status"), [("decide", 201), ("look", 422)])
def test_a_group_has_the_second_person_if_it_may_decide(
    alice_client: Client, bob: User, level: str, status: int
) -> None:
    legal = Group.objects.create(name="Legal")
    bob.groups.add(legal)
    answer = alice_client.post("/runs/new/", form(second_person="on", teams=[legal.pk], level=level), headers=JSON)
    assert answer.status_code == status
