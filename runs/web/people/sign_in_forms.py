"""Forms of allauth with words of our own."""

from allauth.account.forms import LoginForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms


class SignInForm(LoginForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name"
        for field in self.fields.values():
            for attribute in ("placeholder", "maxlength"):  # the label says the one, and the other cuts what is pasted
                field.widget.attrs.pop(attribute, None)


class AddPasskeyForm(AddWebAuthnForm):
    passwordless = forms.BooleanField(
        label="Sign in with it alone",
        required=False,
        initial=True,
        help_text="Turn this off for an older security key that has no PIN. It then adds to a password or a link.",
    )
