"""Access tokens: how programs of a person act for them, until a token expires or is revoked."""

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from runs.enums import AuditKind, TokenScope
from runs.errors import InvalidInput, NotAllowed
from runs.models import AccessToken, User
from runs.models.people import DEFAULT_SCOPES
from runs.models.querysets import one_of
from runs.store import audit_trail
from runs.text.plural import pluralize
from runs.text.truncate import quoted

MAX_TOKENS = 10
"""Valid tokens of one person."""
MAX_NAME = 60  # characters
LIFETIMES = (7, 30, 90, 365)
"""The choices for the validity of a token in days."""
NOTED_EVERY = timedelta(minutes=5)
"""The least time between two notes of a use. Programs ask several times a second, and SQLite has one writer."""
PREFIX = "pev_"
"""The beginning of every token, so that scanners of repositories and mails can recognise them."""
_FORM = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")


class ScopeMissing(NotAllowed):
    """The access token does not allow `scope`."""

    def __init__(self, scope: TokenScope) -> None:
        super().__init__(f"This access token does not allow “{scope}”. Make one that does on the page “Access tokens”.")
        self.scope = scope


def issue(person: User, name: str, days: int, scopes: Iterable[str] = DEFAULT_SCOPES) -> str:
    """Make a token and return it; only its hash is stored. Tokens that have ended are deleted.

    Raises InvalidInput for a name that cannot be used, a lifetime that is not in `LIFETIMES`, scopes that the person
    may not grant, or one token too many.
    """
    name = " ".join(name.split())
    if not name:
        raise InvalidInput("Give the token a name, such as that of the program or machine that will use it.")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"The name has {len(name):,} characters; {MAX_NAME} are allowed.")
    if days not in LIFETIMES:
        raise InvalidInput(f"A token is made for {', '.join(map(str, LIFETIMES[:-1]))} or {LIFETIMES[-1]} days.")
    words = _checked_scopes(person, scopes)
    token = PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        User.objects.select_for_update().get(
            pk=person.pk
        )  # two forms at the same time must not both become the last token
        living = list(person.access_tokens.living(now).values_list("name", flat=True))
        if name in living:
            raise InvalidInput(f"You have a token “{name}” already: choose another name, or revoke that one first.")
        if len(living) >= MAX_TOKENS:
            raise InvalidInput(
                f"You have {pluralize(len(living), 'token')}, and may have {MAX_TOKENS}. Revoke one that is not used."
            )
        person.access_tokens.exclude(pk__in=person.access_tokens.living(now)).delete()
        AccessToken.objects.create(
            user=person, name=name, token_hash=_hash(token), expires_at=now + timedelta(days=days), scopes=words
        )
        audit_trail.record(
            AuditKind.TOKEN_MADE, by=person, subject=person.get_username(), name=name, days=days, scopes=words
        )
    return token


def _checked_scopes(person: User, scopes: Iterable[str]) -> str:
    """Returns the scopes as they are stored. Raises InvalidInput for none, and for one that cannot be granted."""
    words = set(scopes)
    if unknown := sorted(words - set(TokenScope)):
        raise InvalidInput(f"There is no scope {quoted(unknown[0])}. There are: {', '.join(TokenScope)}.")
    chosen = [scope for scope in TokenScope if scope in words]
    if not chosen:
        raise InvalidInput("Choose at least one thing that the token allows; without any it would be of no use.")
    for scope in chosen:
        if person.may_grant(scope):
            continue
        if scope is TokenScope.ADMIN and not person.is_administrator:
            raise InvalidInput("Only administrators have tokens that allow “admin”. Make the token without it.")
        raise InvalidInput(f"This installation has no tokens that allow “{scope}”. Make the token without it.")
    return " ".join(chosen)


def of(person: User) -> list[AccessToken]:
    """All stored tokens of a person, the newest first."""
    return list(person.access_tokens.order_by("-pk"))


def usable_token(token: str) -> AccessToken | None:
    """The token with its person, if both are valid now, or None. Stores the time of the use.

    It is looked up by its hash, so that the time of the search reveals nothing about tokens.
    """
    if not _FORM.fullmatch(token):
        return None
    now = timezone.now()
    row = _working(AccessToken.objects.filter(token_hash=_hash(token)), now)
    if row is not None and (row.last_used_at is None or row.last_used_at <= now - NOTED_EVERY):
        stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - NOTED_EVERY)
        AccessToken.objects.filter(stale, pk=row.pk).update(last_used_at=now)
    return row


def working_token(pk: int) -> AccessToken | None:
    """The token with its person, if both are still valid. This is no use of it."""
    return _working(AccessToken.objects.filter(pk=pk), timezone.now())


def _working(found: QuerySet[AccessToken], now: datetime) -> AccessToken | None:
    """The token that is found, if it and its person are valid. Few conditions make a query that is built quickly."""
    row = one_of(found.select_related("user"))
    return row if row is not None and row.is_living(now) and row.user.is_active else None


def check(token: AccessToken, *scopes: TokenScope) -> None:
    """Raises ScopeMissing, with the first of these scopes, if the token allows none of them now."""
    if not any(token.allows(scope) for scope in scopes):
        raise ScopeMissing(scopes[0])


def revoke(person: User, pk: int) -> AccessToken | None:
    """Revoke a token of this person. None if they have no valid token with this id."""
    now = timezone.now()
    row = person.access_tokens.living(now).filter(pk=pk).first()
    if row is not None:
        with transaction.atomic():
            AccessToken.objects.filter(pk=row.pk, revoked_at__isnull=True).update(revoked_at=now)
            audit_trail.record(AuditKind.TOKEN_REVOKED, by=person, subject=person.get_username(), name=row.name)
    return row


def revoke_all(person: User) -> None:
    """Revoke all tokens of this person."""
    with transaction.atomic():
        ended = person.access_tokens.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        audit_trail.record(AuditKind.TOKEN_REVOKED, subject=person.get_username(), person=person.pk, count=ended)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
