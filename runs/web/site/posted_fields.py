"""What small forms share: free text as it was typed, and errors as sentences."""

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import QuerySet

from runs.errors import InvalidInput
from runs.models import User
from runs.text.numbers import amount, key

_CHOOSE = "Choose one of the buttons."


class Text(forms.CharField):
    """Free text. Null characters are left out: not every database keeps them, and no one types them on purpose."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace("\0", "") if isinstance(value, str) else value)


class Amount(forms.DecimalField):
    """A number in digits, whose length is checked before anything is computed with it."""

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(amount(value) if isinstance(value, str) and value.strip() else value)
        except ValueError as error:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from error


if TYPE_CHECKING:
    Chosen = forms.ModelMultipleChoiceField[User]
else:
    Chosen = forms.ModelMultipleChoiceField  # annotations only: the class cannot be subscripted


class People(Chosen):
    """People by primary key. The numbers are checked before the database is asked."""

    def clean(self, value: Any) -> QuerySet[User]:
        for each in value or ():
            try:
                key(each)
            except ValueError as error:
                text = self.error_messages["invalid_choice"]
                raise forms.ValidationError(text, code="invalid_choice", params={"value": str(each)[:40]}) from error
        return super().clean(value)


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
