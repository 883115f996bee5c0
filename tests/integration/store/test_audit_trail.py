"""The audit trail: lines are only added, follow each other without gaps, and what was changed is found and named."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.core.management.commands.flush import Command as Flush
from django.db import IntegrityError, connection, transaction
from pydantic import ValidationError

from runs.enums import AuditChannel, AuditKind
from runs.models import AuditEntry, AuditHead, User
from runs.store import audit_trail, audit_triggers, event_log
from runs.store.audit_trail import AuditCheck, Origin, coming_from
from tests.installation import ROOT, Installation, environ

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def problems() -> list[str]:
    return list(audit_trail.problems(AuditCheck()))


def three_lines() -> None:
    for name in ("one", "two", "three"):
        audit_trail.record(AuditKind.RENAMED, run_id=7, subject=name)


@contextmanager
def without_triggers() -> Iterator[None]:
    audit_triggers.drop(connection)
    yield
    audit_triggers.make(connection)


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_a_line_says_who_when_from_where_and_through_what(alice: User) -> None:
    origin = Origin(AuditChannel.PAGE, "203.0.113.7", lambda: "Firefox on Linux", lambda: alice)
    with coming_from(origin):
        audit_trail.record(
            AuditKind.DECIDED, run_id=7, subject="the plan", digest="d" * 64, gate=3, decision="approved"
        )
    audit_trail.record(AuditKind.RUN_DELETED, run_id=7)
    first, second = AuditEntry.objects.values(
        *("number", "kind", "by_id", "by", "address", "channel", "through"),
        *("run_number", "subject", "digest", "details"),
    )
    assert first == {
        "number": 1,
        "kind": "gate_decided",
        "by_id": alice.pk,
        "by": "alice",
        "address": "203.0.113.7",
        "channel": "page",
        "through": "Firefox on Linux",
        "run_number": 7,
        "subject": "the plan",
        "digest": "d" * 64,
        "details": {"gate": 3, "decision": "approved"},
    }
    assert (second["number"], second["by_id"], second["by"], second["channel"]) == (2, None, "", "system")


def test_details_without_a_contract_are_refused() -> None:
    with pytest.raises(ValidationError):
        audit_trail.record(AuditKind.RENAMED, password="secret")
    assert not AuditEntry.objects.exists()


def test_a_text_of_strangers_is_stored_in_printable_form_and_cut() -> None:
    with coming_from(Origin(AuditChannel.PAGE, "::1", lambda: "\0\ud800\x1b[2J" + "x" * 500)):
        audit_trail.record(AuditKind.RENAMED, subject="\0" * 300)
    line = AuditEntry.objects.get()
    assert (line.through.startswith("\\u0000\\ud800\\u001b[2J"), len(line.through), len(line.subject)) == (
        True,
        200,
        200,
    )
    assert problems() == []


def test_a_line_of_an_undone_transaction_is_undone() -> None:
    def fail(transacted: AbstractContextManager[object]) -> None:
        with transacted:
            audit_trail.record(AuditKind.RENAMED, run_id=7)
            raise RuntimeError

    for transacted in (event_log.writing(), transaction.atomic()):
        with pytest.raises(RuntimeError):
            fail(transacted)
    assert not AuditEntry.objects.exists()
    three_lines()
    assert problems() == []


REFUSED = {
    "an update": "UPDATE runs_auditentry SET subject = 'other' WHERE number = 2",
    "a deletion": "DELETE FROM runs_auditentry WHERE number = 2",
    "the deletion of the last line": "DELETE FROM runs_auditentry WHERE number = 3",
    "the deletion of all": "DELETE FROM runs_auditentry",
}
COLUMNS = "number, at, kind, by, address, channel, through, subject, digest, details, previous, hash"
COPY = COLUMNS.replace("subject", "'other'")
REFUSED_BY = {
    "sqlite": {
        "a replacement": f"INSERT OR REPLACE INTO runs_auditentry ({COLUMNS}) SELECT {COPY} FROM runs_auditentry "
        "WHERE number = 2"
    },
    "postgresql": {
        "emptying": "TRUNCATE runs_auditentry",
        "a replacement": f"INSERT INTO runs_auditentry ({COLUMNS.replace('by', chr(34) + 'by' + chr(34))}) "
        f"SELECT {COPY} FROM runs_auditentry WHERE number = 2 "
        "ON CONFLICT (number) DO UPDATE SET subject = 'other'",
    },
}


def test_the_database_refuses_to_change_lines() -> None:
    three_lines()
    before = list(AuditEntry.objects.values())
    for sql in [*REFUSED.values(), *REFUSED_BY[connection.vendor].values()]:
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            execute(sql)
    for change in (AuditEntry.objects.all().delete, lambda: AuditEntry.objects.update(kind="x")):
        with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
            change()
    assert list(AuditEntry.objects.values()) == before
    assert problems() == []


BROKEN: dict[str, tuple[str, list[str]]] = {
    "a changed line": (
        "UPDATE runs_auditentry SET subject = 'other' WHERE number = 2",
        ["Line 2 of the audit trail does not match its hash: it was changed."],
    ),
    "a changed time": (
        "UPDATE runs_auditentry SET at = '2020-01-01 00:00:00+00:00' WHERE number = 3",
        ["Line 3 of the audit trail does not match its hash: it was changed."],
    ),
    "a line that was changed with its hash": (
        "UPDATE runs_auditentry SET hash = 'x' WHERE number = 2",
        [
            "Line 2 of the audit trail does not match its hash: it was changed.",
            "Line 3 of the audit trail does not follow from line 2: one of them was replaced.",
        ],
    ),
    "a missing line": ("DELETE FROM runs_auditentry WHERE number = 2", ["Line 2 of the audit trail is missing."]),
    "the first lines missing": (
        "DELETE FROM runs_auditentry WHERE number < 3",
        ["Lines 1 to 2 of the audit trail are missing."],
    ),
    "the last lines missing": (
        "DELETE FROM runs_auditentry WHERE number > 1",
        ["The audit trail ends with line 1, and line 3 was written: the last lines are missing."],
    ),
    "all lines missing": (
        "DELETE FROM runs_auditentry",
        ["The audit trail ends with line 0, and line 3 was written: the last lines are missing."],
    ),
    "a forgotten head": (
        "DELETE FROM runs_audithead",
        ["The audit trail ends with line 3, which pevsite has not written like that."],
    ),
}


@pytest.mark.parametrize(("sql", "said"), BROKEN.values(), ids=BROKEN)
def test_what_was_changed_is_found_and_named(sql: str, said: list[str]) -> None:
    three_lines()
    with without_triggers():
        execute(sql)
    assert problems() == said


def test_a_whole_trail_is_counted_and_named_by_its_newest_hash() -> None:
    three_lines()
    seen = AuditCheck()
    assert list(audit_trail.problems(seen)) == []
    assert (seen.lines, seen.newest) == (3, AuditHead.objects.get().hash)


class WhileWriting(AuditCheck):
    """Another line is written when the check has seen the third one."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "newest" and self.lines == 3:
            audit_trail.record(AuditKind.RENAMED, subject="meanwhile")


def test_lines_that_are_written_during_the_check_are_no_problem() -> None:
    three_lines()
    assert list(audit_trail.problems(WhileWriting())) == []
    assert (AuditEntry.objects.count(), problems()) == (4, [])


def test_a_trail_that_was_written_again_lacks_the_hash_that_was_noted() -> None:
    three_lines()
    noted = AuditHead.objects.get().hash
    assert list(audit_trail.problems(AuditCheck(noted))) == []
    with without_triggers():
        AuditEntry.objects.all().delete()
        AuditHead.objects.all().delete()
    three_lines()
    assert problems() == []
    said = [f"No line of the audit trail has the hash {noted}: the trail was written again since."]
    assert list(audit_trail.problems(AuditCheck(noted))) == said


def test_missing_and_changed_triggers_are_found() -> None:
    assert audit_triggers.missing(connection) == []
    audit_triggers.drop(connection)
    assert len(problems()) == 3
    audit_triggers.make(connection)
    if connection.vendor == "sqlite":
        execute("DROP TRIGGER audit_no_update")
        execute("CREATE TRIGGER audit_no_update BEFORE UPDATE ON runs_auditentry BEGIN SELECT 1; END")
    else:
        execute("ALTER TABLE runs_auditentry DISABLE TRIGGER audit_no_update")
    said = (
        "The trigger audit_no_update of the audit trail is missing or was changed: lines could be changed or removed."
    )
    assert problems() == [said]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_writers_at_once_get_consecutive_numbers() -> None:
    rounds, barrier = 200, threading.Barrier(2)

    def write(transacted: Callable[[], object]) -> None:
        for _ in range(rounds):
            barrier.wait(60)
            transacted()
        connection.close()

    def plainly() -> None:
        audit_trail.record(AuditKind.RENAMED, subject="plain")

    def with_events() -> None:
        with event_log.writing():
            audit_trail.record(AuditKind.RENAMED, subject="with events")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, plainly), pool.submit(write, with_events)]:
            done.result(120)
    assert list(AuditEntry.objects.values_list("number", flat=True)) == list(range(1, 2 * rounds + 1))
    assert problems() == []


def test_the_flush_of_django_is_refused() -> None:
    """The tests have one of their own, which takes the triggers away for the moment."""
    three_lines()
    given = {"database": "default", "verbosity": 0, "interactive": False, "reset_sequences": False}
    with pytest.raises(CommandError, match="couldn't be flushed"), transaction.atomic():
        Flush().handle(**given, inhibit_post_migrate=True, allow_cascade=True)
    assert AuditEntry.objects.count() == 3


@pytest.mark.slow
def test_the_migrations_leave_the_triggers_in_place(installation: Installation, tmp_path: Path) -> None:
    """Also those that come later: on SQLite, a change of the table removes its triggers."""
    data = installation.copy(tmp_path)
    done = subprocess.run(
        [sys.executable, "manage.py", "verify"],
        cwd=ROOT,
        env=environ(data),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.endswith("Everything matches its hash.\n")
