"""`submit` sends the files of folders once, without junk and without what usually holds secrets."""

from __future__ import annotations

import json
import os
from email.message import Message
from email.parser import BytesParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx2
import pytest

from pevsite.client.submitting import MAX_BYTES_AT_ONCE, MAX_FILES_AT_ONCE
from tests.unit.client.fake_api import URL, FakeApi, arriving, at_terminal, problem

SUBMITTED: dict[str, Any] = {
    "run": 7,
    "title": "Review",
    "address": f"{URL}/runs/7/",
    "left_out": [],
    "remarks": [],
    "approval": "The first plan waits for a person.",
}


UPLOAD = "8d7c31a6-2f4b-4d5c-9b8e-0a1b2c3d4e5f"
UPLOADED: dict[str, Any] = {"upload": UPLOAD, "not_taken": []}


@pytest.fixture(autouse=True)
def _checks(api: FakeApi) -> None:
    """The server finds nothing wrong with the task."""
    api.on("POST /runs/check", {"approval": "The first plan waits for a person."})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (".env", ".git/config", "a.md", "deep/b.md", "deep/deploy.txt", "node_modules/x/index.js", "~$a.docx"):
        (tmp_path / "given" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "given" / name).write_text(f"this is {name}")
    (tmp_path / "given/deep/deploy.txt").write_text("-----BEGIN RSA PRIVATE KEY-----\nx")
    (tmp_path / "given/link.md").symlink_to("/etc/passwd")
    (tmp_path / "other.md").write_text("other")
    (tmp_path / "badly").mkdir()
    (tmp_path / "badly" / os.fsdecode(b"\xff.md")).write_text("named by another system")
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


def sent(api: FakeApi, asked: str) -> list[httpx2.Request]:
    return [one for one in api.requests if f"{one.method} {one.url.path.removeprefix('/api/v1')}" == asked]


def test_a_folder_is_sent_without_secrets_and_junk(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = {"path": "x.pem", "sentence": "It may contain secrets.", "secret": True}
    api.on("POST /uploads", {**UPLOADED, "not_taken": [secret]})
    api.on("POST /runs", {**SUBMITTED, "left_out": ["x.pem"], "remarks": ["“a.md”: \x1b[2Jempty\nRun 8"]})
    options = ("--template", "document-review", "--preset", "balanced", "--budget", "2.50")
    assert api.run("submit", str(folder / "given"), "-m", "Review.", *options) == 0
    checked, uploaded, submitted = api.requests
    task = {"request": "Review.", "preset": "balanced", "template": "document-review", "budget_usd": "2.50"}
    assert (checked.url.path, json.loads(checked.content)) == ("/api/v1/runs/check", task | {"has_files": True})
    assert form_of(uploaded) == [
        ("paths", "a.md"),
        ("paths", "deep/b.md"),
        ("files", "this is a.md"),
        ("files", "this is deep/b.md"),
    ]
    assert dict(parse_qsl(submitted.content.decode())) == task | {"upload": UPLOAD}
    assert capsys.readouterr().out.splitlines() == [
        "Left out, because folders contain them by accident: .git, node_modules, ~$a.docx",
        "Left out, because they may contain secrets: .env, deep/deploy.txt",
        "Sending 2 files, 0.0 MB.",
        f"Run 7 is submitted: {URL}/runs/7/",
        "The first plan waits for a person.",
        "Left out by the server, because they may contain secrets: x.pem",
        "! “a.md”: \\u001b[2Jempty Run 8",
    ]


def test_several_places_keep_their_names_and_nothing_is_a_form_too(api: FakeApi, folder: Path) -> None:
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", SUBMITTED)
    assert api.run("submit", str(folder / "given"), str(folder / "other.md"), "-m", "Review.") == 0
    paths = [value for name, value in form_of(api.requests[1]) if name == "paths"]
    assert paths == ["given/a.md", "given/deep/b.md", "other.md"]
    assert api.run("submit", "-m", "Think.", "--no-files") == 0
    assert [one.content for one in api.requests[3:]] == [b"request=Think.&no_files=true"]


def test_what_did_not_arrive_is_sent_again_with_its_key(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = problem(429, "Too many.", Retry_After="4")
    api.on("POST /uploads", httpx2.WriteError("reset"), late, UPLOADED)
    api.on("POST /runs", httpx2.ConnectError("refused"), late, arriving(b"{", httpx2.ReadError("gone")), SUBMITTED)
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--json") == 0
    uploads, submissions = sent(api, "POST /uploads"), sent(api, "POST /runs")
    assert [form_of(one) for one in uploads] == [[("paths", "other.md"), ("files", "other")]] * 3
    assert [len(submissions), len({one.content for one in submissions})] == [4, 1]
    assert [len({one.headers["Idempotency-Key"] for one in some}) for some in (uploads, submissions)] == [1, 1]
    assert api.waits == [1, 4, 1, 4, 1]
    assert json.loads(capsys.readouterr().out) == SUBMITTED


def test_a_request_that_the_server_is_working_on_is_waited_for(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For longer than the two minutes for which the server lets no other process work on it."""
    working = problem(409, "This request is being worked on already.", Retry_After="5")
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", *[working] * 30, SUBMITTED, working)
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 0
    assert api.waits == [5.0] * 30
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 1
    assert "This request is being worked on already." in capsys.readouterr().err
    assert sent(api, f"DELETE /uploads/{UPLOADED['upload']}") == []


def test_a_key_makes_the_same_requests_each_time(api: FakeApi, folder: Path) -> None:
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", SUBMITTED)
    for _ in range(2):
        assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--key", "job 42") == 0
    check, first, submission, *again = [(one.url.path, one.headers["Idempotency-Key"]) for one in api.requests]
    assert (again, submission) == ([check, first, submission], ("/api/v1/runs", "job 42"))
    assert len({key for _, key in (check, first, submission)}) == 3
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 0
    others = {(one.url.path, one.headers["Idempotency-Key"]) for one in api.requests[6:]}
    assert {check, first, submission}.isdisjoint(others)


def test_many_files_are_sent_a_few_at_a_time(api: FakeApi, tmp_path: Path) -> None:
    for number in range(MAX_FILES_AT_ONCE + 1):
        (tmp_path / f"{number:03}.md").write_text(f"{number}")
    (tmp_path / "big.bin").write_bytes(b"x" * MAX_BYTES_AT_ONCE)
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", SUBMITTED)
    assert api.run("submit", str(tmp_path), "-m", "Review.") == 0
    forms = [[value for name, value in form_of(one) if name != "files"] for one in sent(api, "POST /uploads")]
    names = [f"{number:03}.md" for number in range(MAX_FILES_AT_ONCE + 1)]
    assert forms == [names[:-1], [names[-1], UPLOAD], ["big.bin", UPLOAD]]
    assert len({one.headers["Idempotency-Key"] for one in sent(api, "POST /uploads")}) == 3


def test_nothing_is_submitted_without_a_file_that_the_server_does_not_take(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = {"path": "other.md", "sentence": "It has 60 MB.\nRun 8 is submitted.", "secret": False}
    api.on("POST /uploads", {**UPLOADED, "not_taken": [large]})
    api.on(f"DELETE /uploads/{UPLOAD}", httpx2.Response(204))
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 1
    assert capsys.readouterr().err.splitlines() == [
        "“other.md”: It has 60 MB. Run 8 is submitted.",
        "1 file was not taken by the server. Nothing was submitted.",
    ]
    assert [len(sent(api, asked)) for asked in ("POST /runs", f"DELETE /uploads/{UPLOAD}")] == [0, 1]


def test_no_file_is_sent_for_a_task_that_the_server_refuses(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = "There is no preset “careless”; there are: careful, balanced, hands-off."
    api.answers["POST /runs/check"] = [problem(422, refused)]
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--preset", "careless") == 1
    assert capsys.readouterr().err == f"{refused}\n"
    assert [one.url.path for one in api.requests] == ["/api/v1/runs/check"]


def test_files_of_a_refused_task_are_discarded(api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", problem(422, "There is no template “x”."))
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.", "--key", "1") == 1
    assert sent(api, f"DELETE /uploads/{UPLOAD}") == []
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 1
    assert len(sent(api, f"DELETE /uploads/{UPLOAD}")) == 1
    assert capsys.readouterr().err == "There is no template “x”.\n" * 2


def test_a_terminal_shows_how_much_is_sent(api: FakeApi, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api.on("POST /uploads", UPLOADED)
    api.on("POST /runs", SUBMITTED)
    monkeypatch.setenv("TERM", "xterm")
    shown = at_terminal(monkeypatch, "")
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 0
    assert "Sending other.md" in shown.getvalue()


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (["nothing"], "is neither a folder nor a file."),
        (["given/.env"], "No file is left to send. Nothing was submitted."),
        (["given/node_modules", "given/.git"], "No file is left to send. Nothing was submitted."),
        (["badly"], "Rename “?.md”: its name is not valid Unicode."),
    ],
)
def test_without_files_that_can_be_sent_nothing_is(
    api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str], places: list[str], said: str
) -> None:
    assert api.run("submit", *(str(folder / place) for place in places), "-m", "Review.") == 2
    assert (api.requests, capsys.readouterr().err.strip().endswith(said)) == ([], True)


@pytest.mark.parametrize(
    ("where", "named"), [("form.request", "request"), ("body.met.0", "met.0"), ("body.step", "step"), ("body", "body")]
)
def test_a_refusal_is_one_sentence(api: FakeApi, capsys: pytest.CaptureFixture[str], where: str, named: str) -> None:
    fields = [{"where": where, "sentence": "Too long"}]
    detail = f"This cannot be used: {where}, body.steps."
    api.on("POST /runs", httpx2.Response(422, json={"detail": detail, "fields": fields}))
    assert api.run("submit", "-m", "x") == 1
    assert capsys.readouterr().err == f"This cannot be used: {named}, body.steps. {named}: Too long.\n"


@pytest.mark.parametrize("key", ["", "\u00e4", "x" * 201, "a\nb"])
def test_a_key_that_no_header_can_carry_is_wrong_use(api: FakeApi, key: str) -> None:
    with pytest.raises(SystemExit) as ended:
        api.run("submit", "-m", "x", "--key", key)
    assert (ended.value.code, api.requests) == (2, [])


def test_a_file_that_goes_away_while_it_is_sent(api: FakeApi, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def remove() -> httpx2.Response:
        (folder / "other.md").unlink()
        return httpx2.Response(503)

    api.on("POST /uploads", remove)
    assert api.run("submit", str(folder / "other.md"), "-m", "Review.") == 2
    said = f"“{folder / 'other.md'}” cannot be read: No such file or directory.\n"
    assert (capsys.readouterr().err, sent(api, "POST /runs")) == (said, [])
