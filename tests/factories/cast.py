"""The people of the tests: Alice owns the runs, Bob may approve them, Charlie gets 404."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password

from runs.models import AccessToken, User
from runs.people import access_tokens


def person(name: str, **fields: Any) -> User:
    """A person without a password, as people are invited."""
    unusable = make_password(None)
    user, _ = get_user_model().objects.get_or_create(username=name, defaults={"password": unusable, **fields})
    return user


def alice() -> User:
    """Owns the runs."""
    return person("alice")


def bob() -> User:
    """May approve."""
    return person("bob")


def charlie() -> User:
    """Has nothing to do with them; must get 404."""
    return person("charlie")


def access_token(owner: User, name: str = "laptop") -> int:
    """The number of a new access token."""
    access_tokens.issue(owner, name, 30)
    return AccessToken.objects.latest("pk").pk
