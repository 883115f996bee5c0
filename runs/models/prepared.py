"""Owns the statements that run several times for each step: built once, then only filled in.

Django takes ten times longer to build a statement than SQLite to run it. Everything else goes through the ORM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model, QuerySet

_STAND_IN = 7_700_000_000
"""Stands for the first value while a query is built, the next number for the second."""

type _Fields = tuple[Field[Any, Any], ...]


@dataclass(frozen=True)
class _Built:
    """`slots`: for each parameter of the SQL the index of the value that it takes, or what is always there."""

    queryset: QuerySet[Any, Any]
    compiler: Any
    sql: str
    slots: tuple[int | tuple[Any], ...]
    converters: Any


class Select[Row]:
    """A query of whole numbers and texts. `build` makes it from such values, once for each number of them."""

    def __init__(self, build: Callable[..., QuerySet[Any, Row]]) -> None:
        self._build = build
        self._built: dict[int, _Built] = {}

    def rows(self, *values: int | str) -> list[Row]:
        """What the query gives for these values."""
        built = self._built.get(len(values)) or self._built_for(len(values))
        params = tuple(values[slot] if isinstance(slot, int) else slot[0] for slot in built.slots)
        compiler = copy(built.compiler)
        compiler.connection = _database()
        compiler.as_sql = lambda *args, **kwargs: (built.sql, params)
        compiler.get_converters = lambda expressions: built.converters
        queryset = built.queryset._chain()  # type: ignore[attr-defined]
        queryset.query.get_compiler = lambda *args, **kwargs: compiler
        return list(queryset._iterable_class(queryset))

    def first(self, *values: int | str) -> Row | None:
        """The first of the rows, or None."""
        return next(iter(self.rows(*values)), None)

    def _built_for(self, count: int) -> _Built:
        queryset = self._build(*range(_STAND_IN, _STAND_IN + count))
        compiler = queryset.query.get_compiler(connection=_database())
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([expression for expression, _, _ in compiler.select])
        self._built[count] = _Built(queryset, compiler, sql, tuple(_slot(param) for param in params), converters)
        return self._built[count]


def _slot(param: Any) -> int | tuple[Any]:
    try:
        index = int(param) - _STAND_IN
    except (TypeError, ValueError):
        return (param,)
    return index if 0 <= index < 1_000 else (param,)


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


def update(model: type[Model], pk: int, values: Mapping[str, Any], /, **among: Sequence[Any]) -> bool:
    """Set `values` in the row of this key if each field named in `among` has one of the values given with it."""
    sql, fields = _update(model, tuple(values), tuple((name, len(few)) for name, few in among.items()))
    database = _database()
    new = [
        field.get_db_prep_save(value.pk if isinstance(value, Model) else value, database)
        for field, value in zip(fields, values.values(), strict=True)
    ]
    with database.cursor() as cursor:
        cursor.execute(sql, [*new, pk, *(value for few in among.values() for value in few)])
        return bool(cursor.rowcount)


@cache
def _update(model: type[Model], names: tuple[str, ...], among: tuple[tuple[str, int], ...]) -> tuple[str, _Fields]:
    fields: _Fields = tuple(_field(model, name) for name in names)
    sets = ", ".join(f"{_column(field)} = %s" for field in fields)
    held = [f" AND {_column(_field(model, name))} IN ({', '.join(count * ['%s'])})" for name, count in among]
    return f"UPDATE {_table(model)} SET {sets} WHERE {_key(model)} = %s{''.join(held)}", fields  # noqa: S608


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
