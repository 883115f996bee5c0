"""`submit` sends the files of folders once, without junk and without what usually holds secrets."""

from __future__ import annotations

import json
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.unit.client.fake_api import URL, FakeApi, problem

SUBMITTED: dict[str, Any] = {
    "run": 7,
    "title": "Review",
    "address": f"{URL}/runs/7/",
    "left_out": [],
    "remarks": [],
    "approval": "The first plan waits for a person.",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (".env", ".git/config", "a.md", "deep/b.md", "deep/deploy.txt", "node_modules/x/index.js", "~$a.docx"):
        (tmp_path / "given" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "given" / name).write_text(f"this is {name}")
    (tmp_path / "given/deep/deploy.txt").write_text("-----BEGIN RSA PRIVATE KEY-----\nx")
    (tmp_path / "given/link.md").symlink_to("/etc/passwd")
    (tmp_path / "other.md").write_text("other")
    return tmp_path


def form_of(request: httpx2.Request) -> list[tuple[str, str]]:
    """The fields of a form with files, in their order."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + request.content).get_payload()
    found = []
    for part in parts:
        assert isinstance(part, Message)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found.append((str(part.get_param("name", header="Content-Disposition")), content.decode()))
    return found


def test_a_folder_is_sent_without_secrets_and_junk(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api.on("POST /runs", {**SUBMITTED, "left_out": ["x.pem"], "remarks": ["“a.md”: \x1b[2Jempty"]})
    options = ("--template", "document-review", "--preset", "balanced", "--budget", "2.50")
    assert api.run("submit", str(folder / "given"), "-m", "Review.", *options) == 0
    assert form_of(api.requests[0]) == [
        ("request", "Review."),
        ("preset", "balanced"),
        ("paths", "a.md"),
        ("paths", "deep/b.md"),
        ("template", "document-review"),
        ("budget_usd", "2.50"),
        ("files", "this is a.md"),
        ("files", "this is deep/b.md"),
    ]
    assert capsys.readouterr().out.splitlines() == [
        "Left out, because folders contain them by accident: .git, node_modules, ~$a.docx",
        "Left out, because they may contain secrets: .env, deep/deploy.txt",
        "Sending 2 files, 0.0 MB.",
        f"Run 7 is submitted: {URL}/runs/7/",
        "The first plan waits for a person.",
        "Left out by the server, because they may contain secrets: x.pem",
        "! “a.md”: \\u001b[2Jempty",
    ]


def test_several_places_keep_their_names_and_nothing_is_a_form_too(api: FakeApi, folder: Path) -> None:
    api.on("POST /runs", SUBMITTED)
    assert api.run("submit", str(folder / "given"), str(folder / "other.md"), "-m", "Review.") == 0
    paths = [value for name, value in form_of(api.requests[0]) if name == "paths"]
    assert paths == ["given/a.md", "given/deep/b.md", "other.md"]
    assert api.run("submit", "-m", "Think.", "--no-files") == 0
    assert api.requests[1].content == b"request=Think.&preset=careful&no_files=true"


def test_a_submission_that_did_not_arrive_is_sent_again_with_its_key(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = problem(429, "Too many.", Retry_After="7")
    api.on("POST /runs", httpx2.ConnectError("refused"), late, problem(503, "Busy."), SUBMITTED)
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--json") == 0
    assert len({one.headers["Idempotency-Key"] for one in api.requests}) == 1
    assert [form_of(one)[-1] for one in api.requests] == [("files", "other")] * 4
    assert api.waits == [1, 7, 3]
    assert json.loads(capsys.readouterr().out) == SUBMITTED
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--key", "job 42") == 0
    assert api.requests[-1].headers["Idempotency-Key"] == "job 42"


def test_a_submission_on_which_the_server_still_works_is_asked_about_again(api: FakeApi, folder: Path) -> None:
    in_progress = problem(409, "This request is being worked on already.", Retry_After="5")
    api.on("POST /runs", httpx2.ReadTimeout("late"), in_progress, SUBMITTED)
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 0
    assert (len(api.requests), api.waits) == (3, [1, 5])


def test_another_conflict_is_not_sent_again(api: FakeApi, folder: Path) -> None:
    api.on("POST /runs", problem(409, "There is no room."))
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 1
    assert (len(api.requests), api.waits) == (1, [])


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (["nothing"], "is neither a folder nor a file."),
        (["given/.env"], "No file is left to send. Nothing was submitted."),
        (["given/node_modules", "given/.git"], "No file is left to send. Nothing was submitted."),
    ],
)
def test_without_files_that_can_be_sent_nothing_is(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str], places: list[str], said: str
) -> None:
    assert api.run("submit", *(str(folder / place) for place in places), "-m", "Review.") == 2
    assert (api.requests, capsys.readouterr().err.strip().endswith(said)) == ([], True)


def test_a_refusal_is_one_sentence(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    field = {"where": "form.request", "sentence": "Too long"}
    api.on("POST /runs", httpx2.Response(422, json={"detail": "This cannot be used.", "fields": [field]}))
    assert api.run("submit", "-m", "x") == 1
    assert capsys.readouterr().err == "This cannot be used. form.request: Too long.\n"
