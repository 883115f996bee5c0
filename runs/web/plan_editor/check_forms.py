"""The forms of checks, made from the fields of each kind and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args, get_origin

from django import forms

from runs.contracts.base import Contract
from runs.pev.checks.base import Label, labels_of
from runs.pev.checks.registry import KINDS
from runs.web.site.posted_fields import Text


def rows_of(kind: str) -> tuple[str, type[Contract]] | None:
    """The field of a kind of check that holds rows of fields of their own, with what a row is; None without such a
    field.
    """
    for name, field in KINDS[kind].model_fields.items() if kind in KINDS else ():
        for inner in get_args(field.annotation):
            if isinstance(inner, type) and issubclass(inner, Contract):
                return name, inner
    return None


def lists_of(kind: str) -> frozenset[str]:
    """The fields of a kind of check that hold several texts, one a line."""
    fields = KINDS[kind].model_fields.items() if kind in KINDS else ()
    return frozenset(name for name, field in fields if get_origin(field.annotation) is list)


def _form(contract: type[Contract]) -> type[forms.Form]:
    """A form with the labelled fields. Fields with choices come first, because they say what the others mean."""
    labels = labels_of(contract).items()
    fields = {
        name: _field(label, contract.model_fields[name].annotation)
        for name, label in sorted(labels, key=lambda one: not one[1].choices)
    }
    return type(f"{contract.__name__}Form", (forms.Form,), fields)


def _field(label: Label, annotation: object) -> forms.Field:
    """A field is judged with the whole plan, not by itself. Errors are shown at the field."""
    if label.choices:
        return forms.ChoiceField(label=label.text, choices=label.choices, required=False)
    if annotation is bool:
        return forms.BooleanField(label=label.text, help_text=label.hint, required=False)
    if label.is_long or get_origin(annotation) is list:
        widget: forms.Widget = forms.Textarea(attrs={"rows": 3})
    else:
        widget = forms.TextInput(attrs={"inputmode": "numeric"} if annotation is int else {})
    return Text(label=label.text, help_text=label.hint, required=False, strip=False, widget=widget)


FORMS: Mapping[str, type[forms.Form]] = {name: _form(kind) for name, kind in KINDS.items()}
"""The form of each kind of check, in the order in which they are offered, without rows."""
ROW_FORMS: Mapping[str, type[forms.Form]] = {name: _form(rows[1]) for name in KINDS if (rows := rows_of(name))}
"""The form of one row, for each kind of check that has rows."""
CHOICES = [
    ("", "AI review: a model judges it with quotes"),
    *((name, f"Automatic: {kind.title}") for name, kind in KINDS.items()),
]
