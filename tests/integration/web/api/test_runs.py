"""Runs over the API: listed, submitted, read and changed as on the pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import DjangoAssertNumQueries

from pevsite.setting_values import policy_values, quotas
from runs.enums import GateKind, PersonRole, RunStatus, TokenScope
from runs.models import Draft, Run, User
from runs.readmodel.run_view import RunReading, reading_of
from runs.rehearsal.job import SAMPLE_REQUEST
from runs.reports import contract
from runs.reports.json_report import as_json, report_of
from runs.web.api import run_operations
from tests import factories as made
from tests.integration.web.api.asking import program_of

pytestmark = pytest.mark.django_db
REVIEW = {"request": "Review the lease.", "template": "document-review"}


def lease() -> SimpleUploadedFile:
    return SimpleUploadedFile("lease.md", made.LEASE.encode())


def test_a_list_has_what_the_person_may_see_page_by_page() -> None:
    hers = [made.planning().pk for _ in range(3)]
    alice, charlie = program_of(made.alice()), program_of(made.charlie())
    first = alice.get("/runs?limit=2")
    assert [one["run"] for one in first.json()["runs"]] == hers[:0:-1]
    assert first["Link"] == f'<http://testserver/api/v1/runs?limit=2&cursor={first.json()["next"]}>; rel="next"'
    last = alice.get(f"/runs?limit=2&cursor={first.json()['next']}")
    assert ([one["run"] for one in last.json()["runs"]], last.json()["next"]) == (hers[:1], None)
    assert "Link" not in last
    assert charlie.get("/runs").json() == {"runs": [], "next": None}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("cursor=x", "This is no cursor"),
        ("limit=0", "This cannot be used: query.limit."),
        ("limit=101", "This cannot be used: query.limit."),
        ("state=odd", "This cannot be used: query.state."),
        ("colour=red", "There is no field “colour”."),
        ("person=nobody", "There is no user “nobody”."),
        ("since=yesterday", "This cannot be used: query.since."),
        ("since=0001-01-01T00:00:00%2B14:00", "This cannot be used: query.since."),
        ("until=9999-12-31T23:59:59-14:00", "This cannot be used: query.until."),
    ],
)
def test_a_filter_that_cannot_be_used_is_refused(query: str, said: str) -> None:
    answer = program_of(made.alice()).get(f"/runs?{query}")
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    assert answer.json()["detail"].startswith(said)


def test_filters_are_those_of_the_inbox() -> None:
    waiting, finished = made.awaiting_plan(), made.finished_succeeded()
    alice = program_of(made.alice())

    def listed(query: str) -> list[int]:
        return [one["run"] for one in alice.get(f"/runs?{query}").json()["runs"]]

    assert listed("show=finished") == listed("state=succeeded") == [finished.pk]
    assert listed("show=mine") == [waiting.pk]
    assert listed("person=bob") == listed("archived=true") == listed("until=2001-01-01T00:00:00Z") == []


def test_runs_that_wait_for_the_person_need_the_scope_for_decisions() -> None:
    made.awaiting_plan()
    reader = program_of(made.alice(), TokenScope.RUNS_READ)
    refused = reader.get("/runs?show=mine")
    assert (refused.status_code, reader.get("/runs?show=all").status_code) == (403, 200)
    assert refused["WWW-Authenticate"] == 'Bearer realm="pevsite", error="insufficient_scope", scope="gates:read"'
    assert refused.json()["detail"] == (
        "This access token does not allow “gates:read”. Make one that does on the page “Access tokens”."
    )


def test_a_run_is_submitted_with_its_files_once_for_each_key() -> None:
    alice = program_of(made.alice())
    sent = {**REVIEW, "paths": "contracts/lease.md"}
    first = alice.post("/runs", {**sent, "files": lease()}, **{"Idempotency-Key": "42"})
    again = alice.post("/runs", {**sent, "files": lease()}, **{"Idempotency-Key": "42"})
    other = alice.post("/runs", {**sent, "files": lease()}, **{"Idempotency-Key": "43"})
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 201)
    assert first.json()["run"] == again.json()["run"] != other.json()["run"]
    run = Run.objects.get(pk=first.json()["run"])
    assert first["Location"] == f"/api/v1/runs/{run.pk}"
    assert (run.owner, list(run.inputs.changes)) == (made.alice(), ["contracts/lease.md"])
    assert run.gates.open().get().kind == GateKind.PLAN


def test_a_minimum_of_the_installation_for_its_verifier_holds_for_programs_too(settings: Any) -> None:
    settings.POLICY = policy_values("min_catch_rate=0.9")
    answer = program_of(made.alice()).post("/runs", {**REVIEW, "files": lease()})
    assert (answer.status_code, Run.objects.count()) == (422, 0)
    assert answer.json()["detail"].startswith("“claude-haiku-5-5” has no current calibration")


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"request": " "}, "Describe the task: the request is empty."),
        ({"preset": "careless"}, "This cannot be used: body.preset."),
        ({"template": "none"}, "There is no such template."),
        ({"approvers": ["zoe"]}, "There is no user “zoe”"),
        ({"budget_usd": "1000"}, "A program may ask for a budget of $20.00 here at most."),
        ({"has_files": False}, "No file is attached."),
    ],
)
def test_a_task_is_checked_before_its_files_are_sent(sent: dict[str, Any], said: str, settings: Any) -> None:
    """With the sentences of a submission, which come from the same place. Nothing is made."""
    settings.POLICY = policy_values("budget=20")
    alice = program_of(made.alice())
    answer = alice.post("/runs/check", {**REVIEW, "has_files": True, **sent})
    assert (answer.status_code, answer.json()["detail"][: len(said)]) == (422, said)
    fields = {name: value for name, value in sent.items() if name != "has_files"}
    files = [] if sent.get("has_files") is False else lease()
    submitted = alice.post("/runs", {**REVIEW, **fields, "files": files}).json()["detail"]
    assert submitted.replace("form.", "body.") == answer.json()["detail"]
    assert (Run.objects.count(), Draft.objects.count()) == (0, 0)


def test_a_task_that_the_server_would_take_says_who_has_to_decide() -> None:
    checked = {**REVIEW, "has_files": True}
    alice, viewer = program_of(made.alice()), program_of(made.person("vera", roles={PersonRole.VIEWER}))
    answer = alice.post("/runs/check", checked)
    assert (answer.status_code, answer.json()) == (200, {"approval": "Every plan waits for a person."})
    assert viewer.post("/runs/check", checked).status_code == 403
    assert (Run.objects.count(), Draft.objects.count()) == (0, 0)


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"has_files": True}, ""),
        ({"has_files": True, "template": ""}, "This task needs a model; without a model "),
        ({"has_files": True, "template": "", "request": SAMPLE_REQUEST}, ""),
        ({"no_files": True}, "There are no files to review; without a model "),
    ],
)
def test_a_task_that_no_model_would_answer_is_refused_before_its_files_are_sent(
    sent: dict[str, Any], said: str
) -> None:
    answer = program_of(made.alice()).post("/runs/check", {**REVIEW, **sent})
    assert answer.json().get("detail", "")[: len(said)] == said
    assert answer.status_code == (422 if said else 200)


def test_a_task_for_which_there_is_no_room_is_refused_before_its_files_are_sent(settings: Any) -> None:
    settings.QUOTAS = quotas("everyone runs=1")
    alice, key = program_of(made.alice()), {"Idempotency-Key": "42"}
    assert alice.post("/runs/check", {**REVIEW, "has_files": True}, **key).status_code == 200
    made.awaiting_plan(owner=made.alice())
    again = alice.post("/runs/check", {**REVIEW, "has_files": True}, **key)
    assert again.status_code == 200, "a command that is started again finds the run that it has submitted"
    refused = alice.post("/runs/check", {**REVIEW, "has_files": True})
    assert (refused.status_code, refused.json()["detail"][:48]) == (
        422,
        "There is no room for another run in your quota. ",
    )


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ({"request": ""}, 422, "Describe the task: the request is empty."),
        ({**REVIEW, "paths": ["a.md", "b.md"]}, 422, "There are not as many paths as files."),
        ({**REVIEW, "template": "none"}, 422, "There is no such template."),
        ({**REVIEW, "approvers": "zoe"}, 422, "There is no user “zoe”"),
        ({**REVIEW, "approve": "true"}, 422, "There is no field “approve”."),
        ({**REVIEW, "budget_usd": "1000000"}, 422, "This cannot be used: "),
    ],
)
def test_a_submission_that_cannot_be_used_stores_nothing(sent: dict[str, Any], status: int, said: str) -> None:
    answer = program_of(made.alice()).post("/runs", {**sent, "files": lease()})
    assert (answer.status_code, Run.objects.count()) == (status, 0)
    assert answer.json()["detail"].startswith(said)


def test_a_run_is_read_as_its_report_and_not_sent_again_while_it_is_unchanged() -> None:
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    answer = alice.get(f"/runs/{run.pk}")
    assert answer.json() == as_json(reading_of(Run.objects.get(pk=run.pk)))
    known = {"If-None-Match": answer["ETag"]}
    again = alice.get(f"/runs/{run.pk}", **known)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    Run.objects.filter(pk=run.pk).update(title="Another")
    assert alice.get(f"/runs/{run.pk}", **known).status_code == 200


def test_the_report_of_a_finished_run_is_written_again_only_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def write(reading: RunReading) -> contract.Report:
        written.append(reading.run.pk)
        return report_of(reading)

    monkeypatch.setattr(run_operations, "report_of", write)
    before, run, alice = made.submitted(), made.finished_succeeded(), program_of(made.alice())
    Run.objects.filter(pk=run.pk).update(before=before)

    def read() -> Any:
        return alice.get(f"/runs/{run.pk}").json()

    first = read()
    assert (read(), len(written)) == (first, 1)
    Run.objects.filter(pk=run.pk).update(title="Another")
    assert (read()["title"], len(written)) == ("Another", 2)
    User.objects.filter(pk=run.owner_id).update(username="alice-smith")
    assert ("alice-smith" in str(read()), len(written)) == (True, 3)
    before.shares.all().delete()  # Bob sees the run, and not the one before: the report says less of that now
    assert (read()["title"], len(written)) == ("Another", 4)
    monkeypatch.setattr(run_operations, "MAX_KEPT", 10)
    Run.objects.filter(pk=run.pk).update(title="Longer than what is kept")
    read()
    read()
    assert len(written) == 6


@pytest.mark.parametrize(
    ("address", "most"),
    [("/runs", 3), ("/runs/{}", 3), ("/runs/{}/status", 6), ("/runs/{}/files", 2), ("/runs/{}/events", 4)],
)
def test_reads_that_programs_repeat_take_few_queries(
    address: str, most: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run, alice = made.finished_succeeded(), program_of(made.alice())
    alice.get(address.format(run.pk))  # notes the use of the token, and keeps the report
    with django_assert_max_num_queries(most):
        assert alice.get(address.format(run.pk)).status_code == 200


@pytest.mark.parametrize(
    ("address", "most"), [("/runs", 4), ("/runs/{run}/status", 9), ("/gates", 3), ("/gates/{gate}", 10)]
)
def test_reads_about_open_decisions_take_few_queries(
    address: str, most: int, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    gate, alice = made.open_gate(made.awaiting_plan()), program_of(made.alice())
    alice.get("/runs")  # notes the use of the token
    with django_assert_max_num_queries(most):
        assert alice.get(address.format(run=gate.run_id, gate=gate.pk)).status_code == 200


def test_the_report_of_an_unfinished_run_is_of_now() -> None:
    run, alice = made.executing(), program_of(made.alice())
    before = alice.get(f"/runs/{run.pk}").json()
    Run.objects.filter(pk=run.pk).update(request="Another request")  # without an event
    assert (before["request"], alice.get(f"/runs/{run.pk}").json()["request"]) == (run.request, "Another request")


def test_a_run_is_paused_resumed_and_stopped_as_it_was_read() -> None:
    run = made.executing()
    alice = program_of(made.alice())
    etag = alice.get(f"/runs/{run.pk}")["ETag"]
    assert alice.post(f"/runs/{run.pk}/pause", **{"If-Match": etag}).json()["state"] == "paused"
    outdated = alice.post(f"/runs/{run.pk}/resume", **{"If-Match": etag})
    assert (outdated.status_code, outdated.json()["status"]) == (412, 412)
    assert alice.post(f"/runs/{run.pk}/resume", **{"If-Match": outdated["ETag"]}).status_code == 200
    assert alice.post(f"/runs/{run.pk}/resume").status_code == 409
    stopped = alice.post(f"/runs/{run.pk}/stop", {"reason": "enough"})
    assert (stopped.json()["state"], Run.objects.get(pk=run.pk).status) == ("cancelled", RunStatus.FINISHED)
    twice = alice.post(f"/runs/{run.pk}/stop", {"reason": "enough"})
    assert (twice.status_code, twice.json()["detail"]) == (409, "This run is already finished.")


def test_a_finished_run_is_run_again_archived_and_deleted() -> None:
    run = made.finished_succeeded()
    alice = program_of(made.alice())
    again = alice.post(f"/runs/{run.pk}/again", {"reuse": False})
    assert (again.status_code, Run.objects.get(pk=again.json()["run"]).before_id) == (201, run.pk)
    assert alice.post(f"/runs/{again.json()['run']}/again", {}).status_code == 409
    assert alice.post(f"/runs/{run.pk}/archive").status_code == 200
    assert [one["run"] for one in alice.get("/runs?archived=true").json()["runs"]] == [run.pk]
    assert alice.call("delete", f"/runs/{run.pk}").json() == {"number": run.pk, "title": run.title}
    gone = alice.get(f"/runs/{run.pk}")
    assert (gone.status_code, gone.json()["detail"]) == (404, f"There is no run {run.pk} that you may see.")


def test_a_filter_with_a_value_that_there_is_not_is_named() -> None:
    answer = program_of(made.alice()).get("/runs?state=lost")
    assert (answer.status_code, {one["where"] for one in answer.json()["fields"]}) == (422, {"query.state"})
    assert answer.json()["detail"] == "This cannot be used: query.state. Nothing was changed."


@pytest.mark.parametrize(
    ("fields", "sentences"),
    [
        ({"request": "Review\0 it."}, ["Value error, null characters cannot be used"]),
        ({"template": "x\0"}, ["Value error, null characters cannot be used"]),
        ({"approvers": ["bob\0"]}, ["Value error, null characters cannot be used"]),
        ({"approvers": ["bob"] * 51}, ["Tuple should have at most 50 items after validation, not 51"]),
    ],
)
def test_what_cannot_be_submitted_is_named(fields: dict[str, Any], sentences: list[str]) -> None:
    answer = program_of(made.alice()).post("/runs", {"request": "Review.", "files": lease(), **fields})
    assert (answer.status_code, [one["sentence"] for one in answer.json()["fields"]]) == (422, sentences)
    assert not Run.objects.exists()


def test_a_request_that_is_too_long_is_refused_in_the_words_of_the_form() -> None:
    answer = program_of(made.alice()).post("/runs", {"request": "x" * 20_001, "files": lease()})
    sentence = "The request is too long by 1 character; 20,000 fit."
    assert (answer.status_code, answer.json()["detail"].partition(" Put")[0][: len(sentence)]) == (422, sentence)
