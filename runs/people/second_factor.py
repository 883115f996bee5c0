"""Who must have a second factor, a passkey or an authenticator app, and has none yet."""

from collections.abc import Iterable

from allauth.mfa.models import Authenticator
from django.conf import settings

from runs.models import User
from runs.people.permissions import is_administrator


def lacking(people: Iterable[User]) -> set[int]:
    """The ids of those who must add one before they go on. Asks the database at most once."""
    required = {
        person.pk
        for person in people
        if settings.SECOND_FACTOR == "everyone"
        or (settings.SECOND_FACTOR == "administrators" and is_administrator(person))
    }
    if not required:
        return set()
    types = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return required - set(
        Authenticator.objects.filter(user__in=required, type__in=types).values_list("user_id", flat=True)
    )
