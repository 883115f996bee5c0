"""Who may do what. Each rule is stated once: `check_can_x` raises NotAllowed, `can_x` returns a boolean."""

from __future__ import annotations

from collections.abc import Iterable

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Exists, OuterRef, Q, QuerySet

from runs.enums import GateStatus
from runs.errors import NotAllowed
from runs.models import Gate, Run, Template, User
from runs.models.querysets import RunQuerySet

type Person = User | AnonymousUser


def is_administrator(user: Person) -> bool:
    """Whether this person may see all runs, and manages people and rows of the installation."""
    return user.is_active and user.is_superuser


def visible_runs(user: Person) -> RunQuerySet:
    """The runs this person may see: their own, those they approve; all of them for an administrator."""
    if not user.is_authenticated:
        return Run.objects.none()
    if is_administrator(user):
        return Run.objects.all()
    named = Run.approvers.through.objects.filter(user_id=user.pk)
    return Run.objects.filter(Q(owner_id=user.pk) | Q(pk__in=named.values("run_id")))


def approvable_gates(user: Person) -> QuerySet[Gate]:
    """The open gates that wait for this person, because they may approve. Other gates they can only reject."""
    gates = Gate.objects.open().filter(Q(second_person=False) | ~Q(run__owner_id=user.pk))
    # Few gates are open, so that it is quicker to look up the run of each.
    return gates if is_administrator(user) else gates.filter(Exists(visible_runs(user).filter(pk=OuterRef("run_id"))))


def awaiting(runs: RunQuerySet, user: Person, *conditions: Q) -> RunQuerySet:
    """The runs that wait for this person, with one row for each question. `runs` must be visible to the person.

    The condition is that of `approvable_gates`, as a join: with ten thousand open gates it takes half the time of a
    subquery.
    """
    return runs.filter(*conditions, Q(gates__second_person=False) | ~Q(owner_id=user.pk), gates__status=GateStatus.OPEN)


def visible_templates(user: Person) -> QuerySet[Template]:
    """The templates this person may see: their own, and no one else's, not even as an administrator."""
    return Template.objects.filter(owner_id=user.pk) if user.is_authenticated else Template.objects.none()


def can_see(user: Person, run: Run) -> bool:
    return visible_runs(user).filter(pk=run.pk).exists()


def who_can_see(run: Run, people: Iterable[User]) -> set[int]:
    """The ids of the people who may see this run (see `can_see`), in one query for any number of people."""
    named = set(Run.approvers.through.objects.filter(run_id=run.pk).values_list("user_id", flat=True))
    return {one.pk for one in people if one.pk == run.owner_id or one.pk in named or is_administrator(one)}


def can_choose_approvers(user: Person, run: Run) -> bool:
    """Whether a person may choose approvers: the owner, or an administrator in case the owner has left."""
    return user.is_active and (user.pk == run.owner_id or is_administrator(user))


def check_can_choose_approvers(user: Person, run: Run) -> None:
    """Raises NotAllowed."""
    if not can_choose_approvers(user, run):
        raise NotAllowed("Only the person who submitted the task or an administrator can choose who else may decide.")


def can_manage(user: Person, run: Run) -> bool:
    """Whether a person may rename, archive and delete a run: the owner, or an administrator if the owner has left."""
    return user.is_active and (user.pk == run.owner_id or is_administrator(user))


def check_can_manage(user: Person, run: Run) -> None:
    """Raises NotAllowed."""
    if not can_manage(user, run):
        raise NotAllowed("Only the person who submitted the task or an administrator can rename, archive or delete it.")


def check_can_decide(user: Person, run: Run) -> None:
    """Raises NotAllowed for a person who may not answer gates of the run. Everyone who may see it may answer."""
    if not can_see(user, run):
        raise NotAllowed("You may not decide anything in this run.")


def all_may_see(before: Run, run: Run) -> bool:
    """Whether everyone who may see a run may also see the one before. Only then its pages show details of that."""
    known = {before.owner_id, *before.approvers.values_list("pk", flat=True)}
    return {run.owner_id, *run.approvers.values_list("pk", flat=True)} <= known


def lacking_second_factor(people: Iterable[User]) -> set[int]:
    """The ids of those who must add a passkey or an authenticator app before they go on: at most one query."""
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
