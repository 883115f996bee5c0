"""Forms for the parts of a contract: nested formsets, and errors of the contract at the fields of the form.

Fields and formsets are named like the fields of the contract, so the place of an error in the contract is the place in
the form. The contract alone decides what is valid, and no form has rules of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.formsets import INITIAL_FORM_COUNT, TOTAL_FORM_COUNT
from django.http import QueryDict

from runs.contracts.base import Contract
from runs.errors import InvalidInput
from runs.web.site.posted_fields import Text

MAX_PARTS = 100
"""Rows of one list, with those that were removed: more than contracts allow, so that the contract reports the error."""
BROKEN = "A part of the form did not arrive as it was sent. Reload the page."
TOO_MANY = "A list of the form has more than {} rows. Save first, then add more, or import the plan from a file."
type Location = Sequence[int | str]
"""The place of a value in a contract, as Pydantic gives it."""


class FormOptions(NamedTuple):
    """What selects offer. `agents`: names. `by_rules`: offline rules judge what no check decides."""

    agents: Sequence[str] = ()
    by_rules: bool = False


class TypedText(Text):
    """Text as it was typed. Values of contracts are compared with it in the form in which a browser sends them back."""

    def __init__(self, label: str, hint: str = "", rows: int = 0, attributes: Mapping[str, str] | None = None) -> None:
        attributes = attributes or {}
        widget = forms.Textarea({"rows": rows, **attributes}) if rows else forms.TextInput(dict(attributes))
        super().__init__(label=label, help_text=hint, required=False, strip=False, widget=widget)

    def to_python(self, value: Any) -> Any:
        return super().to_python(value).replace("\r\n", "\n").replace("\r", "\n")

    def prepare_value(self, value: Any) -> str:
        text = self.to_python("\n".join(value) if isinstance(value, list) else value)
        return str(text if isinstance(self.widget, forms.Textarea) else text.replace("\n", " "))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.prepare_value(initial) != self.to_python(data))


class Lines(TypedText):
    """Several texts, one a line."""

    def clean(self, value: Any) -> Any:
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class Choice(forms.ChoiceField):
    def __init__(self, label: str, choices: Any, hint: str = "", attributes: Mapping[str, str] | None = None) -> None:
        super().__init__(
            label=label,
            # A function, because a list would be copied for each of thousands of forms.
            choices=choices if callable(choices) else lambda: choices,
            help_text=hint,
            required=False,
            initial="" if callable(choices) else choices[0][0],
            widget=forms.Select(dict(attributes or {})),
        )

    def validate(self, value: Any) -> None:
        """The contract decides."""


class PartForm(forms.Form):
    """A form for one part of a contract. `original`: that part of the plan that is edited, None for a new one."""

    lists: ClassVar[Mapping[str, type[PartFormSet]]] = {}
    """The formsets for fields of the contract that are lists of parts."""
    drops_blank: ClassVar[bool] = False
    """Whether a row without text is left out instead of being reported."""

    data: QueryDict
    number = 0
    """The number in its list, from 1, without the removed rows."""
    is_last = False
    refused = 0
    """How many errors the contract has reported in this part, with all that is in it."""

    def __init__(self, *args: Any, original: Any = None, options: FormOptions, **others: Any) -> None:
        if original is not None:
            others["initial"] = self.initial_of(original)
        self.original, self.options = original, options
        super().__init__(*args, **others)

    @classmethod
    def initial_of(cls, original: Any) -> dict[str, Any]:
        values = original.model_dump(mode="json", include=set(cls.base_fields))
        return {name: value for name, value in values.items() if value is not None}

    @cached_property
    def formsets(self) -> dict[str, PartFormSet]:
        data = self.data if self.is_bound else None
        return {
            name: cls(
                data, prefix=self.add_prefix(name), originals=getattr(self.original, name, ()), options=self.options
            )
            for name, cls in self.lists.items()
        }

    def every_formset(self) -> Iterator[PartFormSet]:
        for formset in self.formsets.values():
            yield formset
            for row in formset.forms:
                yield from row.every_formset()

    @property
    def cleaned(self) -> dict[str, Any]:
        self.is_valid()  # cleans the data if that was not done
        return self.cleaned_data

    @property
    def place(self) -> int | None:
        """Where it is shown among the rows of its list; None at the end."""
        place: int | None = self.cleaned.get("ORDER")
        return place

    @property
    def is_removed(self) -> bool:
        return "DELETE" in self.fields and bool(self["DELETE"].value())

    @property
    def is_blank(self) -> bool:
        """Whether nothing was typed into it. Fields that have a value from the beginning do not count."""
        fields = (self[name] for name, field in self.base_fields.items() if not field.initial)
        return all(not str(field.value() or "").strip() for field in fields)

    @property
    def can_be_restored(self) -> bool:
        return self.original is not None or not self.is_blank

    @property
    def is_changed(self) -> bool:
        own = any(name in self.base_fields for name in self.changed_data)
        return own or any(formset.is_changed for formset in self.formsets.values())

    def contract_value(self) -> object:
        """The original if nothing was changed, not even a space, because an unchanged step keeps its result."""
        if self.original is not None and not self.is_changed:
            return self.original
        return self.values()

    def values(self) -> dict[str, Any]:
        """The values for the contract, which may be invalid. An unchanged field has that of the original."""
        old = set(self.base_fields) - set(self.changed_data) if self.original is not None else set[str]()
        fields = {
            name: getattr(self.original, name) if name in old else self.cleaned[name] for name in self.base_fields
        }
        return fields | {
            name: [row.contract_value() for row in formset.kept] for name, formset in self.formsets.items()
        }

    def sent(self) -> Iterator[tuple[str, str]]:
        """The names and values that a browser sends of this form."""
        for field in self:
            value = field.value()
            for each in value if isinstance(value, list) else [value]:
                if each not in (None, False):
                    yield field.html_name, "on" if each is True else str(each)
        for formset in self.formsets.values():
            yield f"{formset.prefix}-{TOTAL_FORM_COUNT}", str(len(formset.forms))
            yield f"{formset.prefix}-{INITIAL_FORM_COUNT}", str(formset.initial_form_count())
            for row in formset.forms:
                yield from row.sent()

    def hidden_values(self) -> Iterator[tuple[str, str]]:
        """The names and values of the hidden fields of a row that is not shown."""
        return self.sent()

    def names(self) -> Iterator[str]:
        """The names that a browser may send of this form."""
        yield from (self.add_prefix(name) for name in self.fields)
        for formset in self.formsets.values():
            yield from (formset.management_form.add_prefix(name) for name in formset.management_form.fields)
            for row in formset.forms:
                yield from row.names()

    def refuse(self, location: Location, sentence: str) -> None:
        """Shows an error of the contract at its field."""
        self.refused += 1
        match location:
            case [str(name), int(number), *rest] if name in self.formsets:
                self.formsets[name].kept[number].refuse(rest, sentence)
            case [str(name), *_] if name in self.formsets:
                self.formsets[name].problems.append(sentence)
            case [str(name), *_] if name in self.base_fields:
                self.add_error(name, sentence)
            case _:
                self.add_error(NON_FIELD_ERRORS, sentence)


if TYPE_CHECKING:
    BaseFormSet = forms.BaseFormSet[PartForm]
else:
    BaseFormSet = forms.BaseFormSet  # annotations only: the class cannot be subscripted


class PartFormSet(BaseFormSet):
    """The rows of a list. A row that was removed stays in the form until it is saved, so that it can be restored."""

    data: QueryDict
    ordering_widget = forms.HiddenInput
    deletion_widget = forms.HiddenInput

    def __init__(
        self, data: QueryDict | None, *, prefix: str, originals: Sequence[Contract], options: FormOptions
    ) -> None:
        self.originals, self.options = originals, options
        self.problems: list[str] = []
        words = {"missing_management_form": BROKEN, "too_many_forms": TOO_MANY.format(self.absolute_max)}
        super().__init__(data, prefix=prefix, initial=[{}] * len(originals), error_messages=words)

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        known = index is not None and index < len(self.originals)
        # Blank rows are left out by `kept`, and not by Django.
        return {
            "options": self.options,
            "original": self.originals[index] if known and index is not None else None,
            "empty_permitted": False,
        }

    def check_sent(self) -> None:
        """Raises InvalidInput for what no page sends."""
        for sentence in self.non_form_errors():
            raise InvalidInput(str(sentence))
        if any(form.errors for form in self.forms):  # of hidden fields: the others are judged by the contract
            raise InvalidInput(BROKEN)

    @cached_property
    def rows(self) -> list[PartForm]:
        """All rows in the order in which they are shown."""
        if not self.is_bound:
            return list(self.forms)
        rows = sorted(self.forms, key=lambda row: (row.place is None, row.place or 0))
        present = [row for row in rows if not row.is_removed]
        for number, row in enumerate(present, 1):
            row.number, row.is_last = number, number == len(present)
        return rows

    @cached_property
    def kept(self) -> list[PartForm]:
        """The rows that become parts of the contract."""
        return [row for row in self.rows if not row.is_removed and not (row.drops_blank and row.is_blank)]

    @property
    def is_changed(self) -> bool:
        kept = self.kept
        return [row.original for row in kept] != list(self.originals) or any(row.is_changed for row in kept)

    def new_row(self, index: int) -> PartForm:
        """A row that nothing has been typed into."""
        return self.form(prefix=self.add_prefix(index), initial=self.new_values(), **self.get_form_kwargs(None))

    def new_values(self) -> dict[str, Any]:
        return {}


def formset_of(
    form: type[PartForm], min_num: int = 0, most: int = MAX_PARTS, base: type[PartFormSet] = PartFormSet
) -> Any:
    """The class of a list of such forms. A new list has `min_num` blank rows."""
    return forms.formset_factory(
        form,
        formset=base,
        extra=0,
        can_order=True,
        can_delete=True,
        min_num=min_num,
        max_num=most,
        absolute_max=most,
    )
