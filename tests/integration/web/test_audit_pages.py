"""The audit trail on pages: who sees which lines, filters, files, and whether what was approved is what ran."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from runs.enums import AuditChannel, AuditKind, GateKind, GateStatus, ShareLevel
from runs.models import Attempt, AuditEntry, Gate, Plan, Run, User
from runs.readmodel import audit_lines
from runs.readmodel.approvals import decisions_on_record
from runs.readmodel.audit_lines import AuditFilter, as_csv, as_json
from runs.store import audit_trail
from runs.store.audit_trail import Origin, coming_from
from runs.web.audit.audit_pages import PAGE_LINES
from tests import factories as made

pytestmark = [pytest.mark.django_db, pytest.mark.services]


@pytest.fixture
def root_client() -> Client:
    browser = Client()
    browser.force_login(made.person("root", is_superuser=True))
    return browser


def text_of(answer: Any) -> str:
    return b"".join(answer).decode("utf-8-sig")


def from_somewhere(alice: User, **given: object) -> None:
    with coming_from(Origin(AuditChannel.PAGE, "203.0.113.7", lambda: "Firefox on Linux", lambda: alice)):
        audit_trail.record(AuditKind.RENAMED, **given)  # type: ignore[arg-type]


def test_an_administrator_sees_all_lines_and_their_origin(root_client: Client, alice: User) -> None:
    from_somewhere(alice, run_id=7, subject="the subject")
    page = root_client.get("/audit/").text
    assert "Run renamed</strong>: the subject" in page
    assert "alice ·" in page
    assert "through a page (Firefox on Linux) · from 203.0.113.7" in page
    assert 'href="/runs/7/audit/"' in page


def test_others_find_no_lines_of_the_installation(alice_client: Client) -> None:
    for address in ("/audit/", "/audit.csv", "/audit.json"):
        assert alice_client.get(address).status_code == 404


def test_who_may_see_a_run_sees_its_lines_without_addresses(alice_client: Client, charlie_client: Client) -> None:
    run = made.awaiting_plan()
    from_somewhere(made.alice(), run_id=run.pk)
    made.share(run, made.person("vera"), level=ShareLevel.LOOK)
    vera = Client()
    vera.force_login(made.person("vera"))
    for browser in (alice_client, vera):
        page, table = browser.get(f"/runs/{run.pk}/audit/").text, text_of(browser.get(f"/runs/{run.pk}/audit.csv"))
        assert "Run renamed" in page
        assert "run_renamed" in table
        assert ("203.0.113.7" in page + table, "Firefox" in page + table) == (False, False)
    for suffix in ("/", ".csv", ".json"):
        assert charlie_client.get(f"/runs/{run.pk}/audit{suffix}").status_code == 404


def numbers(page: str) -> list[int]:
    return [line.number for line in AuditEntry.objects.order_by("-number") if f'id="line-{line.number}"' in page]


def test_lines_are_filtered(root_client: Client, alice: User, bob: User) -> None:
    from_somewhere(alice, run_id=1)
    from_somewhere(bob, run_id=2)
    audit_trail.record(AuditKind.RUN_DELETED, run_id=2)
    first, second, third = AuditEntry.objects.order_by("number").values_list("number", flat=True)[:3]
    today, tomorrow = timezone.localdate(), timezone.localdate() + timedelta(days=1)
    for query, found in {
        "kind=run_renamed": [second, first],
        "by=bob": [second],
        "run=2": [third, second],
        "run=2&by=bob&kind=run_renamed": [second],
        f"since={today}&until={today}&kind=run_deleted": [third],
        f"since={tomorrow}": [],
        "until=2020-01-01": [],
        "by=nobody": [],
    }.items():
        assert numbers(root_client.get(f"/audit/?{query}").text) == found, query
        listed = json.loads(text_of(root_client.get(f"/audit.json?{query}")))
        assert [line["number"] for line in listed] == found, query


@pytest.mark.parametrize(
    "query",
    [
        *("run=x", "run=-1", "run=99999999999999999999", "since=never", "kind=other", "before=x"),
        *("since=0001-01-01", "until=0001-01-01", "since=9999-12-31", "until=9999-12-31"),
    ],
)
def test_a_filter_that_cannot_be_read_says_so_and_finds_nothing(root_client: Client, alice: User, query: str) -> None:
    from_somewhere(alice, run_id=1)
    answer = root_client.get(f"/audit/?{query}")
    assert (answer.status_code, numbers(answer.text)) == (422, [])
    assert "Not filtered." in answer.text
    assert root_client.get(f"/audit.csv?{query}").status_code == 404


def test_pages_are_of_bounded_size_and_lead_on(root_client: Client) -> None:
    for _ in range(PAGE_LINES + 5):
        audit_trail.record(AuditKind.RENAMED, run_id=1)
    newest = AuditEntry.objects.count()
    page = root_client.get("/audit/?run=1").text
    assert numbers(page) == list(range(newest, newest - PAGE_LINES, -1))
    assert f'href="?run=1&amp;before={newest - PAGE_LINES + 1}"' in page
    older = root_client.get(f"/audit/?run=1&before={newest - PAGE_LINES + 1}").text
    assert numbers(older) == list(range(newest - PAGE_LINES, newest - PAGE_LINES - 5, -1))
    assert "Older lines" not in older


@pytest.mark.parametrize(
    "subject", ["=1+1", "+1", "-1", "@A1", "\t=1", "\n=1", '=HYPERLINK("https://example.org")', "＝1"]
)
def test_no_cell_is_computed_by_a_spreadsheet(root_client: Client, subject: str) -> None:
    audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=1, subject=subject)
    header, row = csv.reader(io.StringIO(text_of(root_client.get("/audit.csv?run=1"))))
    line = dict(zip(header, row, strict=True))
    assert line["subject"] == f"'{subject}"
    assert (line["kind"], line["run_number"]) == ("file_downloaded", "1")
    [listed] = json.loads(text_of(root_client.get("/audit.json?run=1")))
    assert listed["subject"] == subject


def test_files_have_all_columns_with_the_hashes(root_client: Client, alice: User) -> None:
    from_somewhere(alice, run_id=1, subject='a, "b"\nc', name="x")
    answer = root_client.get("/audit.csv?run=1")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="audit-trail.csv"'
    header, row = csv.reader(io.StringIO(text_of(answer)))
    line, stored = dict(zip(header, row, strict=True)), AuditEntry.objects.get(run_number=1)
    assert (line["hash"], line["previous"], line["subject"]) == (stored.hash, stored.previous, 'a, "b"\nc')
    assert (line["by"], line["address"], line["details"]) == ("alice", "203.0.113.7", '{"name": "x"}')
    assert json.loads(text_of(root_client.get("/audit.json?run=5"))) == []


def test_hostile_names_are_text(root_client: Client) -> None:
    audit_trail.record(AuditKind.FILE_DOWNLOADED, run_id=1, subject="<script>alert(1)</script>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in root_client.get("/audit/").text


def test_one_page_says_who_approved_what_and_that_it_ran(alice_client: Client) -> None:
    run = made.finished_succeeded()
    page = alice_client.get(f"/runs/{run.pk}/audit/").text
    found = decisions_on_record(run)
    assert found[0].gate.kind == GateKind.PLAN
    assert found[0].compared.holds is True
    assert found[0].compared.sentence.endswith("ran with exactly what was approved.")
    assert {"plan", "input files", "policy", "models", "instructions"} <= found[0].parts.keys()
    assert all(one.compared.holds is not False for one in found)
    assert found[0].gate.digest in page
    for one in found:
        assert f'id="decision-{one.gate.pk}"' in page
    assert "what ran</span>" in page
    assert "differs</span>" not in page


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL sorts so few lines without an index")
@pytest.mark.parametrize("chosen", [AuditFilter(), AuditFilter(kind="x"), AuditFilter(by="x"), AuditFilter(run=1)])
def test_a_page_of_a_long_trail_is_read_without_sorting_it(chosen: AuditFilter) -> None:
    assert "ORDER BY" not in chosen.lines()[:PAGE_LINES].explain()


def test_a_long_trail_is_exported_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line once, with no more of them in memory than are read at once."""
    monkeypatch.setattr(audit_lines, "_AT_ONCE", 2)
    for _ in range(5):
        audit_trail.record(AuditKind.RENAMED, run_id=1)
    lines = AuditFilter(run=1).lines()
    assert [line["number"] for line in json.loads(b"".join(as_json(lines, with_origin=True)))] == [5, 4, 3, 2, 1]
    pieces = list(as_csv(lines, with_origin=True))
    assert [piece.count(b"run_renamed") for piece in pieces] == [0, 2, 2, 1]
    assert len(list(csv.reader(io.StringIO(b"".join(pieces).decode("utf-8-sig"))))) == 6


def test_details_are_stored_in_printable_form_and_cut() -> None:
    audit_trail.record(AuditKind.TOKEN_MADE, name="\0\u202egnp.exe" + "\x1b" * 500)
    name = AuditEntry.objects.get().details["name"]
    assert (name.startswith("\\u0000\\u202egnp.exe\\u001b"), len(name)) == (True, 500)


def other_plan(run: Run) -> None:
    step = run.plans.first().steps.first()  # type: ignore[union-attr]
    assert step is not None
    step.spec = step.spec.model_copy(update={"name": "Something else"})
    step.save()


def other_approval(run: Run) -> None:
    plan = run.plans.first()
    assert plan is not None
    Plan.objects.filter(pk=plan.pk).update(approval_fingerprint={**(plan.approval_fingerprint or {}), "policy": "x"})


def other_result(run: Run) -> None:
    gate = run.gates.filter(kind=GateKind.STEP, status=GateStatus.APPROVED).first()
    assert gate is not None
    Attempt.objects.filter(gates=gate).update(number=9)


def other_person(run: Run) -> None:
    Gate.objects.filter(run=run, status=GateStatus.APPROVED).update(decided_by=made.charlie())


CHANGES: dict[str, tuple[Callable[[Run], None], str]] = {
    "the plan": (other_plan, "of the plan is not what was approved: it was changed since."),
    "the approval": (other_approval, "Another decision changed what was approved here: policy."),
    "the result": (other_result, "is not what was approved: it was changed since."),
    "who decided": (other_person, "differs from the audit trail: it was changed since."),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_what_was_changed_since_its_approval_shows(
    alice_client: Client, change: Callable[[Run], None], said: str
) -> None:
    run = made.finished_succeeded()
    change(run)
    run = Run.objects.get(pk=run.pk)
    wrong = [one.compared for one in decisions_on_record(run) if one.compared.holds is False]
    assert wrong
    assert wrong[0].sentence.endswith(said)
    assert "differs</span>" in alice_client.get(f"/runs/{run.pk}/audit/").text


def test_the_history_of_a_run_leads_to_its_audit_trail(alice_client: Client) -> None:
    run = made.awaiting_plan()
    assert f'href="/runs/{run.pk}/audit/"' in alice_client.get(f"/runs/{run.pk}/history/").text
