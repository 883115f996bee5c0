"""Owns the two statements that the journal repeats a dozen times for each step: built once, then only filled in.

Django takes ten times longer to build a statement than SQLite to run it. Everything else goes through the ORM.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model

type _Fields = tuple[Field[Any, Any], ...]


def insert[Row: Model](model: type[Row], /, **values: Any) -> Row:
    """Store a new row, as `objects.create` does but without signals."""
    sql, fields = _insert(model)
    row, database = model(**values), _database()
    row.pk = _one(sql, [field.get_db_prep_save(field.pre_save(row, True), database) for field in fields])
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return row


@cache
def _insert(model: type[Model]) -> tuple[str, _Fields]:
    fields = tuple(field for field in model._meta.concrete_fields if not field.primary_key)
    columns = ", ".join(_column(field) for field in fields)
    marks = ", ".join("%s" for _ in fields)
    return f"INSERT INTO {_table(model)} ({columns}) VALUES ({marks}) RETURNING {_key(model)}", fields  # noqa: S608


def next_number(model: type[Model], pk: int, name: str) -> int:
    """Add one to a field, and say what it is now."""
    column = _column(_field(model, name))
    sql = f"UPDATE {_table(model)} SET {column} = {column} + 1 WHERE {_key(model)} = %s RETURNING {column}"  # noqa: S608
    return _one(sql, [pk])


def _one(sql: str, params: list[Any]) -> int:
    with _database().cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.fetchone()[0])


def _database() -> Any:
    return connections[DEFAULT_DB_ALIAS]


def _field(model: type[Model], name: str) -> Any:
    return model._meta.get_field(name)


def _table(model: type[Model]) -> str:
    return str(_database().ops.quote_name(model._meta.db_table))


def _key(model: type[Model]) -> str:
    return _column(model._meta.pk)


def _column(field: Any) -> str:
    return str(_database().ops.quote_name(field.column))
