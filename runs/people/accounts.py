"""People: links that sign them in once, invitations, and ending all their sessions."""

import hashlib
import secrets
from collections.abc import Callable, Collection
from contextlib import nullcontext
from datetime import timedelta
from functools import partial

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from pevsite.installation import PROGRAM
from runs.enums import AuditKind, LinkKind, PersonRole
from runs.errors import DecisionRefused, InvalidInput
from runs.models import Link, User
from runs.people import second_person
from runs.people.permissions import administrators
from runs.people.roles import NEW_PEOPLE, groups_of, teams
from runs.store import audit_trail, broadcast, event_log
from runs.text.normalisation import caseless
from runs.text.plural import pluralize
from runs.text.visible import printable

MAX_TEAM_NAME = 80
LIFETIMES = {LinkKind.SIGN_IN: timedelta(minutes=10), LinkKind.INVITATION: timedelta(days=7)}
"""How long links are valid. A sign-in link is used by a person who has just asked for it; an invitation is mailed."""


def issue(person: User, kind: LinkKind) -> str:
    """The token of a new link, which is stored nowhere. Raises InvalidInput for a person who is not active."""
    if not person.is_active:
        raise InvalidInput(f"“{person.get_username()}” is not active and cannot sign in.")
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    person.links.exclude(pk__in=person.links.living(now)).delete()
    with transaction.atomic():
        Link.objects.create(user=person, kind=kind.value, token_hash=_hash(token), expires_at=now + LIFETIMES[kind])
        audit_trail.record(AuditKind.LINK_MADE, subject=person.get_username(), person=person.pk, name=kind.value)
    return token


def person_of(token: str) -> User | None:
    """The person whom the link with this token would sign in, or None. Changes nothing."""
    found = Link.objects.living(timezone.now()).filter(token_hash=_hash(token), user__is_active=True)
    link = found.select_related("user").first()
    return link.user if link else None


def consume(token: str) -> User | None:
    """Use a link: returns the person and ends all their links. None if the link is not valid."""
    now = timezone.now()
    link = Link.objects.filter(token_hash=_hash(token)).first()
    if link is None:
        return None
    with transaction.atomic():
        # Of two requests that use the link at the same time, one UPDATE matches. Its condition is on columns of the
        # row itself, because PostgreSQL checks only those again after the second request has waited.
        if Link.objects.living(now).filter(pk=link.pk).update(used_at=now) != 1:
            return None
        person = User.objects.get(pk=link.user_id)
        person.links.living(now).delete()
    return person if person.is_active else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def _storable(name: str) -> str:
    """The name with unpaired surrogates replaced, which databases do not accept."""
    return name.encode(errors="replace").decode()


def invite(name: str, roles: Collection[PersonRole] = NEW_PEOPLE) -> User:
    """Add a person with this name, without a password. Returns the existing person, with these roles, if they have
    never signed in.

    Raises InvalidInput for a name that cannot be used, that belongs to a person who has signed in before, or without
    a role.
    """
    name = User.normalize_username(_storable(name).strip())
    known = User.objects.filter(username__iexact=name).first()
    if known is not None:
        if known.is_active and known.last_login is None and known.username == name:
            set_roles(known, roles)
            return known
        raise InvalidInput(f"There is a “{known.get_username()}” already: print a link for them, or activate them.")
    person = User(username=name)
    person.set_unusable_password()
    try:
        person.full_clean(exclude=["password"])
    except ValidationError as error:
        raise InvalidInput(f"“{name[:150]}” cannot be a user name: {' '.join(error.messages)}") from error
    with transaction.atomic():
        person.save()
        set_roles(person, roles)
        # Last, as every line: with the newest line locked, nothing else is waited for.
        audit_trail.record(AuditKind.INVITED, subject=person.get_username(), person=person.pk)
    return person


def person_named(name: str) -> User:
    """The person with this name, for those who run the installation. Raises InvalidInput with some of the names."""
    if person := find_person(name):
        return person
    known = ", ".join(User.objects.order_by("username").values_list("username", flat=True)[:20]) or "no one yet"
    raise InvalidInput(
        f"There is no user “{_storable(name)}”; there are: {known}. Add them: {PROGRAM} people invite NAME"
    )


def find_person(name: str) -> User | None:
    return User.objects.filter(username=_storable(name)).first()


def deactivate(person: User, *, confirmed: bool = True) -> None:
    """End all sessions, links and tokens of a person. They stay ended when the person is active again.

    Raises InvalidInput for the last active administrator, and unless it is `confirmed` LastSecondPerson.
    """

    def apply(row: User) -> None:
        row.is_active = False
        _end_sessions(row)

    _change(person, apply, AuditKind.DEACTIVATED, keeps_administrator=False, confirmed=confirmed)


def sign_out_everywhere(person: User) -> None:
    """End all sessions, sockets, links and access tokens of a person. They may sign in with another link."""
    _change(person, _end_sessions, AuditKind.SIGNED_OUT_EVERYWHERE)


def reset_sign_in(person: User) -> None:
    """Remove the password, passkeys, codes and provider account of a person who has lost them, and end all sessions.

    They sign in again with a link.
    """

    def apply(row: User) -> None:
        row.set_unusable_password()
        Authenticator.objects.filter(user=row).delete()
        SocialAccount.objects.filter(user=row).delete()
        _end_sessions(row)

    _change(person, apply, AuditKind.SIGN_IN_RESET)


def activate(person: User) -> None:
    """Allow links for this person again."""

    def apply(row: User) -> None:
        row.is_active = True

    _change(person, apply, AuditKind.ACTIVATED)


def groups_seen(person: User) -> str:
    """The roles and groups of a person now, for a form that changes them."""
    keys = sorted(group.pk for group in person.groups.all())
    return " ".join([*map(str, keys), *(["superuser"] if person.is_superuser else [])]) or "none"


def set_roles(
    person: User,
    roles: Collection[PersonRole],
    members: Collection[Group] | None = None,
    *,
    seen: str | None = None,
    confirmed: bool = True,
) -> None:
    """Give a person these roles, and take the others from them; with `members`, make them a member of these teams only.
    `seen`: their `groups_seen` on the page.

    Raises InvalidInput without a role, or if no administrator would be left who is active; DecisionRefused if someone
    else has changed them since; and unless it is `confirmed` LastSecondPerson.
    """
    if not roles:
        raise InvalidInput("Choose a role. A person who may do nothing any more is deactivated instead.")

    def apply(row: User) -> None:
        if seen is not None and seen != groups_seen(row):
            raise DecisionRefused(
                f"The roles or groups of {row.get_username()} have been changed since this page was loaded. "
                f"They are now: {_group_names(row) or 'none'}. Choose again."
            )
        row.is_superuser = False  # Django's, which no group takes away
        kept = row.groups.filter(pk__in=teams()) if members is None else members
        before = _group_names(row)
        row.groups.set([*kept, *groups_of(roles)])
        after = _group_names(row)
        if after != before:
            audit_trail.record(
                AuditKind.ROLE_CHANGED, subject=row.get_username(), person=row.pk, before=before, after=after
            )

    _change(person, apply, keeps_administrator=PersonRole.ADMINISTRATOR in roles, confirmed=confirmed)


def make_team(name: str) -> Group:
    """Add a group of people. Raises InvalidInput for a name that is empty, too long or taken, also by a role."""
    name = " ".join(printable(name).split())
    if not name or len(name) > MAX_TEAM_NAME:
        raise InvalidInput(f"Give the group a name of at most {MAX_TEAM_NAME} characters.")
    with transaction.atomic():
        if any(caseless(known) == caseless(name) for known in Group.objects.values_list("name", flat=True)):
            raise InvalidInput(f"There is a group or a role “{name}” already.")
        team = Group.objects.create(name=name)
        audit_trail.record(AuditKind.GROUP_MADE, subject=name)
    return team


def delete_team(team: Group, *, seen: int | None = None, confirmed: bool = True) -> None:
    """Delete a group. What was shared with it is no longer shared with its members. `seen`: how many they were on the
    page.

    Raises DecisionRefused if they are more or fewer now, and LastSecondPerson unless it is `confirmed`.
    """
    with transaction.atomic():
        members = list(team.user_set.values_list("pk", flat=True))
        if seen is not None and seen != len(members):
            now = pluralize(len(members), "member")
            raise DecisionRefused(
                f"The group “{team.name}” has {now} now, and had {seen} when this page was loaded. Look at it again."
            )
        with nullcontext() if confirmed else second_person.kept(Q(group=team)):
            team.delete()
        audit_trail.record(AuditKind.GROUP_DELETED, subject=team.name, count=len(members))
        for member in members:
            transaction.on_commit(partial(broadcast.recheck, member), robust=True)


def _group_names(row: User) -> str:
    return ", ".join(row.groups.order_by("name").values_list("name", flat=True))[:500]


def _change(
    person: User,
    apply: Callable[[User], None],
    kind: AuditKind | None = None,
    *,
    keeps_administrator: bool = True,
    confirmed: bool = True,
) -> None:
    """Change the row of a person under a lock, with a line of this kind in the audit trail.

    After the commit their sockets check whether they may stay open. Unless it is `confirmed`, no run loses its only
    second person.
    """
    with transaction.atomic():
        # All administrators are locked, or two who make each other inactive at the same time could both succeed.
        event_log.lock_rows(administrators())
        active = set(administrators().values_list("pk", flat=True))
        row = User.objects.select_for_update().get(pk=person.pk)
        if not keeps_administrator and active == {row.pk}:
            raise InvalidInput(
                f"“{row.get_username()}” is the only administrator who can sign in. "
                "Make another person an administrator first."
            )
        with nullcontext() if confirmed else second_person.kept(Q(user=row) | Q(group__user=row)):
            apply(row)
            row.save()
        if kind:
            audit_trail.record(kind, subject=row.get_username(), person=row.pk)
        transaction.on_commit(partial(broadcast.recheck, row.pk), robust=True)
    person.refresh_from_db()


def _end_sessions(row: User) -> None:
    """End all sessions, links and tokens. The time ends sessions that begin at this moment (`sessions.ends_at`)."""
    row.signed_out_at = timezone.now()
    row.links.all().delete()
    row.access_tokens.filter(revoked_at__isnull=True).update(revoked_at=row.signed_out_at)
    for session in UserSession.objects.filter(user=row):
        session.end()


def forget_ended_sessions() -> None:
    """Delete the rows of sessions that have run out, also of those in which no one signed in."""
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()


def first_administrator() -> User:
    """The active administrator who was added first. Creates one without a password if there is none."""
    known = administrators().order_by("pk")
    try:
        return known.first() or invite("admin", [PersonRole.ADMINISTRATOR])
    except (IntegrityError, InvalidInput):
        if found := known.first():  # of another process, which has started at the same moment
            return found
        raise
