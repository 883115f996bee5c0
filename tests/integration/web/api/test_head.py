"""HEAD: the answer to GET without its body, for every operation that takes GET."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncRequestFactory, RequestFactory, override_settings
from django.urls import resolve

from runs.enums import AuditKind, PersonRole, TokenScope
from runs.models import AuditEntry
from runs.people.roles import NEW_PEOPLE
from runs.web.api.documentation import document
from runs.web.site.headers import no_body_for_head
from tests import factories as made
from tests.integration.web.api.asking import Program, program_of
from tests.integration.web.test_documents import run_of

pytestmark = pytest.mark.django_db
READABLE = [path for path, methods in document()["paths"].items() if "get" in methods]
TEXT = b"0123456789"
RECORDED = [AuditKind.FILE_DOWNLOADED, AuditKind.REPORT_EXPORTED, AuditKind.AUDIT_EXPORTED]


def ask(method: str, path: str, program: Program, factory: RequestFactory | AsyncRequestFactory | None = None) -> Any:
    """The answer of the operation and its middleware: the client of Django's tests takes bodies away by itself."""
    headers = {"Authorization": f"Bearer {program.token}", "Range": "bytes=2-3"}
    request = (factory or RequestFactory()).generic(method, path, headers=headers)
    found = resolve(path)
    return no_body_for_head(lambda request: found.func(request, *found.args, **found.kwargs))(request)


def body(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


@pytest.fixture
def administrator() -> Program:
    root = made.person("root", roles={*NEW_PEOPLE, PersonRole.ADMINISTRATOR})
    return program_of(root, TokenScope.RUNS_READ, TokenScope.GATES_READ, TokenScope.ADMIN)


@pytest.mark.parametrize("path", READABLE)
def test_every_address_that_takes_get_takes_head(path: str, administrator: Program) -> None:
    run = made.finished_succeeded()  # how long an unfinished one has worked is another number each time
    values = {
        "run_id": run.pk,
        "gate_id": run.gates.values_list("pk", flat=True)[0],
        "path": next(iter(run.inputs.changes)),
        "suffix": "md",
        "version": 1,
        "step_id": "inventory",
        "number": 1,
        "key": "document-review",
    }
    head = ask("HEAD", path.format(**values), administrator)
    assert not AuditEntry.objects.filter(kind__in=RECORDED).exists()
    get = ask("GET", path.format(**values), administrator)
    status = 200 if get.status_code == 206 else get.status_code  # ranges are for GET alone
    assert (head.status_code, body(head), head["Content-Type"]) == (status, b"", get["Content-Type"])
    whole = get["Content-Range"].rpartition("/")[2] if get.status_code == 206 else str(len(body(get)))
    assert head.get("Content-Length", whole) == whole
    assert head.streaming or "Content-Length" in head


def test_a_program_learns_the_length_of_a_file_before_it_asks_for_ranges() -> None:
    run = run_of({"a.txt": TEXT})
    path = f"/api/v1/runs/{run.pk}/files/a.txt"
    alice = program_of(made.alice())
    head = ask("HEAD", path, alice)
    assert {name: head[name] for name in ("Content-Length", "Accept-Ranges", "Content-Disposition")} == {
        "Content-Length": "10",
        "Accept-Ranges": "bytes",
        "Content-Disposition": 'attachment; filename="a.txt"',
    }
    assert "Content-Range" not in head
    part = ask("GET", path, alice)
    assert (part.status_code, body(part), part["ETag"]) == (206, TEXT[2:4], head["ETag"])


async def _pieces(answer: Any) -> list[bytes]:
    return [piece async for piece in answer]


def test_no_piece_of_a_file_is_read_for_head_on_the_event_loop() -> None:
    run = run_of({"a.txt": TEXT})
    head = ask("HEAD", f"/api/v1/runs/{run.pk}/files/a.txt", program_of(made.alice()), AsyncRequestFactory())
    assert (head.is_async, async_to_sync(_pieces)(head), head["Content-Length"]) == (True, [], "10")


def test_a_refusal_has_its_headers_and_no_body() -> None:
    missing = ask("HEAD", "/api/v1/runs/999", program_of(made.alice()))
    assert (missing.status_code, missing["Content-Type"], body(missing)) == (404, "application/problem+json", b"")
    assert int(missing["Content-Length"]) > 0


def test_what_changes_something_does_not_take_head() -> None:
    answer = program_of(made.alice()).call("head", "/gates/1/decision")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert program_of(made.alice(), name="other").call("put", "/runs")["Allow"] == "GET, HEAD, POST"


@override_settings(API=False)
def test_where_the_api_is_off_head_finds_nothing() -> None:
    assert program_of(made.alice()).call("head", "/runs").status_code == 404
