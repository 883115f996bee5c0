"""What is left of the quotas of a person and their groups, and refusing what goes beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.conf import settings
from django.contrib.auth.models import Group
from django.db.models import Sum
from django.utils import timezone

from runs.contracts.quotas import Quota, Quotas
from runs.errors import InvalidInput
from runs.models import DeletedRun, ModelCall, Run, User
from runs.pev.policy import Policy
from runs.store import event_log
from runs.text.plural import pluralize

_GIGABYTE = 10**9
_ZERO = Decimal(0)


@dataclass(frozen=True)
class Room:
    """What is left of one quota, and whose it is, as in “your quota” or “the quota of the group Legal”.

    None where it sets no limit. Never below 0, also where a quota was lowered.
    """

    whose: str
    runs: int | None = None
    bytes: int | None = None
    usd: Decimal | None = None


def rooms_of(owner: User) -> list[Room]:
    """What is left of each quota that covers a person."""
    return [_room(whose, quota, members) for whose, quota, members in _quotas_of(owner)]


def left_for(owner: User) -> Room:
    """The least that is left of all quotas that cover a person."""
    rooms = rooms_of(owner)
    return Room(
        "",
        min((room.runs for room in rooms if room.runs is not None), default=None),
        min((room.bytes for room in rooms if room.bytes is not None), default=None),
        min((room.usd for room in rooms if room.usd is not None), default=None),
    )


def check_submission(owner: User, policy: Policy, size: int) -> None:
    """Raises InvalidInput if there is no room for another run with files of `size` bytes.

    Within a transaction, submissions that the same quotas cover wait for each other.
    """
    _lock(owner)
    for room in rooms_of(owner):
        if room.runs == 0:
            raise InvalidInput(
                f"There is no room for another run in {room.whose}. Finish, stop or decide one that is open, then "
                "submit this one again."
            )
        _check_storage(room, size)
        if not policy.by_rules:  # which cost nothing
            _check_budget(room, policy.budget)


def check_more_files(run: Run, size: int) -> None:
    """Raises InvalidInput if the quotas of its owner leave no room for `size` bytes more in a run."""
    _lock(run.owner)
    for room in rooms_of(run.owner):
        _check_storage(room, size)


def check_higher_budget(run: Run, budget: Decimal) -> None:
    """Raises InvalidInput if the quotas of its owner do not leave what a higher budget of a run adds."""
    _lock(run.owner)
    for room in rooms_of(run.owner):
        more = budget - (run.policy.budget or _ZERO)
        if room.usd is not None and more > room.usd:
            most = room.usd + (run.policy.budget or _ZERO)
            raise InvalidInput(
                f"Only ${room.usd:,.2f} are left in {room.whose}: the budget can be ${most:,.2f} at most."
            )


def _check_storage(room: Room, size: int) -> None:
    if room.bytes is not None and size > room.bytes:
        raise InvalidInput(
            f"The files have {_gigabytes(size)}, and {_gigabytes(room.bytes)} are left in {room.whose}. Delete runs "
            "that are not needed any more, or send fewer files."
        )


def _check_budget(room: Room, budget: Decimal | None) -> None:
    if room.usd is None:
        return
    if room.usd == 0:
        raise InvalidInput(f"Nothing is left of this month's money in {room.whose}. An administrator can raise it.")
    if budget is None:
        raise InvalidInput(
            f"{room.whose.capitalize()} limits what a month may cost, so the run needs a budget. {_left(room)}"
        )
    if budget > room.usd:
        raise InvalidInput(f"The budget of ${budget:,.2f} is more than is left in {room.whose}. {_left(room)}")


def _left(room: Room) -> str:
    return f"Give it ${room.usd:,.2f} at most."


def _quotas_of(owner: User) -> Iterator[tuple[str, Quota, Sequence[int]]]:
    """Each quota that covers a person: whose it is, what it allows, and the ids of those who share it."""
    quotas: Quotas = settings.QUOTAS
    if not quotas.is_set:
        return
    yield "your quota", quotas.people.get(owner.get_username(), quotas.everyone), [owner.pk]
    for group in owner.groups.filter(name__in=quotas.groups).order_by("name"):
        members = list(User.objects.filter(groups=group).values_list("pk", flat=True))
        yield f"the quota of the group {group.name}", quotas.groups[group.name], members


def _room(whose: str, quota: Quota, members: Sequence[int]) -> Room:
    runs = Run.objects.filter(owner__in=members)
    return Room(
        whose,
        None if quota.runs is None else max(0, quota.runs - runs.unfinished().count()),
        None if quota.gigabytes is None else max(0, int(quota.gigabytes * _GIGABYTE) - _stored(members)),
        None if quota.usd is None else max(_ZERO, quota.usd - _spent(members)),
    )


def _stored(members: Sequence[int]) -> int:
    """Bytes of the files of all runs. Files that several runs share count for each of them."""
    return Run.objects.filter(owner__in=members).order_by().aggregate(sum=Sum("head__total_size"))["sum"] or 0


def _spent(members: Sequence[int]) -> Decimal:
    """USD of this month: spent, also by runs that were deleted, and what the budgets of open runs still allow."""
    # Months are those of the installation. In the zone of the person, a move to another zone would begin a new month.
    now = timezone.localtime(timezone=timezone.get_default_timezone())
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    calls = ModelCall.objects.filter(run__owner__in=members, created_at__gte=month).order_by()
    deleted = DeletedRun.objects.filter(owner__in=members, finished_at__gte=month).order_by()
    spent = calls.aggregate(sum=Sum("cost_usd"))["sum"] or _ZERO
    gone = deleted.aggregate(sum=Sum("cost_usd"))["sum"] or _ZERO
    open_runs = (
        Run.objects.unfinished().filter(owner__in=members).order_by().annotate(spent=Sum("model_calls__cost_usd"))
    )
    reserved = (
        max(_ZERO, policy.budget - (cost or _ZERO))
        for policy, cost in open_runs.values_list("policy", "spent")
        if policy.budget is not None
    )
    return spent + gone + sum(reserved, _ZERO)


def _lock(owner: User) -> None:
    event_log.lock_rows(User.objects.filter(pk=owner.pk))
    event_log.lock_rows(Group.objects.filter(user=owner, name__in=settings.QUOTAS.groups))


def _gigabytes(size: int) -> str:
    return f"{size / _GIGABYTE:,.2f} GB"


def words(room: Room) -> list[str]:
    """What is left, in words, for the person whose quota it is."""
    found = []
    if room.runs is not None:
        found.append(pluralize(room.runs, "more run at the same time", "more runs at the same time"))
    if room.bytes is not None:
        found.append(f"{_gigabytes(room.bytes)} for files")
    if room.usd is not None:
        found.append(f"${room.usd:,.2f} this month, budgets of open runs counted as spent")
    return found
