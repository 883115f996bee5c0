"""The people of the tests: Alice owns the runs, Bob may approve them, Charlie gets 404."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password

from runs.enums import PersonRole, ShareLevel
from runs.models import AccessToken, Run, Share, User
from runs.people import access_tokens
from runs.people.roles import NEW_PEOPLE, groups_of


def person(name: str, *, roles: Collection[PersonRole] = NEW_PEOPLE, **fields: Any) -> User:
    """A person without a password, as people are invited."""
    unusable = make_password(None)
    user, created = get_user_model().objects.get_or_create(username=name, defaults={"password": unusable, **fields})
    if created:
        user.groups.set(groups_of(roles))
    return user


def share(run: Run, *people: User, level: ShareLevel = ShareLevel.DECIDE) -> None:
    """Let these people decide in a run, without an event."""
    for one in people:
        Share.objects.update_or_create(run=run, user=one, defaults={"level": level.value})


def shared_with(run: Run) -> list[User]:
    """The people with whom a run is shared for decisions, in the order in which they were named."""
    return [row.user for row in run.shares.filter(level=ShareLevel.DECIDE) if row.user]


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
