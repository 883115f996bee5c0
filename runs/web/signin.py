"""Sign-in links: each works once, for one person, for an hour. There are no passwords."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.urls import reverse
from django.utils.encoding import force_bytes, force_str
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignInTokens(PasswordResetTokenGenerator):
    """A token dies with the sign-in it makes, since that changes the person's `last_login`."""

    key_salt = "pevsite.sign-in"


tokens = SignInTokens()


def link_for(person: Any) -> str:
    """The path of a link that signs this person in."""
    name = urlsafe_base64_encode(force_bytes(person.pk))
    return reverse("sign_in_link", args=[name, tokens.make_token(person)])


def person_of(name: str, token: str) -> Any | None:
    """The active person of a link that still works, or None."""
    try:
        key = int(force_str(urlsafe_base64_decode(name)))
    except (ValueError, OverflowError):
        return None
    person = get_user_model()._default_manager.filter(pk=key, is_active=True).first()
    return person if person and tokens.check_token(person, token) else None
