"""Requests that are sent again with their Idempotency-Key: carried out once, and answered as the first time."""

from __future__ import annotations

import re
import threading
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client, override_settings
from django.test.client import encode_multipart
from django.utils import timezone

from runs.enums import AuditKind, GateKind, GateStatus, RunStatus, TokenScope
from runs.http_client.idempotency_key import KEPT_IN_WORDS, MAX_KEY
from runs.lifecycle import deletion, gate_decisions
from runs.models import AuditEntry, Draft, Gate, IdempotencyKey, Run, Share
from runs.people import idempotency_keys
from runs.submission import submission_drafts
from runs.submission.intake import Upload
from runs.web.api.documentation import document
from runs.web.api.idempotency import MAX_ANSWER_BYTES
from tests import factories as made
from tests import later
from tests.installation import ROOT
from tests.integration.web.api.asking import Program, program_of

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "8e03978e"}
DECIDES = (TokenScope.GATES_READ, TokenScope.GATES_DECIDE)
REPLAYED = "Idempotency-Replayed"


def lease(content: bytes = b"The rent is 900 EUR.") -> SimpleUploadedFile:
    return SimpleUploadedFile("lease.md", content)


def submission(content: bytes = b"The rent is 900 EUR.", **fields: Any) -> dict[str, Any]:
    return {"request": "Review the lease.", "template": "document-review", "files": lease(content)} | fields


def is_again(answer: Any, first: Any) -> bool:
    """Whether an answer is the first one once more."""
    return REPLAYED not in first and (answer.status_code, answer.content, answer[REPLAYED]) == (
        first.status_code,
        first.content,
        "true",
    )


def test_every_operation_that_is_posted_names_the_key() -> None:
    for address, methods in document()["paths"].items():
        for method, operation in methods.items():
            headers = [one["name"] for one in operation["parameters"] if one["in"] == "header"]
            assert (address, method, headers) == (address, method, ["Idempotency-Key"] if method == "post" else [])


def test_an_approval_that_is_sent_twice_is_one_decision_and_gets_the_same_answer() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    sent = {"verb": "approve", "fingerprint": gate.digest}
    with override_settings(API_DECIDES=True):
        alice = program_of(made.alice(), *DECIDES)
        first = alice.post(f"/gates/{gate.pk}/decision", sent, **KEY)
        again = alice.post(f"/gates/{gate.pk}/decision", sent, **KEY)
        late = alice.post(f"/gates/{gate.pk}/decision", sent, **{"Idempotency-Key": "another"})
    assert (first.status_code, first.json()["status"]) == (200, "approved")
    assert is_again(again, first)
    assert late.status_code == 409
    assert AuditEntry.objects.filter(kind=AuditKind.DECIDED).count() == 1


def test_what_has_changed_since_is_not_changed_back_by_a_request_that_comes_again() -> None:
    run = made.executing()
    alice = program_of(made.alice())
    first = alice.post(f"/runs/{run.pk}/pause", **KEY)
    assert alice.post(f"/runs/{run.pk}/resume").status_code == 200
    assert is_again(alice.post(f"/runs/{run.pk}/pause", **KEY), first)
    assert not Run.objects.get(pk=run.pk).paused


def test_an_answer_has_its_headers_again() -> None:
    alice = program_of(made.alice())
    first = alice.post("/runs", submission(), **KEY)
    again = alice.post("/runs", submission(), **KEY)
    assert is_again(again, first)
    assert again["Location"] == f"/api/v1/runs/{first.json()['run']}"
    assert again["Content-Type"] == first["Content-Type"]


def test_a_key_is_good_for_one_request() -> None:
    run = made.executing()
    alice = program_of(made.alice())
    assert alice.post(f"/runs/{run.pk}/pause", **KEY).status_code == 200
    others = [
        alice.post(f"/runs/{run.pk}/resume", **KEY),
        alice.post(f"/runs/{run.pk}/pause", {"reason": "lunch"}, **KEY),
        alice.post(f"/runs/{made.executing().pk}/pause", **KEY),
        alice.post("/runs", submission(), **KEY),
    ]
    assert {(one.status_code, one["Content-Type"]) for one in others} == {(422, "application/problem+json")}
    assert {one.json()["detail"] for one in others} == {
        "This Idempotency-Key belongs to another request of the last 24 hours, or to a token with other scopes. "
        "Use a new key for a new request. Nothing was changed."
    }
    assert (Run.objects.get(pk=run.pk).paused, Run.objects.count()) == (True, 2)


def test_keys_of_two_people_never_meet() -> None:
    hers = program_of(made.alice()).post("/runs", submission(), **KEY)
    his = program_of(made.bob()).post("/runs", submission(), **KEY)
    assert (his.status_code, REPLAYED in his) == (201, False)
    assert hers.json()["run"] != his.json()["run"]
    assert [one.owner.username for one in Run.objects.order_by("pk")] == ["alice", "bob"]


def test_another_token_of_the_same_person_gets_the_answer_too() -> None:
    first = program_of(made.alice()).post("/runs", submission(), **KEY)
    assert is_again(program_of(made.alice(), name="laptop").post("/runs", submission(), **KEY), first)


def test_a_token_with_fewer_scopes_gets_no_answer_of_one_with_more() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    path = f"/runs/{gate.run_id}/pause"
    first = program_of(made.alice()).post(path, **KEY)
    assert [one["gate"] for one in first.json()["decisions"]] == [gate.pk]
    answer = program_of(made.alice(), TokenScope.RUNS_WRITE, name="narrow").post(path, **KEY)
    assert (answer.status_code, gate.question in answer.text) == (422, False)
    assert answer.json()["detail"].startswith(
        "This Idempotency-Key belongs to another request of the last 24 hours, or"
    )


def test_a_form_counts_by_its_fields_and_files_and_not_by_what_is_between_them() -> None:
    token = program_of(made.alice()).token

    def post(boundary: str, fields: dict[str, Any]) -> Any:
        return Client().post(
            "/api/v1/uploads",
            encode_multipart(boundary, fields),
            content_type=f"multipart/form-data; boundary={boundary}",
            headers={"Authorization": f"Bearer {token}"} | KEY,
        )

    first = post("one", {"paths": "a.md", "files": lease()})
    assert first.status_code == 201
    assert is_again(post("another", {"files": lease(), "paths": "a.md"}), first)
    others: list[dict[str, Any]] = [
        {"paths": "b.md", "files": lease()},
        {"paths": "a.md", "files": lease(b"The rent is 901 EUR.")},
        {"paths": "a.md", "files": SimpleUploadedFile("b.md", b"The rent is 900 EUR.")},
        {"paths": "a.md", "files": [lease(), lease()]},
    ]
    assert [post("one", one).status_code for one in others] == [422] * 4
    assert [one["path"] for one in first.json()["files"]] == ["a.md"]


def test_files_whose_hash_was_taken_are_stored_whole() -> None:
    sent = {"files": [SimpleUploadedFile(f"{n}.txt", str(n).encode() * 100_000) for n in range(3)]}
    stored = program_of(made.alice()).post("/uploads", sent, **KEY).json()["files"]
    assert [one["bytes"] for one in stored] == [100_000] * 3


def test_a_refusal_is_not_kept_so_that_the_key_serves_for_the_next_try() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    sent = {"verb": "reject", "fingerprint": gate.digest}
    with override_settings(API_DECIDES=True):
        alice = program_of(made.alice(), *DECIDES)
        assert alice.post(f"/gates/{gate.pk}/decision", sent, **KEY).status_code == 422
        better = alice.post(f"/gates/{gate.pk}/decision", {**sent, "reason": "Check the annex."}, **KEY)
    assert (better.status_code, better.json()["status"]) == (200, "rejected")


def test_a_failure_is_not_kept_so_that_the_request_can_be_repeated() -> None:
    run = made.executing()
    alice = program_of(made.alice())
    later.later_run_status(run)
    assert alice.post(f"/runs/{run.pk}/pause", **KEY).status_code == 503
    later.write(run, "status", run.status)
    assert alice.post(f"/runs/{run.pk}/resume", **KEY).status_code == 422  # a part of it may have been done
    repeated = alice.post(f"/runs/{run.pk}/pause", **KEY)
    assert (repeated.status_code, REPLAYED in repeated) == (200, False)


def test_while_the_first_request_is_worked_on_the_second_has_to_wait() -> None:
    run = made.executing()
    alice = program_of(made.alice())
    _never_answered(alice, f"/runs/{run.pk}/pause", timezone.now() + timedelta(seconds=60))
    gate_decisions.pause(run.pk, made.alice(), paused=False)
    answer = alice.post(f"/runs/{run.pk}/pause", **KEY)
    assert (answer.status_code, answer["Retry-After"], answer["Content-Type"]) == (409, "5", "application/problem+json")
    assert answer.json()["detail"].startswith("This request is being worked on already.")
    assert not Run.objects.get(pk=run.pk).paused


def _never_answered(alice: Program, path: str, lease_until: Any, sent: Any = None) -> None:
    """The server was killed after it had done what was asked: there is a key with a lease, and no answer."""
    assert alice.post(path, sent, **KEY).status_code < 300
    unanswered: dict[str, Any] = {"status": None, "headers": {}, "body": "", "run": None}
    assert IdempotencyKey.objects.update(lease_until=lease_until, **unanswered) == 1


def test_a_submission_whose_server_was_killed_is_the_same_run_once_more() -> None:
    alice = program_of(made.alice())
    _never_answered(alice, "/runs", timezone.now(), submission())
    run = Run.objects.get()
    taken_over = alice.post("/runs", submission(), **KEY)
    assert (taken_over.status_code, taken_over.json()["run"], REPLAYED in taken_over) == (201, run.pk, False)
    assert is_again(alice.post("/runs", submission(), **KEY), taken_over)
    assert Run.objects.count() == 1


def test_a_run_once_more_whose_server_was_killed_is_the_same_run_also_where_there_is_no_room_for_another() -> None:
    alice, old = program_of(made.alice()), made.finished_succeeded()
    _never_answered(alice, f"/runs/{old.pk}/again", timezone.now())
    (run,) = Run.objects.filter(before=old)
    with override_settings(MIN_FREE_BYTES=10**18):
        assert alice.post(f"/runs/{old.pk}/again").status_code == 422
        taken_over = alice.post(f"/runs/{old.pk}/again", **KEY)
    assert (taken_over.status_code, taken_over.json()["run"]) == (201, run.pk)


def test_a_request_that_is_refused_when_it_is_taken_over_keeps_what_it_may_have_made() -> None:
    alice, old = program_of(made.alice()), made.finished_succeeded()
    _never_answered(alice, f"/runs/{old.pk}/again", timezone.now())
    (run,) = Run.objects.filter(before=old)
    Run.objects.filter(pk=old.pk).update(status=RunStatus.EXECUTING, outcome=None, finished_at=None)
    assert alice.post(f"/runs/{old.pk}/again", **KEY).status_code == 409
    Run.objects.filter(pk=old.pk).update(status=RunStatus.FINISHED, outcome=old.outcome, finished_at=old.finished_at)
    assert alice.post(f"/runs/{old.pk}/again", **KEY).json()["run"] == run.pk
    assert Run.objects.count() == 2


def test_an_upload_whose_server_was_killed_is_the_same_upload_once_more() -> None:
    alice = program_of(made.alice())
    _never_answered(alice, "/uploads", timezone.now(), {"files": lease()})
    taken_over = alice.post("/uploads", {"files": lease()}, **KEY).json()
    assert [one["path"] for one in taken_over["files"]] == ["lease.md"]
    assert str(Draft.objects.get().token) == taken_over["upload"]


def test_a_decision_whose_server_was_killed_says_that_it_was_made() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    sent = {"verb": "approve", "fingerprint": gate.digest}
    with override_settings(API_DECIDES=True):
        alice = program_of(made.alice(), *DECIDES)
        _never_answered(alice, f"/gates/{gate.pk}/decision", timezone.now(), sent)
        answer = alice.post(f"/gates/{gate.pk}/decision", sent, **KEY)
    assert (answer.status_code, answer.json()["detail"][:34]) == (409, "Already decided: alice approved it")
    assert Gate.objects.get(pk=gate.pk).status == GateStatus.APPROVED


@pytest.mark.parametrize("key", ["", "x" * (MAX_KEY + 1), "clé", "a\tb"])
def test_a_key_that_cannot_be_used_is_refused(key: str) -> None:
    run = made.executing()
    answer = program_of(made.alice()).post(f"/runs/{run.pk}/pause", **{"Idempotency-Key": key})
    assert (answer.status_code, Run.objects.get(pk=run.pk).paused) == (422, False)
    assert answer.json()["detail"].startswith("An Idempotency-Key has 1 to 200 characters")


def test_a_request_that_may_not_be_made_claims_no_key() -> None:
    run = made.executing()
    reader = program_of(made.alice(), TokenScope.RUNS_READ, name="reader")
    assert reader.post(f"/runs/{run.pk}/pause", **KEY).status_code == 403
    assert program_of(made.alice()).post(f"/runs/{run.pk}/stop", {"reason": 1}, **KEY).status_code == 422
    assert not IdempotencyKey.objects.exists()


def test_an_answer_is_not_given_again_to_someone_who_may_no_longer_see_the_run() -> None:
    run = made.executing()
    Share.objects.filter(run=run).delete()
    made.share(run, made.bob())
    bob = program_of(made.bob())
    first = bob.post(f"/runs/{run.pk}/pause", **KEY)
    assert is_again(bob.post(f"/runs/{run.pk}/pause", **KEY), first)
    Share.objects.filter(run=run).delete()
    answer = bob.post(f"/runs/{run.pk}/pause", **KEY)
    assert (answer.status_code, run.title in answer.text) == (404, False)


@pytest.mark.parametrize("operation", ["archive", "again", "decision"])
def test_with_a_run_the_answers_about_it_are_deleted(operation: str) -> None:
    run = made.finished_succeeded() if operation != "decision" else made.awaiting_plan()
    path, sent, about = f"/runs/{run.pk}/{operation}", {}, run.pk
    if operation == "decision":
        gate = made.open_gate(run, GateKind.PLAN)
        path, sent = f"/gates/{gate.pk}/decision", {"verb": "stop", "fingerprint": gate.digest}
    with override_settings(API_DECIDES=True):
        answer = program_of(made.alice(), TokenScope.RUNS_WRITE, TokenScope.GATES_DECIDE).post(path, sent, **KEY)
    if operation == "again":
        about = answer.json()["run"]
        gate_decisions.cancel(about, made.alice())
    assert IdempotencyKey.objects.get().run_id == about
    deletion.delete(about, made.alice())
    assert not IdempotencyKey.objects.exists()


def test_with_an_upload_the_answers_about_it_are_deleted() -> None:
    alice, others = program_of(made.alice()), {"Idempotency-Key": "another upload"}
    upload = uploaded_in_two_requests(alice)
    alice.post("/uploads", {"files": lease(b"The rent is 950 EUR.")}, **others)
    assert alice.call("delete", f"/uploads/{upload}").status_code == 204
    submission_drafts.sweep()
    assert [one.key for one in IdempotencyKey.objects.all()] == list(others.values())


def test_with_a_run_the_answers_to_its_uploads_are_deleted() -> None:
    alice = program_of(made.alice())
    upload = uploaded_in_two_requests(alice)
    answered = IdempotencyKey.objects.get(key=KEY["Idempotency-Key"]).body
    sent = submission(upload=upload, files=SimpleUploadedFile("services.md", b"The fee is 300 EUR."))
    run = alice.post("/runs", sent, **{"Idempotency-Key": "the run"}).json()["run"]
    submission_drafts.sweep()
    assert alice.post("/uploads", {"files": lease()}, **KEY).text == answered
    gate_decisions.cancel(run, made.alice())
    deletion.delete(run, made.alice())
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize("is_first", [True, False], ids=["the first request", "a later one"])
def test_an_answer_to_an_upload_that_comes_after_its_run_was_made_is_deleted_with_the_run(is_first: bool) -> None:
    person = made.alice()
    alice = program_of(person)
    row = idempotency_keys.claim(person, "slow", "0" * 64)
    token = row.makes if is_first else UUID(alice.post("/uploads", {"files": lease()}).json()["upload"])
    idempotency_keys.note_upload(row, token)
    submission_drafts.add(person, token, [Upload("annex.md", SimpleUploadedFile("annex.md", b"40 euros"))])
    run = alice.post("/runs", submission(upload=str(token), files=SimpleUploadedFile("services.md", b"300"))).json()[
        "run"
    ]
    idempotency_keys.keep(row, 201, {}, '{"files": ["annex.md"]}', None)
    assert IdempotencyKey.objects.get(key="slow").run_id == run
    gate_decisions.cancel(run, person)
    deletion.delete(run, person)
    assert not IdempotencyKey.objects.exists()


def uploaded_in_two_requests(program: Program) -> str:
    upload: str = program.post("/uploads", {"files": lease()}, **KEY).json()["upload"]
    more = {"files": SimpleUploadedFile("annex.md", b"40 euros"), "upload": upload}
    assert program.post("/uploads", more, **{"Idempotency-Key": "more files"}).json()["upload"] == upload
    return upload


@pytest.mark.parametrize("page", ["api/README.md", "operating.md", "security.md", "user-guide.md"])
def test_the_documentation_says_for_how_long_a_key_is_known(page: str) -> None:
    parts = (ROOT / "docs" / page).read_text("utf-8").split("\n\n")
    about_keys = [part for part in parts if re.search("Idempotency-Key|--idempotency-key|\\bkeys?\\b", part)]
    hours = re.findall(r"\d+ hours", "\n".join(about_keys))
    assert hours
    assert set(hours) == {KEPT_IN_WORDS}


def test_a_person_has_a_limited_number_of_keys_until_the_oldest_are_a_day_old() -> None:
    run = made.executing()
    alice, now = program_of(made.alice()), timezone.now()
    ages = [timedelta(hours=23), *[timedelta(hours=1)] * (idempotency_keys.MAX_KEYS - 1)]
    IdempotencyKey.objects.bulk_create(
        IdempotencyKey(user=made.alice(), key=f"old {number}", status=200, created_at=now - age)
        for number, age in enumerate(ages)
    )
    answer = alice.post(f"/runs/{run.pk}/pause", **KEY)
    assert (answer.status_code, 3_500 < int(answer["Retry-After"]) <= 3_600) == (429, True)
    assert answer.json()["detail"].startswith("10,000 Idempotency-Keys of the last 24 hours are in use for you")
    assert (Run.objects.get(pk=run.pk).paused, IdempotencyKey.objects.count()) == (False, idempotency_keys.MAX_KEYS)
    made.share(run, made.bob())
    assert program_of(made.bob()).post(f"/runs/{run.pk}/pause", **KEY).status_code == 200
    IdempotencyKey.objects.filter(key="old 0").update(created_at=now - timedelta(hours=24))
    assert alice.post(f"/runs/{run.pk}/resume", **KEY).status_code == 200


def test_of_an_answer_that_is_too_long_only_is_kept_that_the_request_was_carried_out() -> None:
    alice = program_of(made.alice())
    names = [f"{number:04}-{'x' * 120}.txt" for number in range(MAX_ANSWER_BYTES // 200)]
    sent = {"files": [SimpleUploadedFile(name, b"x") for name in names]}
    first = alice.post("/uploads", sent, **KEY)
    assert (first.status_code, len(first.content) > MAX_ANSWER_BYTES) == (201, True)
    again = alice.post("/uploads", {"files": [SimpleUploadedFile(name, b"x") for name in names]}, **KEY)
    assert (again.status_code, again[REPLAYED], again["Content-Type"]) == (409, "true", "application/problem+json")
    assert again.json()["detail"].startswith("This request was carried out before, and its answer was too long")
    assert Draft.objects.count() == 1


def test_after_a_day_a_key_is_free_again() -> None:
    alice = program_of(made.alice())
    first = alice.post("/runs", submission(), **KEY).json()["run"]
    alice.post("/runs", submission(), **{"Idempotency-Key": "newer"})
    old = IdempotencyKey.objects.filter(key=KEY["Idempotency-Key"])
    old.update(created_at=timezone.now() - timedelta(hours=23, minutes=59))
    assert alice.post("/runs", submission(), **KEY).json()["run"] == first
    old.update(created_at=timezone.now() - timedelta(hours=24))
    later = alice.post("/runs", submission(b"The rent is 950 EUR."), **KEY)
    assert (later.status_code, later.json()["run"] > first) == (201, True)
    old.update(created_at=timezone.now() - timedelta(hours=24))
    idempotency_keys.forget_old()
    assert [one.key for one in IdempotencyKey.objects.all()] == ["newer"]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/runs", "/uploads"])
def test_of_eight_requests_at_once_with_one_key_one_is_carried_out(path: str) -> None:
    alice = program_of(made.alice())
    barrier = threading.Barrier(8)
    answers: list[Any] = []

    def post() -> None:
        sent = submission() if path == "/runs" else {"files": lease()}
        try:
            barrier.wait()
            answers.append(alice.post(path, sent, **KEY))
        finally:
            connection.close()

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted = Counter((one.status_code, REPLAYED in one) for one in answers)
    assert (len(answers), counted[201, False]) == (8, 1)
    assert counted.keys() <= {(201, False), (201, True), (409, False)}
    assert {one["Retry-After"] for one in answers if one.status_code == 409} <= {"5"}
    assert Run.objects.count() + Draft.objects.count() == 1
    (first,) = (one for one in answers if one.status_code == 201 and REPLAYED not in one)
    sent = submission() if path == "/runs" else {"files": lease()}
    assert is_again(alice.post(path, sent, **KEY), first)


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_of_eight_that_take_over_a_request_one_carries_it_out() -> None:
    alice = made.alice()
    row = idempotency_keys.claim(alice, "key", "0" * 64)
    IdempotencyKey.objects.update(lease_until=timezone.now())
    barrier = threading.Barrier(8)
    claimed: list[Any] = []

    def take_over() -> None:
        try:
            barrier.wait()
            claimed.append(idempotency_keys.claim(alice, "key", "0" * 64))
        except idempotency_keys.InProgress as error:
            claimed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=take_over) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (taken,) = (one for one in claimed if isinstance(one, IdempotencyKey))
    assert (len(claimed), taken.pk, taken.makes) == (8, row.pk, row.makes)
    idempotency_keys.forget(row)  # the process that has lost its claim keeps and deletes nothing
    idempotency_keys.keep(taken, 201, {}, "in time", None)
    idempotency_keys.keep(row, 200, {}, "late", None)
    assert [(one.status, one.body) for one in IdempotencyKey.objects.all()] == [(201, "in time")]
