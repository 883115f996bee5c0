"""`manage.py migrate`: Django's command, by one process at a time, after a check whether the database can be used.

Every command that needs tables calls it, so that a problem is the same sentence for all of them.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.files import locks
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as Migrate
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder

from pevsite.installation import PROGRAM
from runs.management.terminal import TerminalCommand

_ONE_AT_A_TIME = 7_306_001
"""The number of the advisory lock in PostgreSQL: any number, but always the same."""
_CREATE = "createdb --template template0 --encoding UTF8 --locale C.UTF-8 NAME"


class Command(TerminalCommand, Migrate):
    help = "Bring the database up to this version. `serve` and `worker` do so too."

    def handle(self, *args: Any, **options: Any) -> None:
        database = connections[options["database"]]
        with _migration_lock(database):
            _check_age(database)
            try:
                super().handle(*args, **options)
            except DatabaseError as error:
                raise CommandError(
                    f"The tables of this version could not be made: {_first_line(error)}. Nothing else was changed. "
                    f"Let {PROGRAM} migrate run as the owner of the database, with room on its disk."
                ) from error


@contextmanager
def _migration_lock(database: Any) -> Iterator[None]:
    """Let one process migrate at a time. The lock is freed when the process or its connection ends."""
    settings = database.settings_dict
    if database.vendor == "sqlite":
        if database.is_in_memory_db():
            yield
            return
        with ExitStack() as opened:
            try:
                # A file of its own, because closing the database's would free the locks that SQLite has on it.
                file = opened.enter_context(Path(f"{settings['NAME']}-migrating").open("wb"))
                locks.lock(file, locks.LOCK_EX)
            except OSError as error:
                raise CommandError(f"The database cannot be used: {_first_line(error)}.") from error
            yield
        return
    try:  # without the pool, which would try again for a while and hide the reason
        connected = database.Database.connect(**{**database.get_connection_params(), "autocommit": True})
    except database.Database.Error as error:
        raise CommandError(
            f"The database “{settings['NAME']}” on {settings['HOST'] or 'this machine'} cannot be used: "
            f"{_first_line(error)}. Start it, or correct PEV_DATABASE_URL."
        ) from error
    with connected:
        encoding, by_code = connected.execute("SELECT current_setting('server_encoding'), 'B' < 'a'").fetchone()
        if (encoding, by_code) != ("UTF8", True):
            order = "by code" if by_code else "by language"
            raise CommandError(
                f"The database “{settings['NAME']}” keeps {encoding} and sorts {order}; pevsite needs UTF8, sorted by "
                f"code as on SQLite. Make another one: {_CREATE}."
            )
        connected.execute("SELECT set_config('lock_timeout', '0', false), pg_advisory_lock(%s)", [_ONE_AT_A_TIME])
        yield


def _check_age(database: BaseDatabaseWrapper) -> None:
    """Raises CommandError if a newer version has made the tables, because this one may misread its values."""
    try:
        applied = MigrationRecorder(database).applied_migrations()
    except DatabaseError as error:
        raise CommandError(f"The database cannot be used: {_first_line(error)}.") from error
    if newer := sorted(name for app, name in applied if app == "runs" and not find_spec(f"runs.migrations.{name}")):
        raise CommandError(
            f"The database was used by a newer version of pevsite, which has changed its tables ({newer[-1]}). Start "
            "that version, or restore an earlier back-up."
        )


def _first_line(error: Exception) -> str:
    """The first line of an error of the driver. The others are hints for programmers."""
    return str(error).partition("\n")[0].strip().rstrip(".")
