"""A new run from a template or with a plan that was brought along."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs.enums import PlanStatus
from runs.lifecycle.approval import fingerprint
from runs.models import Run, User
from runs.pev.imports.imported import exported
from runs.store import trees
from runs.submission.run_templates import save
from tests import factories
from tests.factories import drain
from tests.fakes.other_plans import DATACLASS, OBJECTIVE, TYPED
from tests.integration.web.submitting import JSON, file, form


@pytest.mark.slow
def test_a_template_of_creative_work_says_so_and_own_ones_keep_it(alice_client: Client, alice: User) -> None:
    done = factories.finished_succeeded()
    Run.objects.filter(pk=done.pk).update(policy=done.policy.changed(sources_needed=False))
    done.refresh_from_db()
    mine = save(alice, done, "Mine")
    text = alice_client.get("/runs/new/").text
    assert '<option value="idea-workflow" data-no-sources>Idea workflow</option>' in text
    assert '<option value="project-analysis">Project analysis</option>' in text
    assert f'<option value="{mine.pk}" data-no-sources>Mine</option>' in text


def test_a_plan_about_sources_is_refused_where_none_are_needed(alice_client: Client) -> None:
    told = alice_client.post("/runs/new/", form(template="project-analysis", no_sources="on"), headers=JSON).json()
    assert "is about sources" in told["errors"][0] or "it is about sources" in told["errors"][0]
    assert alice_client.post("/runs/new/", form(template="idea-workflow", no_sources="on")).status_code == 302


def plan_file(content: bytes = exported(factories.plan()).encode()) -> SimpleUploadedFile:
    return SimpleUploadedFile("my plan.json", content)


def test_a_template_is_the_plan_of_the_run(alice_client: Client) -> None:
    text = alice_client.get("/runs/new/").text
    assert '<option value="document-review">Document review</option>' in text
    assert "My templates" not in text
    alice_client.post("/runs/new/", form(template="document-review"))
    plan = Run.objects.get().plans.get()
    assert (plan.reason, plan.status) == ("From the template “Document review”.", PlanStatus.PROPOSED)
    assert "From the template “Document review”." in alice_client.get(f"/runs/{plan.run_id}/plan/").text
    assert plan.run.template == "Document review"


def test_an_own_template_is_offered_and_those_of_others_are_not(alice_client: Client, alice: User, bob: User) -> None:
    done = factories.finished_succeeded()
    mine, theirs = save(alice, done, "Mine <3"), save(bob, done, "Bob's")
    text = alice_client.get("/runs/new/").text
    assert f'<option value="{mine.pk}">Mine &lt;3</option>' in text
    assert "Bob" not in text.split('id="id_template"')[1].split("</select>")[0]
    refused = alice_client.post("/runs/new/", form(template=str(theirs.pk)), headers=JSON)
    assert refused.json()["errors"] == ["There is no such template. Choose another one."]
    alice_client.post("/runs/new/", form(template=str(mine.pk)))
    assert fingerprint.contract_of(Run.objects.latest("pk").plans.get()) == factories.plan()


def test_a_plan_can_be_brought_as_json_beside_the_files(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(files=[file("a.md")], paths=["one/a.md"], plan_file=plan_file()))
    run = Run.objects.get()
    assert list(trees.files_of(run.inputs)) == ["one/a.md"]
    assert fingerprint.contract_of(run.plans.get()) == factories.plan()
    assert run.plans.get().reason == "Imported from “my plan.json”."


def test_what_is_wrong_with_a_plan_is_shown_line_by_line_and_the_choices_are_kept(alice_client: Client) -> None:
    wrong = b'{"goal": "x", "steps": [{"id": 1, "<script>": 1}]}'
    told = alice_client.post("/runs/new/", form(plan_file=plan_file(wrong)), headers=JSON).json()["errors"]
    assert told[0] == "Step “1”: “name” is missing; say in a few words what the step does."
    assert len(told) == 5
    answer = alice_client.post("/runs/new/", form(plan_file=plan_file(wrong), template="idea-workflow", attempts=2))
    assert answer.status_code == 422
    assert "Choose a template or a file with a plan, not both." in answer.text
    assert '<option value="idea-workflow" selected data-no-sources>' in answer.text
    assert 'name="attempts" value="2"' in answer.text
    assert "&lt;script&gt;" in alice_client.post("/runs/new/", form(plan_file=plan_file(wrong))).text
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The plan is not valid JSON: Expecting value"),
        (b"\xff\xfe", "The plan is not a text file"),
        (b"x" * 1_000_001, "The plan has 1,000,001 bytes; 1,000,000 are allowed."),
        (b"[" * 100_000, "The plan is not valid JSON: it is nested too deeply."),
    ],
)
def test_a_file_that_is_no_plan_is_a_sentence(alice_client: Client, content: bytes, sentence: str) -> None:
    answer = alice_client.post("/runs/new/", form(plan_file=plan_file(content)), headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["errors"][0].startswith(sentence)


def test_a_plan_that_cannot_be_run_is_refused_by_the_rules_for_every_plan(alice_client: Client) -> None:
    shell = exported(factories.plan()).replace("list_files", "shell").encode()
    (problem,) = alice_client.post("/runs/new/", form(plan_file=plan_file(shell)), headers=JSON).json()["errors"]
    assert problem.startswith("Step “inventory” plans the tool “shell”, which does not exist. There are: ")


@pytest.mark.parametrize(
    ("saved", "steps", "notes"),
    [
        (
            DATACLASS,
            ["step_1"],
            [
                "Left out, since it is the state of another run: status, retry_count (step step_1).",
                "Guessed from its words: criterion 1 is about how the result looks, not about the sources "
                "(step step_1).",
            ],
        ),
        (
            TYPED,
            ["1", "2"],
            [
                "Left out: the complexity of the whole plan (7).",
                "An expected output that is no path is read as a part of the description (step 1).",
                "A tool that is not there is only named (step 1).",
            ],
        ),
        (
            OBJECTIVE,
            ["s1"],
            [
                "Left out, since it is the state of another run: created_at, id.",
                "Read objective as goal, postconditions as success_criteria, id as step_id.",
            ],
        ),
    ],
    ids=["dataclass", "typed", "objective"],
)
def test_a_plan_that_another_tool_saved_says_at_its_gate_what_is_not_used(
    alice_client: Client, saved: dict[str, Any], steps: list[str], notes: list[str]
) -> None:
    content = json.dumps(saved).encode()
    answer = alice_client.post("/runs/new/", form(files=[file("nda.md")], plan_file=plan_file(content)))
    assert answer.status_code == 302
    run = Run.objects.get()
    assert [step.step_id for step in fingerprint.contract_of(run.plans.get()).steps] == steps
    drain(run)
    page = alice_client.get(f"/runs/{run.pk}/").text
    assert [note for note in notes if note not in page] == []
