"""Forms of allauth with words of our own."""

import json
from typing import Any
from uuid import uuid4

from allauth.account import forms as account_forms
from allauth.account.forms import LoginForm
from allauth.core import context
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.http import HttpRequest

from runs.enums import NoticeKind
from runs.notices.account_mails import resettable
from runs.people import outbox
from runs.web.site import refusals

UNREADABLE = "The answer of the browser cannot be read. Try again."


class SignInForm(LoginForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name"
        for field in self.fields.values():
            for attribute in ("placeholder", "maxlength"):  # the label says the one, and the other cuts what is pasted
                field.widget.attrs.pop(attribute, None)


class ResetPasswordForm(account_forms.ResetPasswordForm):
    """Nothing in the answer tells whether someone has this address: the mail is queued, and sent later."""

    def save(self, request: HttpRequest, **kwargs: Any) -> str:
        address: str = self.cleaned_data["email"]
        for person in resettable(address):
            outbox.tell(person, NoticeKind.PASSWORD_RESET, occurrence=uuid4().hex, address=address)
        return address


class _JsonDecoder(json.JSONDecoder):
    """Reports everything that it cannot read in the same way. Forms know no other than this."""

    def decode(self, text: str, *more: Any) -> Any:
        try:
            return super().decode(text, *more)
        except (ValueError, RecursionError) as error:  # also numbers and depths that are too large for Python
            raise json.JSONDecodeError("This cannot be read", text, 0) from error


class _Answer(forms.Form):
    """The answer of a browser. Allauth expects it to be whole, and would fail at one with parts missing."""

    credential = forms.JSONField(widget=forms.HiddenInput, decoder=_JsonDecoder)

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean() or {}
        except (KeyError, TypeError, ValueError) as error:
            raise forms.ValidationError(UNREADABLE) from error

    def clean_credential(self) -> Any:
        inherited = getattr(super(), "clean_credential", None)
        try:
            return inherited() if inherited else self.cleaned_data["credential"]
        except (KeyError, TypeError, ValueError) as error:
            raise forms.ValidationError(UNREADABLE) from error


class PasskeyForm(_Answer, LoginWebAuthnForm):
    def clean_credential(self) -> Any:
        try:
            return super().clean_credential()
        except forms.ValidationError:
            refusals.sign_in_refused("passkey", context.request.META.get("REMOTE_ADDR", ""))
            raise


class SecondFactorForm(_Answer, AuthenticateWebAuthnForm):
    pass


class PasskeyAgainForm(_Answer, ReauthenticateWebAuthnForm):
    pass


class AddPasskeyForm(_Answer, AddWebAuthnForm):
    passwordless = forms.BooleanField(
        label="Sign in with it alone",
        required=False,
        initial=True,
        help_text="Turn this off for an older security key that has no PIN. It then adds to a password or a link.",
    )
