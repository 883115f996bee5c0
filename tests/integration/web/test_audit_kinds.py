"""Every kind of line is recorded by a real action: who did it, from where, through what, and no secret."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections import Counter
from collections.abc import Callable
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.core.management import call_command
from django.db import connections
from django.test import AsyncClient, Client
from pytest_django import Settings

from runs.enums import AuditKind, ShareLevel, Verb
from runs.lifecycle.gate_decisions import decide_by_limit
from runs.models import AuditEntry, Run, User
from runs.operations.settings_audit import record_changed_settings
from runs.people import access_tokens
from runs.store import audit_trail, event_log
from runs.store.audit_trail import AuditCheck
from runs.web.site import refusals
from tests import factories as made
from tests.integration.lifecycle.old import long_ago
from tests.integration.operations import test_backup
from tests.integration.web.audited_actions import ACTIONS, ADDRESS, NO_LINE, SAME_AS, WORDS, Audited, Scene
from tests.integration.web.deciding import address, form, gate_of
from tests.integration.web.test_access import TABLE
from tests.integration.web.test_sign_in_methods import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.services, pytest.mark.allow_hosts(["127.0.0.1"])]
ELSEWHERE = {
    AuditKind.BACKED_UP: test_backup.test_all_rows_and_files_come_back,
    AuditKind.BACKUP_RESTORED: test_backup.test_all_rows_and_files_come_back,
}
"""Kinds that processes record, with the test that reads their lines."""


def test_every_kind_is_recorded_by_an_action() -> None:
    assert {one.kind for one in ACTIONS} | ELSEWHERE.keys() == set(AuditKind)
    for kind, test in ELSEWHERE.items():
        assert f'"{kind}"' in inspect.getsource(test)


def test_every_address_that_changes_something_is_recorded_or_says_why_not() -> None:
    """An address that is new fails here until an action of it is recorded, or a reason says why no one needs that."""
    changing = {
        route
        for route, row in TABLE.items()
        if not route.startswith("admin/") and (statuses := row.takes("post")) and 405 not in statuses
    }
    recorded = {one.route for one in ACTIONS}
    exempt = [*SAME_AS, *NO_LINE]
    assert changing - recorded - set(exempt) == set()
    assert set(exempt) <= changing - recorded
    assert set(SAME_AS.values()) <= recorded
    assert len(exempt) == len(set(exempt))


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_an_action_is_recorded(action: Audited, settings: Settings) -> None:
    """With who did it, from where and through what, and without a secret."""
    scene = Scene(settings)
    action.act(scene)
    assert action.kind in scene.browser.written[action.route]
    line = AuditEntry.objects.filter(kind=action.kind).last()
    assert line is not None
    assert (line.by, line.address, line.channel, line.through) == (action.by, ADDRESS, "page", "Firefox on Linux")
    assert line.by_id == (User.objects.get(username=action.by).pk if action.by else None)
    check = AuditCheck()
    assert list(audit_trail.problems(check)) == []
    assert check.lines == AuditEntry.objects.count()
    said = json.dumps(list(AuditEntry.objects.values("through", "subject", "details", "digest", "by", "address")))
    for secret in secrets_of(scene):
        assert secret not in said


def secrets_of(scene: Scene) -> list[str]:
    """What no line may contain: links, passwords, keys, codes, words of people and contents of files."""
    found = [scene.link.split("/")[-2], PASSWORD, "test-key-of-nobody", WORDS, "Müller", "pev_", made.INVENTORY_TEXT]
    for row in Authenticator.objects.all():
        found += [str(value) for value in row.data.values() if len(str(value)) > 10]
    return [*found, "alice@example.org"]


def test_a_decision_names_its_gate_and_the_fingerprint_and_not_the_words(settings: Settings) -> None:
    scene = Scene(settings)
    run = made.awaiting_plan()
    gate = gate_of(run)
    scene.post(address(gate), form(gate, "reject", WORDS))
    line = AuditEntry.objects.get(kind=AuditKind.DECIDED)
    assert (line.run_number, line.subject, line.digest) == (run.pk, "plan version 1", gate.digest)
    assert line.details == {
        "gate": gate.pk,
        "gate_kind": "plan",
        "decision": "rejected",
        "how": "person",
        "words": audit_trail.digest_of_words(WORDS),
        "version": 1,
    }


def test_the_lines_of_a_run_stay_when_it_is_deleted(settings: Settings) -> None:
    scene = Scene(settings)
    run = long_ago(made.finished_succeeded())
    before = list(AuditEntry.objects.filter(run_number=run.pk).values())
    assert before
    scene.post(f"/runs/{run.pk}/delete/")
    assert not Run.objects.filter(pk=run.pk).exists()
    assert list(AuditEntry.objects.filter(run_number=run.pk).values())[: len(before)] == before
    assert AuditEntry.objects.filter(run_number=run.pk).count() == len(before) + 1


def test_the_lines_of_a_person_stay_when_they_are_deleted() -> None:
    dora = made.person("dora")
    access_tokens.issue(dora, "laptop", 30)
    number = dora.pk
    dora.delete()
    assert AuditEntry.objects.filter(by_id=number, by="dora", kind=AuditKind.TOKEN_MADE).count() == 1


def invite() -> None:
    call_command("people", "invite", "dora", stdout=StringIO())


def expire() -> None:
    long_ago(made.finished_succeeded())
    call_command("retention", "--days", "1", stdout=StringIO())


def let_time_pass() -> None:
    with event_log.writing():
        gate = gate_of(made.awaiting_plan())
        gate.run = event_log.locked(gate.run_id)
        decide_by_limit(gate, Verb.REJECT, 1)


WITHOUT_PERSON: dict[AuditKind, tuple[Callable[[], object], str, str]] = {
    AuditKind.INVITED: (invite, "terminal", "people, by "),
    AuditKind.RUN_DELETED: (expire, "terminal", "retention, by "),
    AuditKind.DECIDED: (let_time_pass, "system", ""),
    AuditKind.SETTING_CHANGED: (lambda: record_changed_settings("serve"), "system", ""),
}
"""Pages are in `ACTIONS`; sockets and programs in test_access_elsewhere, the provider in test_identity_provider."""


@pytest.mark.parametrize("kind", WITHOUT_PERSON)
def test_what_no_person_does_at_a_page_says_through_what_it_came(kind: AuditKind) -> None:
    act, channel, through = WITHOUT_PERSON[kind]
    act()
    line = AuditEntry.objects.filter(kind=kind).last()
    assert line is not None
    assert (line.by_id, line.by, line.address, line.channel) == (None, "", "", channel)
    assert line.through.startswith(through)
    assert bool(line.through) is bool(through)


def test_what_is_refused_to_a_person_is_recorded_without_what_they_asked_for(alice_client: Client) -> None:
    """Also where the answer is a redirect with a sentence; the number of a run that does not exist is left out."""
    hidden, seen = made.awaiting_plan(), made.awaiting_plan()
    Run.objects.update(owner=made.bob())
    made.share(seen, made.alice(), level=ShareLevel.LOOK)
    gate = gate_of(seen)
    asked = [
        ("get", f"/runs/{hidden.pk}/files/Müller.pdf", 404, "GET /runs/…/files/…", "not found", hidden.pk),
        ("post", f"/runs/{hidden.pk}/stop/", 404, "POST /runs/…/stop/", "not found", hidden.pk),
        ("post", f"/runs/{seen.pk}/stop/", 403, "POST /runs/…/stop/", "not allowed", seen.pk),
        ("post", f"/decisions/{gate.pk}/assign/", 302, "POST /decisions/…/assign/", "not allowed", seen.pk),
        ("post", f"/decisions/{gate.pk}/snooze/", 302, "POST /decisions/…/snooze/", "not allowed", seen.pk),
        ("get", "/runs/4711/", 404, "GET /runs/…/", "not found", None),
        ("get", f"/runs/{10**30}/", 404, "GET /runs/…/", "not found", None),
        ("post", "/people/", 404, "POST /people/", "not found", None),
        ("get", "/no/such/page/", 404, "", "", None),
    ]
    for method, address_, status, subject, why, number in asked:
        before = AuditEntry.objects.count()
        sent = {"to": "me", "hours": "1"} if method == "post" else {}
        assert getattr(alice_client, method)(address_, sent).status_code == status
        lines = AuditEntry.objects.filter(number__gt=before).values_list("kind", "by", "subject", "run_number")
        assert list(lines) == ([("request_refused", "alice", subject, number)] if subject else []), address_
        assert not subject or AuditEntry.objects.last().details["name"] == why  # type: ignore[union-attr]


@pytest.mark.parametrize(("method", "named"), [("POST", "POST"), ("X" * 300, "another method")])
def test_a_forged_form_is_recorded(alice: User, method: str, named: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    run = made.executing()
    answer = browser.generic(method, f"/runs/{run.pk}/stop/", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    line = AuditEntry.objects.latest("number")
    assert (line.kind, line.by, line.run_number) == (AuditKind.REQUEST_REFUSED, "alice", run.pk)
    assert (line.subject, line.details) == (f"{named} /runs/…/stop/", {"name": "not allowed", "count": 1})


def test_no_one_fills_the_trail_with_refused_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    alice, bob, charlie = made.alice(), made.bob(), made.charlie()
    for _ in range(100):
        refusals.request_refused(alice, "GET /runs/…/", "not found", now=0)
    counts = [details["count"] for details in AuditEntry.objects.values_list("details", flat=True)]
    assert counts == [1, 2, 3, 4, 5, 10, 20, 40, 80]
    monkeypatch.setattr(refusals, "MAX_PERSON_REFUSALS", 10)
    for number in range(100):
        refusals.request_refused(bob, f"page {number}", "not found", now=0)
    for number in range(100):
        cache.clear()  # as if the counts of many others had pushed these out
        refusals.request_refused(charlie, f"page {number}", "not found", now=0)
    by = Counter(AuditEntry.objects.values_list("by", flat=True))
    assert by == {"alice": len(counts), "bob": 10 + 3, "charlie": 10}


def test_of_many_refusals_few_become_lines() -> None:
    for _ in range(1_000):
        refusals.sign_in_refused("password", "203.0.113.7", now=0)
    counts = [details["count"] for details in AuditEntry.objects.values_list("details", flat=True)]
    assert counts == [1, 2, 3, 4, 5, 10, 20, 40, 80, 160, 320, 640]
    refusals.sign_in_refused("password", "203.0.113.7", now=3_600)
    assert AuditEntry.objects.count() == len(counts) + 1


def test_refusals_from_many_addresses_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "MAX_REFUSALS", 10)
    for number in range(100):
        refusals.sign_in_refused("link", f"203.0.113.{number}", now=0)
    assert AuditEntry.objects.count() == 10 + 3  # and at 20, 40 and 80


@pytest.mark.parametrize(("typed", "subject"), [("ALICE", "alice"), ("correct horse battery", ""), ("a\0b", "")])
def test_what_was_typed_as_a_name_is_recorded_only_if_it_is_one(alice: User, typed: str, subject: str) -> None:
    refusals.sign_in_refused("password", "203.0.113.7", typed)
    assert AuditEntry.objects.get().subject == subject


def test_settings_are_compared_with_the_last_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEV_KEEP_DAYS", "30")
    monkeypatch.setenv("PEV_METRICS_TOKEN", "hidden-" * 5)
    record_changed_settings("serve")
    first = AuditEntry.objects.count()
    record_changed_settings("serve")
    assert AuditEntry.objects.count() == first, "nothing has changed"
    monkeypatch.setenv("PEV_KEEP_DAYS", "60")
    monkeypatch.setenv("PEV_METRICS_TOKEN", "other-" * 5)
    record_changed_settings("serve")
    days, token = AuditEntry.objects.all()[first:]
    changed = {line.details["name"]: line.details for line in (days, token)}
    assert changed["PEV_KEEP_DAYS"] == {"name": "PEV_KEEP_DAYS", "before": "30", "after": "60"}
    secret = changed["PEV_METRICS_TOKEN"]
    assert secret["before"] != secret["after"]
    assert all(text.startswith("a secret, ") for text in (secret["before"], secret["after"]))
    assert "hidden" not in json.dumps(list(AuditEntry.objects.values_list("details", flat=True)))
    monkeypatch.delenv("PEV_KEEP_DAYS")
    record_changed_settings("serve")
    assert AuditEntry.objects.last().details["after"] == "not set"  # type: ignore[union-attr]


def test_every_decision_of_a_whole_run_has_its_line() -> None:
    run = made.finished_succeeded()
    decided = set(run.gates.exclude(decided_by=None).values_list("pk", flat=True))
    lines = AuditEntry.objects.filter(run_number=run.pk, kind=AuditKind.DECIDED)
    assert {line.details["gate"] for line in lines} == decided != set()


@pytest.mark.django_db(transaction=True)
def test_a_page_is_served_and_recorded_in_the_event_loop_too(alice: User) -> None:
    """There the session must not be read before a line needs it, and the line has the same origin."""

    async def export(run: Run) -> int:
        browser = AsyncClient()
        await browser.aforce_login(alice)
        status = (await browser.get(f"/runs/{run.pk}/report.md")).status_code
        await sync_to_async(connections.close_all)()  # those of the thread that has served the page
        return status

    run = made.finished_succeeded()
    assert asyncio.run(export(run)) == 200
    line = AuditEntry.objects.get(kind=AuditKind.REPORT_EXPORTED)
    assert (line.by, line.address, line.channel, line.run_number) == ("alice", "127.0.0.1", "page", run.pk)
