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
class QuotaLeft:
    """What is left of one quota, and whose it is, as in “your quota” or “the quota of the group Legal”.

    None where it sets no limit. Never below 0, also where a quota was lowered.
    """

    whose: str
    runs: int | None = None
    bytes: int | None = None
    usd: Decimal | None = None


def quotas_left(owner: User) -> list[QuotaLeft]:
    """What is left of each quota that covers a person."""
    return [_left_of(whose, quota, members) for whose, quota, members in _quotas_of(owner)]


def left_for(owner: User) -> QuotaLeft:
    """The least that is left of all quotas that cover a person."""
    lefts = quotas_left(owner)
    return QuotaLeft(
        "",
        min((left.runs for left in lefts if left.runs is not None), default=None),
        min((left.bytes for left in lefts if left.bytes is not None), default=None),
        min((left.usd for left in lefts if left.usd is not None), default=None),
    )


def check_submission(owner: User, policy: Policy, size: int) -> None:
    """Raises InvalidInput if there is no room for another run with files of `size` bytes.

    Within a transaction, submissions that the same quotas cover wait for each other.
    """
    _lock(owner)
    for left in quotas_left(owner):
        if left.runs == 0:
            raise InvalidInput(
                f"There is no room for another run in {left.whose}. Finish, stop or decide one that is open, then "
                "submit this one again."
            )
        _check_storage(left, size)
        if not policy.by_rules:  # which cost nothing
            _check_budget(left, policy.budget)


def check_more_files(run: Run, size: int) -> None:
    """Raises InvalidInput if the quotas of its owner leave no room for `size` bytes more in a run."""
    _lock(run.owner)
    for left in quotas_left(run.owner):
        _check_storage(left, size)


def check_higher_budget(run: Run, budget: Decimal) -> None:
    """Raises InvalidInput if the quotas of its owner do not leave what a higher budget of a run adds."""
    _lock(run.owner)
    for left in quotas_left(run.owner):
        more = budget - (run.policy.budget or _ZERO)
        if left.usd is not None and more > left.usd:
            most = left.usd + (run.policy.budget or _ZERO)
            raise InvalidInput(
                f"Only ${left.usd:,.2f} are left in {left.whose}: the budget can be ${most:,.2f} at most."
            )


def _check_storage(left: QuotaLeft, size: int) -> None:
    if left.bytes is not None and size > left.bytes:
        raise InvalidInput(
            f"The files have {_gigabytes(size)}, and {_gigabytes(left.bytes)} are left in {left.whose}. Delete runs "
            "that are not needed any more, or send fewer files."
        )


def _check_budget(left: QuotaLeft, budget: Decimal | None) -> None:
    if left.usd is None:
        return
    if left.usd == 0:
        raise InvalidInput(f"Nothing is left of this month's money in {left.whose}. An administrator can raise it.")
    if budget is None:
        raise InvalidInput(
            f"{left.whose.capitalize()} limits what a month may cost, so the run needs a budget. {_give_at_most(left)}"
        )
    if budget > left.usd:
        raise InvalidInput(f"The budget of ${budget:,.2f} is more than is left in {left.whose}. {_give_at_most(left)}")


def _give_at_most(left: QuotaLeft) -> str:
    return f"Give it ${left.usd:,.2f} at most."


def _quotas_of(owner: User) -> Iterator[tuple[str, Quota, Sequence[int]]]:
    """Each quota that covers a person: whose it is, what it allows, and the ids of those who share it."""
    quotas: Quotas = settings.QUOTAS
    if not quotas.is_set:
        return
    yield "your quota", quotas.people.get(owner.get_username(), quotas.everyone), [owner.pk]
    for group in owner.groups.filter(name__in=quotas.groups).order_by("name"):
        members = list(User.objects.filter(groups=group).values_list("pk", flat=True))
        yield f"the quota of the group {group.name}", quotas.groups[group.name], members


def _left_of(whose: str, quota: Quota, members: Sequence[int]) -> QuotaLeft:
    runs = Run.objects.filter(owner__in=members)
    return QuotaLeft(
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


def words(left: QuotaLeft) -> list[str]:
    """What is left, in words, for the person whose quota it is."""
    found = []
    if left.runs is not None:
        found.append(pluralize(left.runs, "more run at the same time", "more runs at the same time"))
    if left.bytes is not None:
        found.append(f"{_gigabytes(left.bytes)} for files")
    if left.usd is not None:
        found.append(f"${left.usd:,.2f} this month, budgets of open runs counted as spent")
    return found
