"""The status page and `manage.py check_setup`: what is said of processes and work, and what can be done about them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from runs.engine import claim, process_registry
from runs.engine.process_registry import Presence
from runs.engine.sweeper import Sweeper
from runs.enums import EventKind, TokenScope, WorkKind, WorkStatus
from runs.errors import LeaseLost
from runs.isolation import sandbox
from runs.models import Event, Process, User, WorkItem
from runs.people import access_tokens, accounts
from runs.web.operations import health
from runs.web.operations import setup_findings as found
from runs.web.operations.setup_findings import Finding
from tests import factories as made

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def parts_are_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked in threads, which do not see the rows of a test; `test_health` asks them."""
    monkeypatch.setattr(health, "PARTS", dict.fromkeys(health.PARTS, lambda: None))


@pytest.fixture(autouse=True)
def migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of the tests are made without migrations."""
    applied = {("runs", process_registry.newest_migration()): None}
    monkeypatch.setattr(MigrationRecorder, "applied_migrations", lambda _: applied)


@pytest.fixture(autouse=True)
def not_drained() -> Iterator[None]:
    yield
    process_registry.draining.clear()


@pytest.fixture
def root(client: Client) -> User:
    who = made.person("root", is_superuser=True)
    client.force_login(who)
    return who


def process(**changes: Any) -> Process:
    """One that lives on another machine."""
    now = timezone.now()
    facts = {"serves": True, "threads": 4, "engine": "embedded", "messages": True, "version": "1", "schema": "1"}
    times = {"started_at": now, "seen_at": now}
    number = Process.objects.count()
    mine = {"name": f"b/{number}/x", "owner": f"b/{number}", "key": process_registry.key_mark()}
    return Process.objects.create(**(facts | times | mine | changes))


def wrong() -> list[str]:
    return [finding.text for finding in found.findings() if finding.is_wrong]


# ---- rows of processes


@pytest.mark.django_db(transaction=True)
def test_a_process_is_there_from_its_first_poll_until_it_ends() -> None:
    sweeper = Sweeper(None, present=Presence(serves=True, threads=3))
    sweeper.start()
    while not (row := Process.objects.first()):
        time.sleep(0.01)
    assert (row.owner, row.serves, row.threads, row.draining) == (process_registry.owner(), True, 3, False)
    assert row.schema == process_registry.newest_migration()
    sweeper.stop()
    assert not Process.objects.exists()


def test_it_is_written_now_and_then_and_not_at_every_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    present = Presence(serves=True, threads=3)
    present.refresh()
    with CaptureQueriesContext(connection) as captured:
        present.refresh()
    assert len(captured) == 0
    Process.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    monkeypatch.setattr(present, "_next", 0.0)
    present.refresh()
    assert Process.objects.get().seen_at > timezone.now() - timedelta(seconds=20)


def test_its_clock_is_compared_with_that_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    present = Presence(serves=True, threads=3)
    present.refresh()
    monkeypatch.setattr(present, "_next", 0.0)
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() + timedelta(seconds=7))
    present.refresh()
    assert Process.objects.get().clock_ahead == pytest.approx(7, abs=1)


def test_who_was_silent_for_long_is_forgotten() -> None:
    process(seen_at=timezone.now() - timedelta(hours=2))
    stays = process(seen_at=timezone.now() - timedelta(minutes=2))
    process_registry.forget_the_silent()
    assert list(Process.objects.all()) == [stays]


def test_a_drained_process_claims_nothing_until_it_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    item = made.open_work(made.planning(), WorkKind.PLAN)
    present = Presence(serves=False, threads=3)
    present.refresh()
    row = Process.objects.get()
    for drains in (True, False):
        assert process_registry.drain(row.pk, drains=drains)
        assert not process_registry.drain(row.pk, drains=drains), "it is so already"
        monkeypatch.setattr(present, "_next", 0.0)
        present.refresh()
        assert (claim.claim(item.pk) is None) == drains


def test_the_mark_of_a_key_does_not_tell_it(settings: Any) -> None:
    before = process_registry.key_mark()
    assert settings.SECRET_KEY[:4] not in before
    settings.SECRET_KEY += "x"
    assert process_registry.key_mark() != before


# ---- what is at odds


def test_one_process_of_each_kind_is_well(settings: Any) -> None:
    process(threads=0)
    process(serves=False)
    assert wrong() == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": "another"}, "PEV_SECRET_KEY is another at b/1 than here"),
        ({"version": "2"}, "They differ in version: 1 at b/0; 2 at b/1. Finish the upgrade"),
        ({"schema": "2"}, "They differ in newest migration: 1 at b/0; 2 at b/1."),
        ({"engine": "celery"}, "They differ in PEV_ENGINE: celery at b/1; embedded at b/0. Set the same everywhere."),
        (
            {"messages": False},
            "PEV_REDIS_URL is missing at b/1: browsers learn late what other processes do, and each process counts the "
            "requests and the wrong tokens of programs by itself.",
        ),
        ({"clock_ahead": 7.2}, "That of b/1 is 7 s ahead of the database's. Synchronise both, as with NTP."),
        ({"clock_ahead": -7.2}, "That of b/1 is 7 s behind the database's. Synchronise both, as with NTP."),
    ],
)
def test_processes_that_do_not_fit_together_are_named(changes: dict[str, Any], said: str) -> None:
    process()
    process(**changes)
    [text] = wrong()
    assert text.startswith(said)


def test_processes_that_fell_silent_are_not_compared() -> None:
    process()
    process(version="0", seen_at=timezone.now() - timedelta(minutes=2))
    assert wrong() == []


@pytest.mark.parametrize(
    ("changes", "said"), [({"threads": 0}, "No process works"), ({"draining": True}, "All workers are drained")]
)
def test_that_nobody_works_is_said(changes: dict[str, Any], said: str) -> None:
    process(**changes)
    [text] = wrong()
    assert text.startswith(said)


@pytest.mark.parametrize(("owner", "machines"), [("b/7", 1), ("c/0", 2)])
def test_processes_of_several_machines_on_sqlite_are_named(owner: str, machines: int) -> None:
    process()
    process(owner=owner)
    said = (
        f"b/0, {owner} have different host names, and SQLite works only on one machine. For several, set "
        "PEV_DATABASE_URL (PostgreSQL)."
    )
    assert wrong() == ([said] if machines > 1 and connection.vendor == "sqlite" else [])


def test_a_database_that_is_away_is_said_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise health.NotReady("does not answer")

    monkeypatch.setattr(health, "PARTS", {**health.PARTS, "database": away})
    [only] = found.findings()
    assert only == Finding("Database", "It does not answer. Start it, or correct PEV_DATABASE_URL.", is_wrong=True)


@pytest.mark.parametrize(
    ("known", "said"),
    [("0000_earlier", "A newer version has changed its tables"), ("9999_of_tomorrow", "Its tables are older")],
)
def test_tables_of_another_version_are_said(monkeypatch: pytest.MonkeyPatch, known: str, said: str) -> None:
    monkeypatch.setattr(found, "newest_migration", lambda: known)
    assert wrong()[0].startswith(said)


def test_too_little_room_is_said(settings: Any) -> None:
    settings.MIN_FREE_BYTES = 10**18
    assert wrong()[0].endswith("MB new runs are refused. Make room.")


def test_the_command_ends_with_1_when_something_is_wrong(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PEV_TEST")]:  # of the tests, not of the product
        monkeypatch.delenv(name)
    output = StringIO()
    call_command("check_setup", stdout=output)
    lines = output.getvalue().splitlines()
    assert f"  PEV_WORKERS = {settings.WORKERS}" in lines
    assert lines[-1] == "  Processes: 0 serving and 0 working processes were seen recently."
    process(clock_ahead=60)
    output = StringIO()
    with pytest.raises(CommandError, match=r"^One of these needs a person\.$"):
        call_command("check_setup", stdout=output)
    assert "! Clocks: That of b/0 is 60 s ahead" in output.getvalue()


# ---- the page


def held_by(owner: str) -> WorkItem:
    item = made.open_work(made.executing(), WorkKind.ATTEMPT)
    assert claim.claim(item.pk)
    WorkItem.objects.filter(pk=item.pk).update(lease_owner=owner)
    item.refresh_from_db()
    return item


@pytest.mark.usefixtures("root")
def test_it_shows_processes_with_what_they_do(client: Client) -> None:
    mine, gone = held_by(process().owner), held_by("c/1")
    silent = process(owner="b/silent", seen_at=timezone.now() - timedelta(minutes=2))
    page = client.get("/status/").text
    assert page.index("b/0") < page.index(f"/runs/{mine.run_id}/") < page.index(silent.owner)
    assert page.index("process that has gone") < page.index(f"/runs/{gone.run_id}/")


@pytest.mark.usefixtures("root")
def test_it_says_which_models_gave_no_answer(client: Client) -> None:
    run = made.step_error()
    call = run.model_calls.exclude(error="").latest("pk")
    page = client.get("/status/").text
    assert f"<strong>{call.model}</strong> as executor" in page
    assert "8 of the latest calls gave no answer" in page


@pytest.mark.usefixtures("root")
def test_work_that_waits_is_tried_at_once(client: Client) -> None:
    item = made.open_work(made.planning(), WorkKind.PLAN)
    WorkItem.objects.filter(pk=item.pk).update(due_at=timezone.now() + timedelta(hours=1))
    said = client.post("/status/", {"verb": "retry", "of": item.pk}, follow=True).text
    assert "It is tried again within a second." in said
    item.refresh_from_db()
    assert item.due_at <= timezone.now()
    event = Event.objects.filter(run=item.run_id, kind=EventKind.NOTE).get()
    assert event.data["text"] == "root had the work tried again at once."
    assert "has changed in the meantime" in client.post("/status/", {"verb": "retry", "of": item.pk}, follow=True).text


@pytest.mark.usefixtures("root")
def test_work_of_a_silent_process_is_taken_over_and_that_one_commits_nothing_more(client: Client) -> None:
    item = made.open_work(made.executing(), WorkKind.ATTEMPT)
    lease = claim.claim(item.pk)
    assert lease
    assert claim.claim(item.pk) is None
    client.post("/status/", {"verb": "release", "of": item.pk})
    other = claim.claim(item.pk)
    assert other
    assert other.epoch == lease.epoch + 1
    with pytest.raises(LeaseLost):
        claim.commit(lease, claim.finish)
    item.refresh_from_db()
    assert item.status == WorkStatus.LEASED


@pytest.mark.usefixtures("root")
def test_a_process_is_drained_and_resumed(client: Client) -> None:
    row = process()
    for verb, drains in (("drain", True), ("resume", False)):
        client.post("/status/", {"verb": verb, "of": row.pk})
        row.refresh_from_db()
        assert row.draining == drains
        assert "has changed in the meantime" in client.post("/status/", {"verb": verb, "of": row.pk}, follow=True).text


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"verb": "drain"},
        {"verb": "reboot", "of": "1"},
        {"verb": "drain", "of": "x"},
        {"verb": "retry", "of": "9" * 30},
    ],
)
def test_what_is_no_button_of_the_page_is_refused_in_words(client: Client, sent: dict[str, str]) -> None:
    answer = client.post("/status/", sent)
    assert (answer.status_code, "Not done." in answer.text) == (422, True)


@pytest.mark.slow
@pytest.mark.usefixtures("root")
def test_it_asks_as_often_with_much_as_with_little(client: Client) -> None:
    counts = []
    for _ in range(2):
        held_by(process().owner)
        made.step_error()
        client.get("/status/")
        with CaptureQueriesContext(connection) as captured:
            client.get("/status/")
        counts.append(len(captured))
    assert counts[0] == counts[1]


LISTED = Finding("Commands", "Models may run list (true), in a sandbox without a network.")
UNSEEN = Finding(
    "Commands",
    "“tests” cannot be run. The program “/srv/tests” is not installed on this machine; its administrator can do that.",
    is_wrong=True,
)
NO_SANDBOX = Finding(
    "Commands",
    "bubblewrap (bwrap) is not there. PEV_COMMANDS names some, and none of them is run.",
    is_wrong=True,
)


@pytest.mark.parametrize(
    ("problem", "named", "expected"),
    [
        ("", {"list": "true", "tests": "/srv/tests"}, [LISTED, UNSEEN]),
        ("", {"tests": "/srv/tests"}, [UNSEEN]),
        ("bubblewrap (bwrap) is not there.", {"list": "true"}, [NO_SANDBOX]),
    ],
)
def test_commands_that_are_named_are_said_with_whether_they_can_be_run(
    settings: Any, monkeypatch: pytest.MonkeyPatch, problem: str, named: dict[str, str], expected: list[Finding]
) -> None:
    assert [one for one in found.findings() if one.about == "Commands"] == []
    settings.COMMANDS = {name: (program,) for name, program in named.items()}
    monkeypatch.setattr(sandbox, "problem", lambda: problem)
    assert [one for one in found.findings() if one.about == "Commands"] == expected


def test_the_mcp_server_is_named_where_it_is_on(alice: User, bob: User, settings: Settings) -> None:
    assert [one for one in found.findings() if one.about == "MCP server"] == []
    settings.MCP_SERVER = True
    made.access_token(alice)
    made.access_token(bob)
    accounts.deactivate(bob)
    assert [one for one in found.findings() if one.about == "MCP server"] == [
        Finding("MCP server", "Programs of people are answered at /mcp. Access tokens that work: 1.")
    ]


def test_the_rest_api_is_named_with_what_its_tokens_may_do(alice: User, bob: User, settings: Settings) -> None:
    def said() -> list[Finding]:
        return [one for one in found.findings() if one.about == "REST API"]

    settings.API_RATE = 1_200
    words = "Programs of people are answered at /api/v1/, with at most 1,200 requests of a token in a minute."
    access_tokens.issue(alice, "reads", 30)
    assert said() == [Finding("REST API", f"{words} Access tokens that work: 1.")]
    settings.API_DECIDES = True
    access_tokens.issue(bob, "decides", 30, [TokenScope.GATES_DECIDE])
    decides = "PEV_API_DECIDES is on: 1 token may decide in the name of a person."
    assert said() == [Finding("REST API", f"{words} Access tokens that work: 2. {decides}")]
    settings.API = False
    assert said() == []
