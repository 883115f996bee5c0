"""A database that cannot be used is one sentence for whoever starts a command, and no traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.files import locks
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as Migrate
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests import databases
from tests.installation import ROOT, environ

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.services]


def refused(data: Path, address: str, *arguments: str) -> str:
    """The line that a command ends with."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environ(data, PEV_DATABASE_URL=address),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    return line


_EACH = """
import sys
import django
from django.core.files import locks
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as Migrate
django.setup()
for arguments in sys.argv[1:]:
    try:
        call_command(*arguments.split("|"))
    except CommandError as error:
        print("CommandError:", error)
"""
"""A process for several commands: starting one for each takes longer than everything else."""


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_database_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    address = "postgres://alice:secret@127.0.0.1:9/pev"
    command = [sys.executable, "-c", _EACH, "migrate", "people|list", "run|Do it"]
    known = environ(tmp_path, PEV_DATABASE_URL=address)
    done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=True)
    lines = [*done.stdout.splitlines(), refused(tmp_path, address, "serve", "--port", "0")]
    assert len(lines) == 4
    for said in lines:
        assert said.startswith("CommandError: The database “pev” on 127.0.0.1 cannot be used: connection failed")
        assert said.endswith("Connection refused. Start it, or correct PEV_DATABASE_URL.")
        assert "secret" not in said


@pytest.mark.slow
def test_an_address_of_something_else_is_one_sentence(tmp_path: Path) -> None:
    said = refused(tmp_path, "mysql://alice:secret@127.0.0.1/pev", "people", "list")
    assert said.startswith("PEV_DATABASE_URL cannot be used: it must be an address such as postgres://")


@pytest.mark.django_db(transaction=True)
def test_tables_of_a_newer_version_are_left_alone() -> None:
    newer = MigrationRecorder(connection), "runs", "9999_of_tomorrow"
    MigrationRecorder.record_applied(*newer)
    try:
        with pytest.raises(CommandError, match=r"was used by a newer version of pevsite.*9999_of_tomorrow"):
            call_command("migrate", verbosity=0)
    finally:
        MigrationRecorder.record_unapplied(*newer)


@pytest.mark.needs("PostgreSQL")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("ENCODING 'latin1' LOCALE 'C'", "keeps LATIN1 and sorts by code"),
        ("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'", "keeps UTF8 and sorts by language"),
    ],
)
def test_a_database_that_would_sort_otherwise_is_refused(tmp_path: Path, options: str, said: str) -> None:
    databases.make(tmp_path, options)
    assert said in refused(tmp_path, databases.address_of(tmp_path), "migrate")


@pytest.fixture
def sqlite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database of the tests goes for this file."""
    path = tmp_path / "pevsite.sqlite3"
    monkeypatch.setattr(connection, "is_in_memory_db", lambda: False)
    monkeypatch.setitem(connection.settings_dict, "NAME", str(path))
    return path


def can_be_locked(path: Path) -> bool:
    with path.open("wb") as file:
        return locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has locks of its own for it")
def test_on_sqlite_the_process_that_migrates_has_a_lock(sqlite_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meanwhile = []
    lock = Path(f"{sqlite_file}-migrating")
    monkeypatch.setattr(Migrate, "handle", lambda *args, **options: meanwhile.append(can_be_locked(lock)))
    call_command("migrate", verbosity=0)
    assert (meanwhile, can_be_locked(lock)) == ([False], True)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has locks of its own for it")
def test_a_lock_that_cannot_be_had_is_one_sentence(sqlite_file: Path) -> None:
    Path(f"{sqlite_file}-migrating").mkdir()
    with pytest.raises(CommandError, match=r"The database cannot be used: .*Is a directory.*-migrating'\."):
        call_command("migrate", verbosity=0)


@pytest.mark.needs("PostgreSQL")
def test_processes_that_start_at_once_migrate_one_after_the_other(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    environment = environ(tmp_path)
    assert urlsplit(environment["PEV_DATABASE_URL"]).path != urlsplit(databases.GIVEN).path
    started = [subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) for _ in "ab"]
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0), ("", 0)]
