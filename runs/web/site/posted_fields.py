"""What small forms share: free text as it was typed, and errors as sentences."""

from datetime import date
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Model, QuerySet

from runs.errors import InvalidInput
from runs.models import User
from runs.text.numbers import amount, key
from runs.text.text_limits import too_long

_CHOOSE = "Choose one of the buttons."


class Text(forms.CharField):
    """Free text. Null characters are left out: not every database keeps them, and no one types them on purpose.
    Browsers count a line break as one character and send two; it becomes one.

    A text that is too long is never cut. With `maxlength` a browser would cut what is pasted without a word, so the
    limit is in `data-max-length`, and both the page (static/js/text_limits.js) and this field say by how much it is
    too long.
    """

    def __init__(self, *, max_length: int | None = None, **options: Any) -> None:
        self._limit = max_length
        super().__init__(**options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        limit = {} if self._limit is None or widget.is_hidden else {"data-max-length": self._limit}
        return {**super().widget_attrs(widget), **limit}

    def to_python(self, value: Any) -> Any:
        return super().to_python(plain_lines(value) if isinstance(value, str) else value)

    def validate(self, value: Any) -> None:
        super().validate(value)
        if self._limit is not None and (problem := too_long(value, self._limit)):
            raise forms.ValidationError(problem)


def plain_lines(text: str) -> str:
    """A text as it was typed: with plain line ends, and without null characters."""
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2199, 12, 31)
"""The days of filters, with whose years time zones and databases can calculate."""


class DayField(forms.DateField):
    """A day of a filter."""

    default_validators = [MinValueValidator(FIRST_DAY), MaxValueValidator(LAST_DAY)]


def of_our_time[Day: date](day: Day) -> Day:
    """The same day or time. Raises ValueError for one of another year than such a filter takes."""
    if not FIRST_DAY.year <= day.year <= LAST_DAY.year:
        raise ValueError(f"it must be of the years {FIRST_DAY.year} to {LAST_DAY.year}")
    return day


class Amount(forms.DecimalField):
    """A number in digits, whose length is checked before anything is computed with it."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(amount(value) if isinstance(value, str) and value.strip() else value)
        except ValueError as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error


class _ByKey[Row: Model](forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # a class cannot be subscripted
    """Rows by primary key. The numbers are checked before the database is asked."""

    def clean(self, value: Any) -> QuerySet[Row]:
        for each in value or ():
            try:
                key(each)
            except ValueError as error:
                text = self.error_messages["invalid_choice"]
                raise forms.ValidationError(text, code="invalid_choice", params={"value": str(each)[:40]}) from error
        return super().clean(value)


class PeopleField(_ByKey[User]):
    """People by primary key."""


class GroupsField(_ByKey[Group]):
    """Groups by primary key."""


def verbs[Verb: StrEnum](verbs: type[Verb]) -> forms.TypedChoiceField:
    """A field for the button that was pressed."""
    return forms.TypedChoiceField(
        choices=[(verb.value, verb.value) for verb in verbs],
        coerce=verbs,
        error_messages={"required": _CHOOSE, "invalid_choice": _CHOOSE},
    )


class PostedForm(forms.Form):
    """A form whose page is not drawn from it."""

    def checked(self) -> dict[str, Any]:
        """The cleaned data. Raises InvalidInput with the first error as a sentence."""
        for errors in self.errors.values():
            raise InvalidInput(str(errors[0]))
        return self.cleaned_data
