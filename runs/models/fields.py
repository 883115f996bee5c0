"""Owns how an enum of words becomes a column: short text, with a constraint that refuses other words."""

from enum import StrEnum

from django.db import models


def choices(words: type[StrEnum]) -> list[tuple[str, str]]:
    return [(word.value, word.value.replace("_", " ")) for word in words]


def word_field(words: type[StrEnum], **options: object) -> "models.CharField[str, str]":
    """A column for one of `words`."""
    return models.CharField(max_length=24, choices=choices(words), **options)  # type: ignore[arg-type]


def only(field: str, words: type[StrEnum], name: str) -> models.CheckConstraint:
    """The database refuses what is not one of `words`."""
    return models.CheckConstraint(condition=models.Q(**{f"{field}__in": [w.value for w in words]}), name=name)
