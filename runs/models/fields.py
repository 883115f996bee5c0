"""Columns with a meaning: words of an enum, and JSON that is a contract on both sides of the database."""

import json
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.fields.json import KeyTransform
from pydantic import TypeAdapter

if TYPE_CHECKING:
    type Column[Value] = models.JSONField[Value, Value]
else:
    Column = models.JSONField  # annotations only: the class cannot be subscripted


class VerbatimField(models.JSONField):
    """JSON that is read as it was written: its keys in their order, its numbers with their digits.

    PostgreSQL's jsonb sorts keys and takes no NUL, and what a model is asked after a crash has to be what it was asked
    before (D3). Keys inside can be read by queries; there they can be compared as text only.
    """

    def db_type(self, connection: Any) -> str | None:
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """As text: what Django hands to PostgreSQL is jsonb, and sorted already."""
        return json.dumps(value, cls=self.encoder)


class ContractField(VerbatimField):
    """JSON in the column, `contract` in the code: validated on the way in, handed out as its type on the way out.

    Raises pydantic.ValidationError for a value that is not the contract's, from `save` and `update` before anything
    is written. Keys inside can be looked up as in any JSONField if it is `queried`; what such a lookup returns is plain
    JSON. Migrations see a field of JSON: they read what was stored then, not what the contract has become since.
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
        return self._adapter.validate_json(value)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        if value is None or hasattr(value, "resolve_expression"):
            return super().get_db_prep_save(value, connection)
        contract = self._adapter.validate_python(value)
        return super().get_db_prep_save(self._adapter.dump_python(contract, mode="json"), connection)


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def word_field(words: type[StrEnum], **options: object) -> "models.CharField[str, str]":
    """A column for one of `words`."""
    return models.CharField(max_length=24, choices=choices(words), **options)  # type: ignore[arg-type]


def only(field: str, words: type[StrEnum], name: str) -> models.CheckConstraint:
    """The database refuses what is not one of `words`."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [w.value for w in words]}), name=name)
