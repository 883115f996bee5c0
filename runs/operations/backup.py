"""Making a back-up while the installation works, and putting it back into an empty one."""

import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.base import File
from django.db import connection

from pevsite.installation import KEY_FILE, has_key, version
from runs.engine.process_registry import BACKUP, HeldLock
from runs.errors import InvalidInput
from runs.models import LeaderLock, Link
from runs.operations import database_snapshot
from runs.operations.backup_archive import Archive, Manifest, Signer, Writer
from runs.operations.backup_contents import named
from runs.store import blobs

_TRIES = 3
"""Files that were being deleted when it began may be gone when they are copied: then it begins again."""


class FilesWent(Exception):
    """A file that the snapshot names was deleted before it was copied, and rightly: nothing names it any more."""


def back_up(target: Path, warn: Callable[[str], object]) -> Manifest:
    """Write a back-up to `target`, which must not exist: whole, for this user alone, or not at all.

    Nothing waits for it but the deleting of files that no run has any more. `warn` is told of files that the store
    has lost or that are damaged, and where there is no key to sign with. Raises InvalidInput with what to do, and
    OSError where it cannot be written.
    """
    if target.exists():
        raise InvalidInput(f"{target} exists already. Name another file; a back-up replaces nothing.")
    turn = HeldLock(BACKUP)
    if not turn.is_mine():
        raise InvalidInput("Another back-up is being made. Wait for it; if it was stopped hard, for a minute.")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
            draft = Path(folder, "draft")
            manifest = _written(draft, turn, warn)
            draft.rename(target)
        return manifest
    finally:
        turn.give_up()


def _written(draft: Path, turn: HeldLock, warn: Callable[[str], object]) -> Manifest:
    if not (signed := settings.HAS_OWN_KEY or has_key(settings.DATA_DIR)):
        warn(
            f"The back-up is not signed: there is no {KEY_FILE} in {settings.DATA_DIR}, and no PEV_SECRET_KEY. Make it "
            "with the key of the installation, so that it can be told later whether somebody has changed it."
        )
    for left in reversed(range(_TRIES)):
        try:
            with draft.open("wb") as file:
                os.fchmod(file.fileno(), 0o600)
                manifest = _write(Writer(file, signed=signed), draft.with_name("database"), turn, warn)
                file.flush()
                os.fsync(file.fileno())
            return manifest
        except FilesWent:
            if not left:
                raise InvalidInput("Files were deleted again and again while they were copied. Try again.") from None
    raise AssertionError("the last try returns or raises")


def _write(writer: Writer, database: Path, turn: HeldLock, warn: Callable[[str], object]) -> Manifest:
    database.unlink(missing_ok=True)
    seen, missing = set[str](), dict[str, str]()
    with database_snapshot.taken(database) as alias:
        for one in named(alias):
            if one.sha256 not in seen:
                seen.add(one.sha256)
                turn.is_mine()  # it has to be said again and again, and this takes long
                try:
                    if not writer.add_content(one.sha256, blobs.pieces_of(one.sha256)):
                        warn(f"Content {one.sha256[:12]} is damaged in the store: {one.by}. It is not in the back-up.")
                except FileNotFoundError:
                    missing[one.sha256] = one.by
        applied = database_snapshot.migrations(alias)
    if missing and not missing.keys() <= {one.sha256 for one in named()}:
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
        "The back-up is signed with another key than the one here, so it cannot be known whether somebody has "
        "changed it. Put {key} of the installation that made it into {folder} (or its PEV_SECRET_KEY into the "
        "environment), and do this again. "
    ),
}


def restore(source: Path, *, unsigned: bool = False) -> tuple[Manifest, Signer]:
    """Fill this empty installation with a back-up that is undamaged and signed with this installation's key. With
    `unsigned`, any signature or none is accepted. The database comes last: until then the installation is still empty,
    and a restore that was interrupted can be done again.

    Raises InvalidInput with what to do.
    """
    if database_snapshot.migrations():
        raise InvalidInput("There is an installation here already. Restore into an empty data folder and database.")
    with Archive(source) as archive:
        manifest, signer = archive.check()
        if signer in _UNKNOWN_SIGNERS and not unsigned:
            why = _UNKNOWN_SIGNERS[signer].format(key=KEY_FILE, folder=settings.DATA_DIR)
            raise InvalidInput(
                f"{why}Whoever can change a back-up can make themselves administrator: add --unsigned only if you know "
                "where this one has been since it was made."
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
            database_snapshot.put_back(database)
    # Locks, sessions and links belong to the installation that the back-up was made of. A foreign database has none.
    tables = connection.introspection.table_names()
    for model in (LeaderLock, Session, Link):
        if model._meta.db_table in tables:
            model._base_manager.all().delete()
    return manifest, signer
