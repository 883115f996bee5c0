"""Makes a back-up while the installation works, and restores it into an empty installation."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.base import File
from django.db import connection, connections, transaction
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import QuerySet

from pevsite.installation import KEY_FILE, has_key, version
from runs.contracts.ports import Changes
from runs.engine.process_registry import BACKUP, HeldLock
from runs.errors import InvalidInput
from runs.models import Attempt, DraftFile, LeaderLock, Link, Rendition, Run, Template, ToolCall, Tree
from runs.operations.backup_archive import Archive, ArchiveWriter, Manifest, Signer
from runs.store import blobs

type Rows = QuerySet[Any, tuple[int, Changes]]
_AT_ONCE = 500
"""Rows in memory at the same time. A tree may list ten thousand files."""


@dataclass(frozen=True)
class NamedContent:
    """A content that must be in the store. `size` in bytes; None if the row does not say it."""

    sha256: str
    size: int | None
    by: str


def named_contents(using: str = "default") -> Iterator[NamedContent]:
    """All contents that the database with this alias names, as often as they are named; those of runs come first."""
    yield from _contents_of_rows("tree", Tree.objects.using(using).order_by("id").values_list("id", "changes"))
    yield from _contents_of_rows("attempt", Attempt.objects.using(using).order_by("id").values_list("id", "overlay"))
    yield from _contents_of_rows("tool call", ToolCall.objects.using(using).order_by("id").values_list("id", "writes"))
    for owners in (Run.objects.using(using), Template.objects.using(using)):
        own = owners.filter(letterhead__isnull=False).order_by("id")
        for number, letterhead in own.values_list("id", "letterhead").iterator():
            if letterhead and letterhead.logo:
                yield NamedContent(letterhead.logo, None, f"the logo of {own.model._meta.model_name} {number}")
    drafted = DraftFile.objects.using(using).order_by("id").values_list("draft_id", "path", "sha256", "size")
    for draft, path, sha256, size in drafted.iterator(_AT_ONCE):
        yield NamedContent(sha256, size, f"“{path}” of draft {draft}")
    for source, text, layout in (
        Rendition.objects.using(using).order_by("id").values_list("source", "text", "layout").iterator()
    ):
        yield from (NamedContent(sha256, None, f"what {source[:12]} reads as") for sha256 in (text, layout) if sha256)


def _contents_of_rows(kind: str, rows: Rows) -> Iterator[NamedContent]:
    for number, changes in rows.iterator(_AT_ONCE):
        for path, info in changes.items():
            if info:
                yield NamedContent(info.sha256, info.size, f"“{path}” of {kind} {number}")


ALIAS = "snapshot"
"""The alias in Django of the copied SQLite database while it is read."""


def migrations(using: str = "default") -> list[str]:
    """The migrations of `runs` that were applied, the oldest first; empty for a database without tables."""
    applied = MigrationRecorder(connections[using]).applied_migrations()
    return sorted(name for app, name in applied if app == "runs")


@contextmanager
def database_copy(into: Path) -> Iterator[str]:
    """Write the database to the file `into`. In the block, Django reads the same state of the database by this alias.

    Raises InvalidInput, with what to do, if it cannot be copied or if PostgreSQL's program is missing.
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
    """Load this file into the empty database. Raises InvalidInput like `snapshot`, and then it is still empty."""
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
    """Run a PostgreSQL program on the database of the installation."""
    # The password is passed in the environment, because other users can see arguments.
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


_TRIES = 3
"""How often a back-up begins again because a file was deleted between the snapshot and its copy."""


class FilesWent(Exception):
    """A file that the snapshot names was deleted before it was copied, because nothing names it any more."""


def back_up(target: Path, warn: Callable[[str], object]) -> Manifest:
    """Write a back-up to `target`, which must not exist: whole, for this user alone, or not at all.

    Meanwhile everything works, only unused files are not deleted. `warn` is called for each file that is missing or
    damaged in the store, and if there is no key to sign with. Raises InvalidInput with what to do, and OSError if it
    cannot be written.
    """
    if target.exists():
        raise InvalidInput(f"{target} exists already. Name another file; a back-up replaces nothing.")
    turn = HeldLock(BACKUP)
    if not turn.is_mine():
        raise InvalidInput("Another back-up is being made. Wait for it; if it was stopped hard, for a minute.")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            draft = Path(folder, "draft")
            manifest = _write_draft(draft, turn, warn)
            draft.rename(target)
        return manifest
    finally:
        turn.give_up()


def _write_draft(draft: Path, turn: HeldLock, warn: Callable[[str], object]) -> Manifest:
    if not (signed := settings.HAS_OWN_KEY or has_key(settings.DATA_DIR)):
        warn(
            f"The back-up is not signed: there is no {KEY_FILE} in {settings.DATA_DIR}, and no PEV_SECRET_KEY. Make it "
            "with the key of the installation, so that it can be told later whether someone has changed it."
        )
    for left in reversed(range(_TRIES)):
        try:
            with draft.open("wb") as file:
                os.fchmod(file.fileno(), 0o600)
                manifest = _write(ArchiveWriter(file, signed=signed), draft.with_name("database"), turn, warn)
                file.flush()
                os.fsync(file.fileno())
            return manifest
        except FilesWent:
            if not left:
                raise InvalidInput("Files were deleted again and again while they were copied. Try again.") from None
    raise AssertionError("the last try returns or raises")


def _write(writer: ArchiveWriter, database: Path, turn: HeldLock, warn: Callable[[str], object]) -> Manifest:
    database.unlink(missing_ok=True)
    seen, missing = set[str](), dict[str, str]()
    with database_copy(database) as alias:
        for one in named_contents(alias):
            if one.sha256 not in seen:
                seen.add(one.sha256)
                turn.is_mine()  # extends the lock, which would expire while thousands of files are copied
                try:
                    if not writer.add_content(one.sha256, blobs.pieces_of(one.sha256)):
                        warn(f"Content {one.sha256[:12]} is damaged in the store: {one.by}. It is not in the back-up.")
                except FileNotFoundError:
                    missing[one.sha256] = one.by
        applied = migrations(alias)
    if missing and not missing.keys() <= {one.sha256 for one in named_contents()}:
        raise FilesWent
    for sha256, by in missing.items():
        warn(f"Content {sha256[:12]} is missing in the store: {by}. It is not in the back-up.")
    digest = writer.add_database(database)

    def describe(count: int, over: str) -> Manifest:
        return Manifest(
            version=version(),
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            database="postgresql" if connection.vendor == "postgresql" else "sqlite",
            database_sha256=digest,
            migrations=applied,
            contents=count,
            digest=over,
        )

    return writer.finish(describe)


_UNKNOWN_SIGNERS = {
    Signer.NOBODY: "The back-up is not signed: an older version made it, or its signature was taken away. ",
    Signer.OTHER: (
        "The back-up is signed with another key than the one here, so it cannot be known whether someone has "
        "changed it. Put {key} of the installation that made it into {folder} (or its PEV_SECRET_KEY into the "
        "environment), and do this again. "
    ),
}


def restore(source: Path, *, unsigned: bool = False) -> tuple[Manifest, Signer]:
    """Fill this empty installation with a back-up that is undamaged and signed with this installation's key.

    With `unsigned`, any signature or none is accepted. Raises InvalidInput with what to do.
    """
    # The database comes last: until then the installation is still empty, and an interrupted restore can be repeated.
    if migrations():
        raise InvalidInput("There is an installation here already. Restore into an empty data folder and database.")
    with Archive(source) as archive:
        manifest, signer = archive.check()
        if signer in _UNKNOWN_SIGNERS and not unsigned:
            why = _UNKNOWN_SIGNERS[signer].format(key=KEY_FILE, folder=settings.DATA_DIR)
            raise InvalidInput(
                f"{why}Anyone who can change a back-up can make themselves administrator: add --unsigned only if you "
                "know where this one has been since it was made."
            )
        if manifest.database != connection.vendor:
            names = {"sqlite": "SQLite (without PEV_DATABASE_URL)", "postgresql": "PostgreSQL (PEV_DATABASE_URL)"}
            raise InvalidInput(f"The back-up is of {names[manifest.database]}; restore it there.")
        if newer := [name for name in manifest.migrations if not find_spec(f"runs.migrations.{name}")]:
            raise InvalidInput(
                f"The back-up was made by a newer version of pevsite ({manifest.version}, {newer[-1]}). Restore it "
                "with that version."
            )
        for sha256, file in archive.contents():
            blobs.store().save(blobs.name_of(sha256), File(file))
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder, "database")
            archive.database(database, manifest.database_sha256)
            put_back(database)
    # Locks, sessions and links belong to the installation that the back-up was made of. A foreign database has none.
    tables = connection.introspection.table_names()
    for model in (LeaderLock, Session, Link):
        if model._meta.db_table in tables:
            model._base_manager.all().delete()
    return manifest, signer
