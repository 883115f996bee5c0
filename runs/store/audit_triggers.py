"""The triggers that make the audit trail append-only, on SQLite and PostgreSQL.

A migration makes them. Another migration that changes the table on SQLite rebuilds it, and must make them again.
"""

from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "runs_auditentry"
REFUSAL = "The audit trail is append-only."

_SQLITE: Mapping[str, str] = {
    "audit_no_update": f"BEFORE UPDATE ON {TABLE} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    "audit_no_delete": f"BEFORE DELETE ON {TABLE} BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
    # INSERT OR REPLACE deletes the row that is in its way without asking the trigger above.
    "audit_only_append": f"BEFORE INSERT ON {TABLE} "  # noqa: S608  no part is from people
    f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE number >= NEW.number) "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END",
}
_FUNCTION = "runs_audit_refuse"
_BODY = f"BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'integrity_constraint_violation'; END"
_POSTGRESQL: Mapping[str, str] = {
    "audit_no_update": "UPDATE",
    "audit_no_delete": "DELETE",
    "audit_no_truncate": "TRUNCATE",
}


def make(connection: BaseDatabaseWrapper) -> None:
    """Make the triggers where there are none."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name, body in _SQLITE.items():
                cursor.execute(f"CREATE TRIGGER IF NOT EXISTS {name} {body}")
            return
        cursor.execute(f"CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$")
        for name, verb in _POSTGRESQL.items():
            cursor.execute(
                f"CREATE OR REPLACE TRIGGER {name} BEFORE {verb} ON {TABLE} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION {_FUNCTION}()"
            )
            # A superuser's session that replays a replication log fires no other triggers.
            cursor.execute(f"ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER {name}")


def drop(connection: BaseDatabaseWrapper) -> None:
    """Remove the triggers, for a migration backwards and for tests that empty all tables."""
    with connection.cursor() as cursor:
        for name in _SQLITE if connection.vendor == "sqlite" else _POSTGRESQL:
            on = "" if connection.vendor == "sqlite" else f" ON {TABLE}"
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """The names of the triggers that are not there, do not fire, or do something else."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [TABLE])
            there = dict(cursor.fetchall())
            return [name for name, body in _SQLITE.items() if there.get(name) != f"CREATE TRIGGER {name} {body}"]
        cursor.execute(
            "SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled, p.prosrc FROM pg_trigger t JOIN pg_proc p "
            "ON p.oid = t.tgfoid WHERE t.tgrelid = to_regclass(%s) AND NOT t.tgisinternal",
            [TABLE],
        )
        found: dict[str, tuple[Any, ...]] = {name: rest for name, *rest in cursor.fetchall()}
    return [name for name, verb in _POSTGRESQL.items() if not _fires(found.get(name), verb)]


def _fires(row: Any, verb: str) -> bool:
    if row is None:
        return False
    definition, enabled, body = row
    return f" BEFORE {verb} ON " in definition and enabled in {"A", b"A"} and body == _BODY
