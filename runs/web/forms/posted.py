"""What all small forms share: free text as it was typed, and errors as sentences."""

from typing import Any

from django import forms

from runs.errors import InvalidInput


class Text(forms.CharField):
    """Free text. Null characters are left out: not every database keeps them, and no one types them on purpose."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value.replace("\0", "") if isinstance(value, str) else value)


class PostedForm(forms.Form):
    """A form whose page is not drawn from it."""

    def checked(self) -> dict[str, Any]:
        """What was sent, cleaned. Raises InvalidInput with the first sentence for what cannot be used."""
        for errors in self.errors.values():
            raise InvalidInput(str(errors[0]))
        return self.cleaned_data
