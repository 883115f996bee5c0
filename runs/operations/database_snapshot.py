"""The database of a moment as one file, while others write, and back: SQLite's own copy, or pg_dump and pg_restore."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.db import connection, connections, transaction
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.recorder import MigrationRecorder

from runs.errors import InvalidInput

ALIAS = "snapshot"
"""What Django calls the copy of SQLite's database while it is read."""


def migrations(using: str = "default") -> list[str]:
    """Those of ours that made the tables, oldest first; empty for a database without tables."""
    applied = MigrationRecorder(connections[using]).applied_migrations()
    return sorted(name for app, name in applied if app == "runs")


@contextmanager
def taken(into: Path) -> Iterator[str]:
    """Write the database to the file `into`; in the block, what Django reads with this alias is the same moment.

    Raises InvalidInput, with what to do, where it cannot be copied, or PostgreSQL's program is missing.
    """
    if connection.vendor == "sqlite":
        try:
            with closing(sqlite3.connect(into)) as copy, closing(sqlite3.connect(_file())) as source:
                source.backup(copy)
        except sqlite3.Error as error:
            raise InvalidInput(f"The database could not be copied ({error}). Nothing was changed.") from error
        connections.databases[ALIAS] = {**connections.databases["default"], "NAME": into}
        try:
            yield ALIAS
        finally:
            connections[ALIAS].close()
            del connections[ALIAS], connections.databases[ALIAS]
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # it waits for pg_dump, and for files
        cursor.execute("SELECT pg_export_snapshot()")
        [snapshot] = cursor.fetchone()
        _run("pg_dump", ["--format=custom", f"--snapshot={snapshot}", f"--file={into}"])
        yield "default"


def put_back(file: Path) -> None:
    """Make the empty database what this file holds. Raises InvalidInput likewise; then it is as empty as before."""
    if connection.vendor == "postgresql":
        _run("pg_restore", ["--single-transaction", "--no-owner", "--no-privileges", "--exit-on-error"], [str(file)])
        return
    connection.close()
    try:
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(_file())) as database:
            source.backup(database)  # in one transaction, and in the place of whatever empty file is there
    except sqlite3.DatabaseError as error:
        raise InvalidInput(f"The database in the back-up cannot be restored: {error}.") from error


def _file() -> Path:
    return Path(connection.settings_dict["NAME"])


def _run(program: str, options: Sequence[str], files: Sequence[str] = ()) -> None:
    """Let a program of PostgreSQL work on our database."""
    # passwords go through its environment, which other users cannot see
    if shutil.which(program) is None:
        raise InvalidInput(
            f"{program} is not installed here. Install PostgreSQL's client programs, of the server's version or newer; "
            "or follow “Back-up and restore” of docs/operating.md by hand."
        )
    [_, *where, name], secrets = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    environ: dict[str, Any] = {**os.environ, **(secrets or {})}
    command = [program, *where, "--no-password", f"--dbname={name}", *options, *files]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)  # noqa: S603  no part is from people
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise InvalidInput(f"{program} could not finish: {said[0]}. Nothing was changed.")
