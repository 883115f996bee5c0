"""The form of a new run, and the samples."""

import re
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from runs import trees
from runs.enums import ApprovalPolicy, PlanStatus, Role, StepApproval, StepMoment
from runs.lifecycle import fingerprint
from runs.lifecycle.defaults import SETTABLE, default_policy
from runs.lifecycle.templates import save
from runs.models import DraftFile, Run, User
from runs.pev.imports.imported import exported
from runs.pev.policy import Policy
from runs.web.forms.new_run import NewRunForm
from tests import factories

JSON = {"Accept": "application/json"}


def form(**changes: Any) -> dict[str, Any]:
    policy = default_policy()
    values: dict[str, Any] = {
        "request": "Summarise the notes",
        "no_files": "on",
        "token": str(uuid.uuid4()),
        "plan_approval": "always",
        "step_approval": "high",
        "step_moment": "after",
        "exhausted": "ask",
        "attempts": 3,
        "replans": 2,
        "parallel": 3,
        "rounds": 12,
        "max_steps": 40,
        "model_review": "medium_and_high",
        "min_confidence": "0.5",
        "min_verifier_confidence": "0",
        "min_document_bytes": 100,
        "revisions": 10,
        "attempt_minutes": 30,
        "reuse": "on",
    }
    for role in (Role.PLANNER, Role.EXECUTOR, Role.VERIFIER):
        values |= {f"{role}_model": policy.model_for(role).model, f"{role}_effort": policy.model_for(role).effort}
    return values | changes


def file(name: str, content: bytes = b"text") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_the_form_tells_the_limits_before_an_upload(alice_client: Client) -> None:
    text = alice_client.get("/runs/new/").text
    assert "Up to 10,000 files, 200 MB together, 50 MB each." in text
    assert 'data-max-file-bytes="50000000"' in text


def test_a_posted_form_is_a_run_with_its_folders(alice_client: Client) -> None:
    sent = form(files=[file("a.md"), file("a.md", b"other")], paths=["one/a.md", "two/a.md"])
    answer = alice_client.post("/runs/new/", sent)
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.pk}/"
    assert list(trees.files_of(run.inputs)) == ["one/a.md", "two/a.md"]


def test_without_a_script_names_are_paths(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(files=[file("a b.md")], folder=[file("ü.bin", b"\0\1")]))
    assert list(trees.files_of(Run.objects.get().inputs)) == ["a b.md", "ü.bin"]


def test_a_folder_comes_without_secrets_and_a_file_that_is_named_with_them(alice_client: Client) -> None:
    key = b"-----BEGIN RSA PRIVATE KEY-----\nMIIE"
    names = [
        "app/.env",
        "app/.env.example",
        "app/.github/ci.yml",
        "app/.ssh/a",
        "app/.ssh/b",
        "app/notes",
        "prod.env",
    ]
    files = [file(name.rsplit("/", 1)[-1], key if name == "app/notes" else b"text") for name in names]
    alice_client.post("/runs/new/", form(files=files, paths=names))
    run = Run.objects.get()
    assert list(trees.files_of(run.inputs)) == ["app/.env.example", "app/.github/ci.yml", "prod.env"]
    page = alice_client.get(f"/runs/{run.pk}/history/").text
    assert "with 3 files. Left out, since they may hold secrets: app/.env, app/.ssh/, app/notes." in page


def test_the_history_tells_what_the_browser_left_out_itself(alice_client: Client) -> None:
    left = ["app/.env", "<script>\0", *(f"keys/{number}.pem" for number in range(300))]
    alice_client.post("/runs/new/", form(files=[file("a.md")], paths=["app/a.md"], left_out=left))
    run = Run.objects.get()
    (submitted,) = run.events.filter(kind="submitted")
    assert submitted.data["left_out"][:3] == ["app/.env", "<script>", "keys/0.pem"]
    assert submitted.data["left_out"][20:] == ["and 180 more"]
    page = alice_client.get(f"/runs/{run.pk}/history/").text
    assert "Left out, since they may hold secrets: app/.env, &lt;script&gt;, keys/0.pem" in page


def test_without_a_script_a_folder_is_known_by_its_field(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(files=[file(".npmrc")], folder=[file("id_rsa"), file("a.md")]))
    assert list(trees.files_of(Run.objects.get().inputs)) == [".npmrc", "a.md"]


def test_a_folder_of_nothing_but_secrets_is_refused_in_words(alice_client: Client) -> None:
    answer = alice_client.post("/runs/new/", form(files=[file(".env")], paths=["app/.env"]))
    assert "No file is left: app/.env may hold secrets and are left out of folders." in answer.text
    assert not Run.objects.exists()


def test_a_post_in_the_background_gets_a_place(alice_client: Client) -> None:
    answer = alice_client.post("/runs/new/", form(), headers=JSON)
    assert (answer.status_code, answer.json()) == (201, {"location": f"/runs/{Run.objects.get().pk}/"})


def test_a_form_that_is_sent_twice_is_one_run(alice_client: Client) -> None:
    sent = form()
    first, second = alice_client.post("/runs/new/", sent), alice_client.post("/runs/new/", sent)
    assert first["Location"] == second["Location"]
    assert Run.objects.count() == 1


def test_without_a_script_an_error_keeps_the_text_and_the_files(alice_client: Client) -> None:
    sent = form(request="Keep <me>", attempts=99, files=[file("x.md"), file("y.md")], paths=["../x.md", "y.md"])
    answer = alice_client.post("/runs/new/", sent)
    assert answer.status_code == 422
    assert "Keep &lt;me&gt;" in answer.text
    assert [info.path for info in DraftFile.objects.all()] == ["y.md"]
    assert "“../x.md” cannot be used as a path: it has the part “..”" in answer.text
    assert '<input type="hidden" name="has_draft" value="on">' in answer.text
    assert not Run.objects.exists()
    alice_client.post("/runs/new/", sent | {"attempts": 3, "has_draft": "on", "files": [], "paths": []})
    assert list(trees.files_of(Run.objects.get().inputs)) == ["y.md"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"request": "  "}, "Write what is to be done; the request is empty."),
        (
            {"request": "Review these contracts", "no_sources": "on", "no_files": ""},
            "You speak of “these contracts”, but no file is attached.",
        ),
        ({"attempts": 99}, "Attempts per step: Ensure this value is less than or equal to 10."),
        ({"max_steps": 501}, "Steps of a plan: Ensure this value is less than or equal to 500."),
        ({"min_document_bytes": -1}, "Smallest document in bytes: Ensure this value is greater than or equal to 0."),
        ({"model_review": "some"}, "The AI reviews even where automatic checks decide: Select a valid choice."),
        ({"min_verifier_confidence": "NaN"}, "Minimum confidence of the verifier: Enter a number."),
        ({"min_confidence": "2"}, "Minimum confidence of the executor: Ensure this value is less than or equal to 1."),
        ({"plan_approval": "maybe"}, "Plans that need your approval: Select a valid choice."),
        ({"token": "no"}, "This form: Enter a valid UUID."),
        ({"executor_model": ""}, "Executor’s model: This field is required."),
        ({"files": [file("a")], "paths": ["a", "b"]}, "The files did not arrive whole."),
        ({"files": [file("a")], "paths": ["C:/a"]}, "it begins with a drive letter"),
        ({"files": [file("a"), file("b")], "paths": ["x", "x"]}, "“x” was sent twice"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(alice_client: Client, changes: dict[str, Any], sentence: str) -> None:
    answer = alice_client.post("/runs/new/", form(**changes), headers=JSON)
    assert answer.status_code == 422
    told = [*answer.json()["errors"], answer.json()["question"]]
    assert any(sentence in problem for problem in told)
    assert not Run.objects.exists()


def test_a_request_without_files_is_taken_when_that_is_meant(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(request="Review these contracts", no_files="on"))
    assert Run.objects.count() == 1


def test_a_task_without_files_is_asked_about_its_sources_once(alice_client: Client) -> None:
    sent = form(no_files="", request="Write a poem")
    asked = alice_client.post("/runs/new/", sent)
    assert asked.status_code == 422
    assert (
        "No file is attached. Without files nothing can be checked against sources, so the run can end as partial at "
        "best."
    ) in asked.text
    assert "Write a poem</textarea>" in asked.text
    assert not Run.objects.exists()
    for answer, needed in (("no_files", True), ("no_sources", False)):
        alice_client.post("/runs/new/", sent | {answer: "on", "token": str(uuid.uuid4())})
        assert Run.objects.latest("pk").policy.sources_needed is needed


def test_with_files_nobody_is_asked_about_sources(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(no_files="", folder=[file("a.md")]))
    assert Run.objects.get().policy.sources_needed is True


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


def test_every_field_of_a_policy_is_on_the_form(alice: User) -> None:
    named = {"attempt_seconds": "attempt_minutes", "time_limit": "limit_minutes", "sources_needed": "no_sources"}
    fields = NewRunForm(owner=alice).fields
    assert [name for name in SETTABLE if named.get(name, name) not in fields] == []


def test_the_form_starts_with_what_the_installation_sets(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_POLICY", "attempts=7, attempt_seconds=90, sources_needed=off, min_document_bytes=0")
    initial = NewRunForm(owner=factories.alice()).initial
    assert (initial["attempts"], initial["attempt_minutes"], initial["no_sources"]) == (7, 2, True)
    text = alice_client.get("/runs/new/").text
    assert 'name="attempts" value="7"' in text
    assert 'name="min_document_bytes" value="0"' in text


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
    assert refused.json()["errors"] == ["There is no such template, or not any more; choose another."]
    alice_client.post("/runs/new/", form(template=str(mine.pk)))
    assert fingerprint.contract_of(Run.objects.latest("pk").plans.get()) == factories.plan()


def test_a_plan_can_be_brought_as_json_beside_the_files(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(files=[file("a.md")], paths=["one/a.md"], plan_file=plan_file()))
    run = Run.objects.get()
    assert list(trees.files_of(run.inputs)) == ["one/a.md"]
    assert fingerprint.contract_of(run.plans.get()) == factories.plan()
    assert run.plans.get().reason == "Imported from “my plan.json”."


def test_what_is_wrong_with_a_plan_is_told_line_by_line_and_the_choices_are_kept(alice_client: Client) -> None:
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
    assert list(run.approvers.all()) == [bob]


def test_too_many_files_are_a_sentence(alice_client: Client, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = settings.UPLOAD_FILES = 2
    sent = form(files=[file("a"), file("b"), file("c")])
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(factories.alice())
    strict.get("/runs/new/")
    background = strict.post("/runs/new/", sent, headers=JSON)
    assert background.status_code == 400
    assert "More files were sent than the 2" in background.json()["errors"][0]
    assert "More files were sent than the 2" in alice_client.post("/runs/new/", form(files=[file("a")] * 3)).text


@pytest.mark.parametrize(
    ("limit", "value", "sentence"),
    [
        ("DATA_UPLOAD_MAX_NUMBER_FIELDS", 1, "The form had more fields than a run can have files."),
        ("DATA_UPLOAD_MAX_MEMORY_SIZE", 1, "The text in the form is larger than 0 MB."),
    ],
)
def test_too_much_of_a_form_is_refused_with_a_way_on(
    alice_client: Client, settings: Settings, limit: str, value: int, sentence: str
) -> None:
    setattr(settings, limit, value)
    refused = alice_client.post("/runs/new/", form(), headers=JSON)
    assert refused.status_code == 400
    assert refused.json()["errors"][0].startswith(sentence)
    assert not Run.objects.exists()


def test_a_file_that_is_too_large_is_a_sentence(alice_client: Client, settings: Settings) -> None:
    settings.FILE_BYTES = 3
    answer = alice_client.post("/runs/new/", form(files=[file("large.bin", b"1234")]), headers=JSON)
    assert "“large.bin” has" in answer.json()["errors"][0]


def test_the_sample_is_one_click_and_one_run(alice_client: Client) -> None:
    token = {"token": str(uuid.uuid4())}
    first, second = (alice_client.post("/runs/sample/contracts/", token) for _ in range(2))
    assert first["Location"] == second["Location"] == f"/runs/{Run.objects.get().pk}/"
    assert Run.objects.get().inputs.file_count == 3


def test_an_unknown_sample_is_not_there(alice_client: Client) -> None:
    assert alice_client.post("/runs/sample/novels/").status_code == 404
    assert alice_client.get("/runs/sample/contracts/").status_code == 405


def test_a_judge_of_its_own_work_has_to_be_allowed(alice_client: Client) -> None:
    same_model = {"verifier_model": "claude-sonnet-5-5"}
    refused = alice_client.post("/runs/new/", form(**same_model), headers=JSON)
    assert refused.status_code == 422
    assert "claude-sonnet-5-5 would judge its own work" in refused.json()["errors"][0]
    assert (
        alice_client.post("/runs/new/", form(**same_model, same_model_verifier="on"), headers=JSON).status_code == 201
    )


def test_a_budget_needs_prices(alice_client: Client) -> None:
    refused = alice_client.post("/runs/new/", form(budget="5", executor_model="llama"), headers=JSON)
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
        "A second person has to approve, but no one else may decide. Name somebody who may."
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
    assert '<option value="" selected>The planner writes it (needs a model)</option>' in text
    assert '<option value="document-review">Document review</option>' in text
    for key, name in (("idea-workflow", "Idea workflow"), ("project-analysis", "Project analysis")):
        assert re.search(f'<option value="{key}"[^>]* disabled>{name} \\(needs a model\\)</option>', text)
    assert alice_client.get("/templates/").text.count("needs a model") == 2


def test_with_a_model_no_template_is_held_back(alice_client: Client) -> None:
    assert "needs a model" not in alice_client.get("/runs/new/").text + alice_client.get("/templates/").text


@pytest.mark.usefixtures("no_model")
def test_without_a_model_a_free_task_is_refused_and_the_template_is_not(alice_client: Client) -> None:
    files = [file(f"{size}.md", b"x" * size) for size in (1, 2, 3)]
    refused = alice_client.post(
        "/runs/new/", form(request="Report the largest of three files", files=files), headers=JSON
    )
    assert refused.status_code == 422
    (problem,) = refused.json()["errors"]
    assert problem.startswith("This task needs a model; without a model only the sample and the template “Document")
    assert not Run.objects.exists()
    taken = form(request="Review it", template="document-review", files=[file("a.md")])
    assert alice_client.post("/runs/new/", taken, headers=JSON).status_code == 201


@pytest.mark.usefixtures("no_model")
def test_without_a_model_the_sample_is_one_click(alice_client: Client) -> None:
    alice_client.post("/runs/sample/contracts/")
    assert Run.objects.get().inputs.file_count == 3


def test_files_are_excluded_by_patterns_with_commas_between_them(alice_client: Client) -> None:
    files = [
        SimpleUploadedFile("a.md", b"One."),
        SimpleUploadedFile("b.pdf", b"Two."),
        SimpleUploadedFile("c.txt", b"3"),
    ]
    answer = alice_client.post("/runs/new/", form(files=files, excluded=" *.pdf, c.txt ,"))
    assert answer.status_code == 302
    assert Run.objects.get().excluded == ("*.pdf", "c.txt")


# ---- presets


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


def test_presets_say_what_they_are_and_which_one_this_installation_sets(
    alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = alice_client.get("/runs/new/").text
    assert "You approve every plan and the results of high-risk steps. You are asked when a step is out" in text
    assert "as set up here" not in text
    monkeypatch.setenv("PEV_POLICY", "plan_approval=first, step_approval=none")
    text = alice_client.get("/runs/new/").text
    assert "You approve the first plan and no result. You are asked when a step is out of attempts." in text
    assert "as set up here" in text
