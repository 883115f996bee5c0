"""Columns with a meaning: words of an enum, and JSON that is a contract on both sides of the database."""

import json
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.fields.json import KeyTransform
from pydantic import TypeAdapter, ValidationError

from runs.errors import FromLaterVersion
from runs.text.visible import printable

if TYPE_CHECKING:
    type Column[Value] = models.JSONField[Value, Value]
    _Words = models.CharField[str, str]
else:
    Column = models.JSONField  # annotations only: the class cannot be subscripted
    _Words = models.CharField


class VerbatimField(models.JSONField):
    """JSON that is read as it was written: its keys in their order, its numbers with their digits.

    PostgreSQL's jsonb sorts keys and takes no NUL, and what a model is asked after a crash has to be what it was asked
    before (D3). Keys inside can be read by queries; there they can be compared as text only.
    """

    def db_type(self, connection: Any) -> str | None:
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """As text, because Django would pass jsonb to PostgreSQL, which sorts the keys."""
        return json.dumps(value, cls=self.encoder)


class ContractField(VerbatimField):
    """JSON in the column, an instance of `contract` in the code.

    `save` and `update` raise pydantic.ValidationError for a value that does not fit the contract, before anything is
    written. Reading a row with such a value raises FromLaterVersion. If the field is `queried`, lookups of keys work as
    in any JSONField and return plain JSON. Migrations see a field of JSON, because the contract may have changed since.
    """

    def __init__(self, contract: Any, *, queried: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._contract = contract
        self._queried = queried

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        """Made when first used: most commands touch no row."""
        return TypeAdapter(self._contract)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, _, args, kwargs = super().deconstruct()
        plain = "django.db.models.JSONField" if self._queried else f"{__name__}.{VerbatimField.__name__}"
        return name, plain, args, kwargs

    def clone(self) -> "ContractField":
        _, _, args, kwargs = self.deconstruct()
        return type(self)(self._contract, *args, queried=self._queried, **kwargs)

    def db_type(self, connection: Any) -> str | None:
        return models.JSONField.db_type(self, connection) if self._queried else super().db_type(connection)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        if value is None or isinstance(expression, KeyTransform):
            return super().from_db_value(value, expression, connection)
        try:
            return self._adapter.validate_json(value)
        except ValidationError as error:  # it was valid when it was written, so a later version wrote it
            first = ".".join(str(part) for part in error.errors(include_url=False, include_input=False)[0]["loc"])
            raise FromLaterVersion(_unknown(f"{self.name} at {first}" if first else self.name)) from error

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return super().get_db_prep_save(value, connection)
        contract = self._adapter.validate_python(value)
        return super().get_db_prep_save(self._adapter.dump_python(contract, mode="json"), connection)


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


class WordField(_Words):
    """One of `words`. Migrations see a field of text.

    Reading a row with another word raises FromLaterVersion, because code that compares it with the known words would
    go on as if there were none.
    """

    def __init__(self, words: type[StrEnum], **options: Any) -> None:
        super().__init__(**{"max_length": 24, "choices": choices(words), **options})
        self._known = frozenset(word.value for word in words)
        self._enum = words

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs

    def clone(self) -> "WordField":
        _, _, args, kwargs = self.deconstruct()
        return type(self)(self._enum, *args, **kwargs)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        if value and value not in self._known:
            raise FromLaterVersion(_unknown(f"{self.name} “{printable(value)[:40]}”"))
        return value


def _unknown(what: str) -> str:
    return f"A later version of pevsite has written something that this one does not know ({what})."


def word_field(words: type[StrEnum], **options: object) -> "models.CharField[str, str]":
    """A column for one of `words`."""
    return WordField(words, **options)


def only(field: str, words: type[StrEnum], name: str) -> models.CheckConstraint:
    """A constraint: the column has one of `words`."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [w.value for w in words]}), name=name)
