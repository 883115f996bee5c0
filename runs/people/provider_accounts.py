"""What ties people to the identity provider: a row for each person who has signed in through it."""

from __future__ import annotations

import logging
from collections.abc import Collection

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db.models import QuerySet

from runs.enums import PersonRole
from runs.errors import InvalidInput
from runs.models import User
from runs.people import accounts
from runs.people.identity_provider import IdentityProvider
from runs.people.roles import roles_of

log = logging.getLogger(__name__)


def connections_of(person: User) -> QuerySet[SocialAccount]:
    """The person's account at the provider that the settings name: none or one."""
    provider: IdentityProvider | None = settings.IDENTITY_PROVIDER
    return SocialAccount.objects.filter(user=person, provider=provider.url if provider else "")


def disconnect(person: User) -> None:
    """Let the person no longer sign in through the provider. Raises InvalidInput if no other way would be left."""
    passkeys = Authenticator.objects.filter(user=person, type=Authenticator.Type.WEBAUTHN)
    if not person.has_usable_password() and not any(key.wrap().is_passwordless for key in passkeys):
        raise InvalidInput("Add a passkey or set a password first, or you could no longer sign in.")
    connections_of(person).delete()


def proves_second_factor(person: User) -> bool:
    """Whether programs may act for a person who has no second factor here, because the provider asks for one."""
    provider: IdentityProvider | None = settings.IDENTITY_PROVIDER
    return provider is not None and provider.has_second_factor and connections_of(person).exists()


def set_roles(person: User, roles: Collection[PersonRole]) -> None:
    """Give a person the roles of their groups at the provider, or the least one if they have none.

    The last active administrator stays one: no one else could change that again.
    """
    wanted = set(roles) or {PersonRole.VIEWER}
    if wanted == set(roles_of(person)):
        return
    try:
        accounts.set_roles(person, wanted)
    except InvalidInput as problem:
        log.warning("people: the provider's roles of “%s” are not set: %s", person.get_username(), problem)
