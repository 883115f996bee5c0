"""The form of a new run, and the samples."""

import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from runs.models import DraftFile, Run
from runs.store import trees
from tests import factories
from tests.integration.web.submitting import JSON, file, form


def test_the_form_shows_the_limits_before_an_upload(alice_client: Client) -> None:
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
    assert "with 3 files. Left out, because they may contain secrets: app/.env, app/.ssh/, app/notes." in page


def test_the_history_shows_what_the_browser_left_out_itself(alice_client: Client) -> None:
    left = ["app/.env", "<script>\0", *(f"keys/{number}.pem" for number in range(300))]
    alice_client.post("/runs/new/", form(files=[file("a.md")], paths=["app/a.md"], left_out=left))
    run = Run.objects.get()
    (submitted,) = run.events.filter(kind="submitted")
    assert submitted.data["left_out"][:3] == ["app/.env", "<script>", "keys/0.pem"]
    assert submitted.data["left_out"][20:] == ["and 180 more"]
    page = alice_client.get(f"/runs/{run.pk}/history/").text
    assert "Left out, because they may contain secrets: app/.env, &lt;script&gt;, keys/0.pem" in page


def test_without_a_script_a_folder_is_known_by_its_field(alice_client: Client) -> None:
    alice_client.post("/runs/new/", form(files=[file(".npmrc")], folder=[file("id_rsa"), file("a.md")]))
    assert list(trees.files_of(Run.objects.get().inputs)) == [".npmrc", "a.md"]


def test_a_folder_of_nothing_but_secrets_is_refused_in_words(alice_client: Client) -> None:
    answer = alice_client.post("/runs/new/", form(files=[file(".env")], paths=["app/.env"]))
    assert "No file is left: app/.env may contain secrets and are left out of folders." in answer.text
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
        ({"request": "  "}, "Describe the task: the request is empty."),
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
        ({"files": [file("a")], "paths": ["a", "b"]}, "The files did not arrive completely."),
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


@pytest.mark.usefixtures("no_model")
def test_without_a_model_a_free_task_is_refused_and_the_template_is_not(alice_client: Client) -> None:
    files = [file(f"{size}.md", b"x" * size) for size in (1, 2, 3)]
    refused = alice_client.post(
        "/runs/new/", form(request="Report the largest of three files", files=files), headers=JSON
    )
    assert refused.status_code == 422
    (problem,) = refused.json()["errors"]
    assert problem.startswith(
        "This task needs a model; without a model only the sample contracts and the template “Document"
    )
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
