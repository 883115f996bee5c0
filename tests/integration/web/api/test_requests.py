"""Changes of a run as the caller knows it (`If-Match`), and answers that are not sent again (`If-None-Match`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import F
from django.test import override_settings

from runs.enums import TokenScope
from runs.lifecycle.approval import fingerprint
from runs.models import Gate, Plan, Run
from runs.web.api.documentation import document
from tests import factories as made
from tests.integration.web.api.asking import Program, program_of

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Change:
    """An operation that changes something about a run, the run that it is tried with, and what is sent."""

    operation: str
    make: Callable[[], Run]
    sent: Callable[[Gate], dict[str, Any]] = field(default=lambda _gate: {})

    def post(self, program: Program, run: Run, etag: str) -> Any:
        gate = run.gates.order_by("pk").last()
        assert gate is not None
        method, path = self.operation.split()
        return program.call(method, path.format(run_id=run.pk, gate_id=gate.pk), self.sent(gate), **{"If-Match": etag})


def asking_for_annex() -> Run:
    return made.awaiting_plan(made.plan(made.plan_step("s1", "Compare", inputs=["annex-b.md"])))


def paused() -> Run:
    run = made.executing()
    Run.objects.filter(pk=run.pk).update(paused=True)
    return Run.objects.get(pk=run.pk)


def shared() -> Run:
    run = made.awaiting_plan()
    made.share(run, made.bob())
    return Run.objects.get(pk=run.pk)


def edited(gate: Gate) -> dict[str, Any]:
    assert isinstance(gate.plan, Plan)
    plan = fingerprint.contract_of(gate.plan).model_dump(mode="json")
    return {"fingerprint": gate.digest, "plan": {**plan, "goal": "Another goal."}}


CHANGES = [
    Change("post /runs/{run_id}/stop", made.executing),
    Change("post /runs/{run_id}/pause", made.executing),
    Change("post /runs/{run_id}/resume", paused),
    Change("post /runs/{run_id}/again", made.finished_succeeded),
    Change("post /runs/{run_id}/archive", made.finished_succeeded),
    Change("delete /runs/{run_id}", made.finished_succeeded),
    Change("post /runs/{run_id}/plans", made.awaiting_plan, edited),
    Change(
        "post /gates/{gate_id}/decision",
        made.awaiting_plan,
        lambda gate: {"verb": "approve", "fingerprint": gate.digest},
    ),
    Change("post /gates/{gate_id}/assignee", shared, lambda _gate: {"to": "bob", "seen": "alice"}),
    Change(
        "post /gates/{gate_id}/files",
        asking_for_annex,
        lambda gate: {"fingerprint": gate.digest, "files": [SimpleUploadedFile("annex-b.md", b"40 euros")]},
    ),
]
BY_OPERATION = {change.operation: change for change in CHANGES}


@pytest.fixture
def alice() -> Iterator[Program]:
    with override_settings(API_DECIDES=True):
        yield program_of(made.alice(), *(scope for scope in TokenScope if scope is not TokenScope.ADMIN))


def events_of(run: Run) -> int:
    return Run.objects.get(pk=run.pk).event_count


def test_each_operation_that_changes_something_about_a_run_names_412_and_no_other_does() -> None:
    naming = {
        f"{method} {path.removeprefix('/api/v1')}"
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
        if "412" in operation["responses"]
    }
    assert naming == BY_OPERATION.keys()


@pytest.mark.parametrize("operation", BY_OPERATION)
def test_a_run_is_changed_only_as_it_was_read(alice: Program, operation: str) -> None:
    change = BY_OPERATION[operation]
    run = change.make()
    number, before = Run.objects.count(), events_of(run)
    outdated = change.post(alice, run, '"as it was"')
    assert (outdated.status_code, outdated["Content-Type"]) == (412, "application/problem+json")
    assert outdated.json()["detail"].startswith("The run has changed since it was read.")
    assert (events_of(run), Run.objects.count()) == (before, number)
    assert outdated["ETag"] == alice.get(f"/runs/{run.pk}")["ETag"]
    assert change.post(alice, run, outdated["ETag"]).status_code in (200, 201)


@contextmanager
def changed_by_another_before_its_lock(run: Run) -> Iterator[None]:
    """Another process changes the run as soon as a transaction begins that will lock it."""
    changed = False

    def execute(send: Callable[..., Any], sql: str, *more: Any) -> Any:
        nonlocal changed
        if sql.startswith("SAVEPOINT") and not changed:
            changed = True
            Run.objects.filter(pk=run.pk).update(event_count=F("event_count") + 1)
        return send(sql, *more)

    with connection.execute_wrapper(execute):
        yield
    assert changed


@pytest.mark.parametrize("operation", BY_OPERATION)
def test_what_another_changes_after_the_comparison_is_noticed_under_the_lock(alice: Program, operation: str) -> None:
    change = BY_OPERATION[operation]
    run = change.make()
    etag, before, number = alice.get(f"/runs/{run.pk}")["ETag"], events_of(run), Run.objects.count()
    with changed_by_another_before_its_lock(run):
        answer = change.post(alice, run, etag)
    assert (answer.status_code, events_of(run), Run.objects.count()) == (412, before + 1, number)
    assert answer["ETag"] == alice.get(f"/runs/{run.pk}")["ETag"] != etag
    assert change.post(alice, run, "*").status_code in (200, 201)


def test_a_run_that_is_not_known_as_it_is_may_be_changed_as_it_is() -> None:
    run = made.executing()
    with changed_by_another_before_its_lock(run):
        assert program_of(made.alice()).post(f"/runs/{run.pk}/pause", **{"If-Match": "*"}).status_code == 200


def test_the_etag_of_a_run_is_weak_and_compared_as_such() -> None:
    run, alice = made.executing(), program_of(made.alice())
    etag = alice.get(f"/runs/{run.pk}")["ETag"]
    assert etag.startswith('W/"')
    for known in (etag, etag.removeprefix("W/"), f'"other", {etag}'):
        assert alice.get(f"/runs/{run.pk}", **{"If-None-Match": known}).status_code == 304
    assert alice.post(f"/runs/{run.pk}/pause", **{"If-Match": etag}).status_code == 200
    assert alice.get(f"/runs/{run.pk}", **{"If-None-Match": etag}).status_code == 200
