"""Who may call which operation: by scope, by role, and by what is wrong with a token. One test for all operations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory, override_settings

from runs.enums import AuditKind, PersonRole, TokenScope
from runs.models import AuditEntry, Run
from runs.people.roles import NEW_PEOPLE, groups_of
from runs.web.api.api import api
from runs.web.api.documentation import document
from tests import api_examples
from tests import factories as made
from tests.integration.web.api.asking import Program, program_of

pytestmark = pytest.mark.django_db
_EXAMPLES = json.loads(api_examples.FILE.read_text("utf-8"))
OPERATIONS = [
    (method, path, TokenScope(operation["security"][0]["AccessTokenAuth"][0]))
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
]
BODIES = {
    (method, path): _EXAMPLES[operation["operationId"]].get("body", {})
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
    if method == "post"
}
"""A body of each operation that it can use, so that the answer is not about the body."""
OF_PEOPLE = [one for one in OPERATIONS if one[2] is not TokenScope.ADMIN]
"""Those for which anyone can have a token."""
ABOUT_NO_RUN = {
    ("get", "/api/v1/runs"): {200},
    ("post", "/api/v1/runs"): {404},  # the upload of the example is someone else's
    ("post", "/api/v1/runs/check"): {200},
    ("get", "/api/v1/gates"): {200},
    ("post", "/api/v1/uploads"): {201},
    ("get", "/api/v1/templates"): {200},
    ("get", "/api/v1/templates/{key}"): {200},
    ("get", "/api/v1/metrics"): {200},
    ("get", "/api/v1/health"): {200, 503},  # a busy machine may be slow
}
"""What is not about one run is answered for everyone, with what they may see."""


@pytest.fixture
def run() -> Run:
    return made.awaiting_plan()


@pytest.fixture(autouse=True)
def _programs_may_decide() -> Iterator[None]:
    with override_settings(API_DECIDES=True):
        yield


def ask(program: Program, method: str, path: str, run: Run) -> Any:
    values = {
        "run_id": run.pk,
        "gate_id": run.gates.open().get().pk,
        "path": next(iter(run.inputs.changes)),
        "suffix": "md",
        "version": 1,
        "step_id": "inventory",
        "number": 1,
        "key": "document-review",
        "upload": "8d7c31a6-2f4b-4d5c-9b8e-0a1b2c3d4e5f",
    }
    body = BODIES.get((method, path))
    if body and "files" in body:
        body = body | {"files": [SimpleUploadedFile("a.md", text.encode()) for text in body["files"]]}
    return program.call(method, path.format(**values).removeprefix("/api/v1"), body)


@pytest.mark.parametrize(("method", "path", "scope"), OPERATIONS)
def test_an_operation_needs_a_token_with_its_scope(run: Run, method: str, path: str, scope: TokenScope) -> None:
    without = ask(Program(), method, path, run)
    assert (without.status_code, without["WWW-Authenticate"]) == (401, 'Bearer realm="pevsite"')
    assert ask(Program("pev_" + "x" * 43), method, path, run).status_code == 401
    others = [one for one in TokenScope if one not in (scope, TokenScope.ADMIN)]
    lacking = ask(program_of(made.alice(), *others), method, path, run)
    assert (lacking.status_code, f"does not allow “{scope}”" in lacking.json()["detail"]) == (403, True)
    assert Run.objects.filter(pk=run.pk, gates__status="open").exists()


@pytest.mark.parametrize(("method", "path", "scope"), OF_PEOPLE)
def test_a_run_that_a_person_may_not_see_is_not_there(run: Run, method: str, path: str, scope: TokenScope) -> None:
    answer = ask(program_of(made.charlie(), scope), method, path, run)
    assert answer.status_code in ABOUT_NO_RUN.get((method, path), {404})
    assert run.title not in answer.text
    assert AuditEntry.objects.filter(kind=AuditKind.DECIDED).count() == 0


def test_what_is_of_administrators_is_refused_when_a_person_is_none_any_more(run: Run) -> None:
    root = made.person("root", roles={*NEW_PEOPLE, PersonRole.ADMINISTRATOR})
    program = program_of(root, TokenScope.ADMIN)
    addresses = [path for method, path, scope in OPERATIONS if scope is TokenScope.ADMIN and method == "get"]
    assert {ask(program, "get", path, run).status_code for path in addresses} == {200}
    root.groups.set(groups_of(NEW_PEOPLE))
    assert {ask(program, "get", path, run).status_code for path in addresses} == {403}


def test_sessions_give_no_access_and_tokens_none_to_pages(run: Run) -> None:
    browser = Client()
    browser.force_login(made.alice())
    assert browser.get("/api/v1/runs").status_code == 401
    token = program_of(made.alice()).token
    assert Client().get(f"/runs/{run.pk}/", headers={"Authorization": f"Bearer {token}"}).status_code == 302


def test_a_token_comes_so_often_in_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_800_000_015.0)  # of one minute, whatever the machine does meanwhile
    alice = program_of(made.alice())
    with override_settings(API_RATE=2):
        assert [alice.get("/runs").status_code for _ in range(3)] == [200, 200, 429]
        late = alice.get("/runs")
    assert late["Retry-After"] == "45"
    assert late.json()["detail"] == "This token has made 2 requests in a minute. Wait 45 seconds."
    cache.clear()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/nothing", 404),
        ("get", "/runs/1/texts/%0A", 404),
        ("get", "/", 404),
        ("get", "/runs/x", 404),
        ("put", "/runs", 405),
        ("get", f"/runs/{10**30}", 404),
    ],
)
def test_what_is_not_there_is_said_as_a_problem(method: str, path: str, status: int) -> None:
    answer = program_of(made.alice()).call(method, path)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status


@pytest.mark.parametrize(
    ("body", "longest", "said"),
    [
        ("{", 1_000_000, "Cannot parse request body. Nothing was changed."),
        ('{"reason": "later"}', 10, "The text in the form is larger than 0 MB. Nothing was stored."),
    ],
)
def test_what_cannot_be_read_is_said_as_a_problem(run: Run, body: str, longest: int, said: str) -> None:
    alice = program_of(made.alice())
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=longest):
        answer = Client().post(
            f"/api/v1/runs/{run.pk}/stop",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {alice.token}"},
        )
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert answer.json()["detail"].startswith(said)


def test_a_fault_of_the_server_is_said_as_a_problem_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    answer = api.on_exception(RequestFactory().get("/api/v1/runs"), ZeroDivisionError("by zero"))
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    assert "by zero" not in answer.content.decode()
    (line,) = caplog.records
    assert (line.name, line.levelname, line.exc_info and line.exc_info[0]) == (
        "django.request",
        "ERROR",
        ZeroDivisionError,
    )


def test_scripts_of_other_sites_read_nothing(run: Run) -> None:
    alice = program_of(made.alice())
    answers = [
        alice.get("/runs", Origin="https://other.example"),
        alice.call("options", "/runs", Origin="https://other.example"),
    ]
    assert [name for one in answers for name in one.headers if name.startswith("Access-Control")] == []


def test_an_installation_can_do_without_it() -> None:
    with override_settings(API=False):
        answer = program_of(made.alice()).get("/runs")
    assert (answer.status_code, answer.json()["detail"]) == (404, "The REST API of this installation is off (PEV_API).")
