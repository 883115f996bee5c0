"""Who else may see a run: people and groups with whom its owner shares it, or everyone here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group
from django.db.models import QuerySet

from runs.enums import AuditKind, ShareLevel
from runs.errors import DecisionRefused, InvalidInput
from runs.events import kinds as events
from runs.lifecycle import assignments
from runs.models import Run, Share, User
from runs.people import outbox, roles, second_person
from runs.people.permissions import check_can_manage
from runs.store import audit_trail, event_log

NOT_SHARED = "none"
"""In place of the level with which a run is shared."""


def possible_people(run: Run, words: str = "") -> QuerySet[User]:
    """The people with whom it could be shared: active, not the owner, not named yet. `words`: part of a name."""
    others = User.objects.filter(is_active=True, username__icontains=words).exclude(pk=run.owner_id)
    return others.exclude(pk__in=run.shares.filter(user__isnull=False).values("user_id")).order_by("username")


def possible_groups(run: Run, words: str = "") -> QuerySet[Group]:
    groups = roles.teams().filter(name__icontains=words)
    return groups.exclude(pk__in=run.shares.filter(group__isnull=False).values("group_id"))


def deciders_by_name(run: Run) -> list[User]:
    """The owner, and the people with whom a run is shared for decisions. Those of groups are not named."""
    shares = run.shares.filter(user__isnull=False, level=ShareLevel.DECIDE).select_related("user").order_by("user_id")
    return [run.owner, *(share.user for share in shares if share.user)]


def deciding_groups(run: Run) -> list[Group]:
    """The groups with which a run is shared for decisions, by name."""
    shares = run.shares.filter(group__isnull=False, level=ShareLevel.DECIDE)
    return list(Group.objects.filter(pk__in=shares.values("group_id")).order_by("name"))


def begin(run: Run, shared_with: Iterable[User | Group], level: ShareLevel = ShareLevel.DECIDE) -> None:
    """Share a run that is being made."""
    others = dict.fromkeys(who for who in shared_with if who != run.owner)
    Share.objects.bulk_create(Share(run=run, level=level.value, **_named(who)) for who in others)


def record_beginning(run: Run) -> None:
    """The lines of the audit trail for those with whom a new run is shared."""
    if run.open_to_all:
        _record_in_trail(run.pk, run.owner, None, ShareLevel.LOOK)
    for share_ in run.shares.select_related("user", "group").order_by("pk"):
        _record_in_trail(run.pk, run.owner, share_.user or share_.group, ShareLevel(share_.level))


def share(run_id: int, user: User, who: User | Group, level: ShareLevel, seen: str | None = None) -> None:
    """Let a person or a group see the run, or change what they may do. Those who may decide now are notified of
    open decisions. The owner still cannot approve where a second person is required.

    Raises NotAllowed; InvalidInput for the owner, an inactive person, a role, or the only second person;
    DecisionRefused if someone else has changed it since (`seen`: as in `_check_seen`).
    """
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_manage(user, run)
        _check_seen(run, who, seen)
        if isinstance(who, Group):
            fits = roles.teams().filter(pk=who.pk).exists()
        else:
            fits = who.is_active and who.pk != run.owner_id
        if not fits:
            raise InvalidInput(
                f"The run cannot be shared with {_name(who)}: they own it, are not active, or are a role."
            )
        had_second = second_person.has_one(run)
        Share.objects.update_or_create(run=run, **_named(who), defaults={"level": level.value})
        _keep_second_person(run, who, had_second=had_second)
        _record(run_id, user, who, level)
        _ask_again(run, announces=level is ShareLevel.DECIDE)


def unshare(run_id: int, user: User, who: User | Group, seen: str | None = None) -> None:
    """Let a person or a group no longer see the run, or decide in it. Their decisions stay, with their name.

    Raises NotAllowed; InvalidInput for those with whom it is not shared, or for the only second person; DecisionRefused
    if someone else has changed it since (`seen`: as in `_check_seen`).
    """
    with event_log.writing():
        run = event_log.locked(run_id)  # so that a decision of theirs comes before or after this
        check_can_manage(user, run)
        _check_seen(run, who, seen)
        had_second = second_person.has_one(run)
        deleted, _ = run.shares.filter(**_named(who)).delete()
        if not deleted:
            raise InvalidInput(f"The run is not shared with {_name(who)}.")
        _keep_second_person(run, who, had_second=had_second)
        _record(run_id, user, who, None)
        _ask_again(run, announces=False)


def _check_seen(run: Run, who: User | Group, seen: str | None) -> None:
    """Raises DecisionRefused if the run is not shared as it was on the page: `seen` is the level, or `NOT_SHARED`."""
    level = run.shares.filter(**_named(who)).values_list("level", flat=True).first()
    if seen is None or seen == (level or NOT_SHARED):
        return
    now = {ShareLevel.LOOK: "may look", ShareLevel.DECIDE: "may look and decide"}
    may = now[ShareLevel(level)] if level else "has no share in the run"
    raise DecisionRefused(f"This was changed since the page was loaded: {_name(who)} {may} now. Choose again.")


def _ask_again(run: Run, *, announces: bool) -> None:
    """Let open decisions be the turn of someone who may decide now, and announce them to people who are new."""
    for gate in run.gates.open().select_related("plan", "assigned_to", "assigned_group"):
        gate.run = run
        assignments.follow_policy(gate)
        if announces:
            outbox.announce_gate(gate)


def open_to_all(run_id: int, user: User, *, is_open: bool) -> None:
    """Let everyone here look at the run, or only those again with whom it is shared. Raises NotAllowed."""
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_manage(user, run)
        if run.open_to_all != is_open:
            event_log.keep(run, open_to_all=is_open)
            _record(run_id, user, None, ShareLevel.LOOK if is_open else None)


def _named(who: User | Group) -> dict[str, Any]:
    return {"group" if isinstance(who, Group) else "user": who}


def _name(who: User | Group) -> str:
    return f"the group {who.name}" if isinstance(who, Group) else who.get_username()


def _record(run_id: int, user: User, who: User | Group | None, level: ShareLevel | None) -> None:
    """In the history and the audit trail. Without `who`: everyone here."""
    is_group = isinstance(who, Group)
    name = str(who or "")
    event_log.record(run_id, events.Shared(by=user.get_username(), who=name, is_group=is_group, level=level))
    _record_in_trail(run_id, user, who, level)


def _record_in_trail(run_id: int, user: User, who: User | Group | None, level: ShareLevel | None) -> None:
    audit_trail.record(
        AuditKind.SHARED if level else AuditKind.UNSHARED,
        by=user,
        run_id=run_id,
        subject=_name(who) if who else "everyone here",
        person=who.pk if isinstance(who, User) else None,
        after=level or "",
    )


def _keep_second_person(run: Run, who: User | Group, *, had_second: bool) -> None:
    """Raises InvalidInput if a second person has to approve and no one is left who can."""
    if second_person.may_be_needed(run) and had_second and not second_person.has_one(run):
        raise InvalidInput(
            f"A second person has to approve in this run, and {_name(who)} is the only one. Share it with someone else "
            "for decisions first."
        )
