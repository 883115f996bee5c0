"""Who may do what. Each rule is stated once: `check_can_x` raises NotAllowed, `can_x` returns a boolean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, Permission
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from runs.enums import GateKind, GateStatus, ShareLevel
from runs.errors import NotAllowed
from runs.models import Gate, Plan, Run, Share, Template, User
from runs.models.gates import guards_high_risk
from runs.models.people import ADMINISTER, DECIDE, SUBMIT
from runs.models.querysets import GateQuerySet, RunQuerySet, one_of
from runs.store import event_log

type Person = User | AnonymousUser
_MAY_LOOK = "You may look at this run, but not decide in it."


def is_administrator(user: Person) -> bool:
    return isinstance(user, User) and user.is_administrator


def administrators() -> QuerySet[User]:
    """Everyone who `is_administrator`."""
    return _holding(ADMINISTER)


def _holding(permission: str) -> QuerySet[User]:
    """The active people with a permission.

    The same as Django's `with_perm`, which looks the permission up for each person: with 2,000 people it takes seconds.
    """
    app, codename = permission.split(".")
    rows = Permission.objects.filter(content_type__app_label=app, codename=codename).values("pk")
    groups = Group.permissions.through.objects.filter(permission_id__in=rows).values("group_id")
    members = User.groups.through.objects.filter(group_id__in=groups).values("user_id")
    own = User.user_permissions.through.objects.filter(permission_id__in=rows).values("user_id")
    return User.objects.filter(Q(is_superuser=True) | Q(pk__in=members) | Q(pk__in=own), is_active=True)


def possible_deciders() -> QuerySet[User]:
    """The active people whose role lets them decide in runs that are shared for it."""
    return _holding(DECIDE)


def visible_runs(user: Person) -> RunQuerySet:
    """The runs this person may see: their own, those shared with them, open ones; all of them for an administrator.

    For one run, `find_visible_run` is quicker.
    """
    if not user.is_authenticated:
        return Run.objects.none()
    if is_administrator(user):
        return Run.objects.all()
    shared = Q(pk__in=_shared_with(user).values("run_id"))
    return Run.objects.filter(Q(owner_id=user.pk) | Q(open_to_all=True) | shared)


def _shared_with(user: User) -> QuerySet[Share]:
    groups = User.groups.through.objects.filter(user_id=user.pk)
    return Share.objects.filter(Q(user_id=user.pk) | Q(group_id__in=groups.values("group_id")))


def decidable_runs(user: Person) -> RunQuerySet:
    """The runs in which this person may decide: the condition of `can_decide` for lists."""
    return Run.objects.filter(_decidable(user)) if user.is_authenticated else Run.objects.none()


def _decidable(user: Person) -> Q:
    """The condition on runs under which a person who is signed in may decide in them."""
    return Q() if is_administrator(user) else _decidable_by_name(user)


def _decidable_by_name(user: Person) -> Q:
    """The same for a person as one of `named_deciders`."""
    assert isinstance(user, User)
    allowed = Q(pk__in=[])
    if user.may_submit:
        allowed |= Q(owner_id=user.pk)
    if user.may_decide:
        allowed |= Q(pk__in=_shared_with(user).filter(level=ShareLevel.DECIDE).values("run_id"))
    return allowed


def approvable_gates(user: Person, runs: RunQuerySet | None = None) -> GateQuerySet:
    """The open gates that wait for this person, because they may approve. Other gates they can only reject. `runs`:
    only gates of these, which are some of `decidable_runs`.
    """
    if not user.is_authenticated:
        return Gate.objects.none()
    gates = Gate.objects.open().filter(_not_as_first_person("", "run__owner_id", "run_id", user.pk))
    if runs is None:
        if is_administrator(user):
            return gates
        runs = decidable_runs(user)
    # Few gates are open, so that it is quicker to look up the run of each.
    return gates.filter(Exists(runs.filter(pk=OuterRef("run_id"))))


def approvable_as_read(user: Person, gates: Iterable[Gate], owners: Mapping[int, int] | None = None) -> set[int]:
    """The ids of the gates that this person may approve (see `approvable_gates`), by what was just read of them.
    `owners`: those of the runs of these gates, if they are known.

    For a few gates this is quicker: most are about one's own runs, which takes one small query at the most.
    """
    gates = [gate for gate in gates if gate.status == GateStatus.OPEN]
    if not isinstance(user, User) or not gates:
        return set()
    runs = {gate.run_id for gate in gates}
    if owners is None:
        owners = dict(Run.objects.filter(pk__in=runs).order_by().values_list("pk", "owner_id"))
    if not is_administrator(user):
        own = {run for run in runs if owners.get(run) == user.pk and user.may_submit}
        others = runs - own
        shares = _shared_with(user).filter(level=ShareLevel.DECIDE, run_id__in=others)
        shared = shares.values_list("run_id", flat=True) if others and user.may_decide else ()
        runs = own | set(shared)
    guarded = {gate.run_id for gate in gates if gate.needs_second_person} & runs
    as_first_person = _took_part_in(user, guarded) | {run for run in guarded if owners.get(run) == user.pk}
    return {
        gate.pk
        for gate in gates
        if gate.run_id in runs and not (gate.needs_second_person and gate.run_id in as_first_person)
    }


def _took_part_in(user: User, runs: Collection[int]) -> set[int]:
    """Those of these runs in which the person has edited a plan, or has given files for it."""
    if not runs:
        return set()
    edited = Plan.objects.filter(run__in=runs, author=user).order_by().values_list("run_id", flat=True)
    gave = files_for_plans().filter(run__in=runs, decided_by=user).order_by().values_list("run_id", flat=True)
    return {*edited, *gave}


def gates_asking(user: User) -> QuerySet[Gate]:
    """The open gates of which this person is one of `people_asked`."""
    gates = Gate.objects.open().filter(_not_as_first_person("", "run__owner_id", "run_id", user.pk))
    return gates.filter(Exists(Run.objects.filter(_decidable_by_name(user), pk=OuterRef("run_id"))))


def awaiting(user: Person, *conditions: Q) -> RunQuerySet:
    """The runs that wait for this person, with one row for each question.

    The condition is that of `approvable_gates`, as a join: with ten thousand open gates it takes half the time of a
    subquery.
    """
    if not user.is_authenticated:
        return Run.objects.none()
    own = _not_as_first_person("gates__", "owner_id", "pk", user.pk)
    return decidable_runs(user).filter(*conditions, own, gates__status=GateStatus.OPEN)


def _not_as_first_person(gate: str, owner: str, run: str, person: int | str) -> Q:
    """The condition on gates under which this person may approve, as far as a second person is needed (see
    `first_people` and `Gate.needs_second_person`). `gate`, `owner` and `run` lead to the columns; a text as `person`
    leads to the column with the person.
    """
    none_needed = Q(**{f"{gate}second_person": False})
    if guards_high_risk():
        none_needed &= Q(**{f"{gate}high_risk": False})
    own, inner = (F(person), OuterRef(person)) if isinstance(person, str) else (person, person)
    edited = Plan.objects.filter(run_id=OuterRef(run), author_id=inner)
    gave = files_for_plans().filter(run_id=OuterRef(run), decided_by_id=inner)
    return none_needed | (~Q(**{owner: own}) & ~Exists(edited) & ~Exists(gave))


def gates_of_others() -> QuerySet[Gate]:
    """The open gates that are the turn of a person who may not approve them any more."""
    shared = deciding_shares().filter(Q(member=OuterRef("assigned_to_id")), run_id=OuterRef("run_id"))
    owner = Q(assigned_to_id=F("run__owner_id"), assigned_to__in=_holding(SUBMIT).values("pk"))
    may = owner | Q(Exists(shared)) | Q(assigned_to__in=administrators().values("pk"))
    fits = may & _not_as_first_person("", "run__owner_id", "run_id", "assigned_to_id")
    return Gate.objects.open().known().filter(~fits, assigned_to__isnull=False)


def deciding_shares() -> QuerySet[Share]:
    """The shares that let someone decide, with a row for each `member` of a group."""
    shares = Share.objects.filter(level=ShareLevel.DECIDE).annotate(member=Coalesce("user_id", "group__user__id"))
    return shares.filter(member__in=possible_deciders().values("pk"))


def files_for_plans() -> QuerySet[Gate]:
    """The questions about a plan that people answered with files, which changes what the plan works on."""
    return Gate.objects.filter(kind=GateKind.PLAN, status=GateStatus.SUPPLIED)


def part_in_plan(user: User, run: Run) -> str:
    """What a person did for the plan that a second person approves, as the rest of a sentence; empty for a second
    person.
    """
    if user.pk == run.owner_id:
        return "submitted the task"
    if run.plans.filter(author_id=user.pk).exists():
        return "edited the plan"
    return "gave files for the plan" if files_for_plans().filter(run=run, decided_by=user).exists() else ""


def first_people(run: Run) -> list[User]:
    """Everyone who is no second person, because they submitted the task, edited its plan, or gave files for it: the
    owner first.
    """
    others = User.objects.filter(_took_part(run)).exclude(pk=run.owner_id)
    return [run.owner, *others.order_by("username")]


def _took_part(run: Run) -> Q:
    """The condition on people for having edited a plan of this run, or having given files for it."""
    edited = run.plans.filter(author__isnull=False).values("author_id")
    return Q(pk__in=edited) | Q(pk__in=files_for_plans().filter(run=run).values("decided_by_id"))


def visible_templates(user: Person) -> QuerySet[Template]:
    """The templates this person may see: their own, and no one else's, not even as an administrator."""
    return Template.objects.filter(owner_id=user.pk) if user.is_authenticated else Template.objects.none()


def can_see(user: Person, run: Run) -> bool:
    """Whether the run is one of `visible_runs` now, whatever has changed since it was read."""
    return visible_runs(user).filter(pk=run.pk).exists()


def can_see_as_read(user: Person, run: Run) -> bool:
    """The same as `can_see`, by what was just read of the run. For one's own and for open runs it takes no query."""
    if not user.is_authenticated:
        return False
    if run.owner_id == user.pk or run.open_to_all or is_administrator(user):
        return True
    return _shared_with(user).filter(run_id=run.pk).exists()


def find_visible_run(user: Person, number: int, *related: str, only: Sequence[str] = ()) -> Run | None:
    """The run with this number, with these related rows; None if the person may see no such run. `only`: read
    just these fields, and those that the rule needs.
    """
    found = Run.objects.filter(pk=number)
    if only:
        found = found.only("owner", "open_to_all", *only)
    run = one_of(found.select_related(*related) if related else found)
    return run if run is not None and can_see_as_read(user, run) else None


def who_can_see(run: Run, people: Iterable[User]) -> set[int]:
    """The ids of the people who may see this run (see `can_see`), in two queries for any number of people."""
    asked = {one.pk for one in people if one.is_active}
    if run.open_to_all:
        return asked
    named = asked & {run.owner_id, *_people_of(run.shares.all()).filter(pk__in=asked).values_list("pk", flat=True)}
    return named | set(administrators().filter(pk__in=asked - named).values_list("pk", flat=True))


def named_deciders(run: Run) -> QuerySet[User]:
    """The active people who may decide in a run because they own it or it is shared with them, by name."""
    shared = _people_of(run.shares.filter(level=ShareLevel.DECIDE))
    allowed = Q(pk=run.owner_id, pk__in=_holding(SUBMIT).values("pk"))
    allowed |= Q(pk__in=shared.values("pk")) & Q(pk__in=_holding(DECIDE).values("pk"))
    return User.objects.filter(allowed, is_active=True).order_by("username")


def deciders(run: Run) -> QuerySet[User]:
    """Everyone who may decide in a run (see `can_decide`): those who are named in it, and administrators."""
    return User.objects.filter(Q(pk__in=named_deciders(run).values("pk")) | Q(pk__in=administrators().values("pk")))


def second_people(people: QuerySet[User], run: Run) -> QuerySet[User]:
    """Those of these people who are not among the `first_people` of a run."""
    return people.exclude(_took_part(run)).exclude(pk=run.owner_id)


def people_asked(gate: Gate) -> QuerySet[User]:
    """For whom an open gate waits: those who are named in its run and may approve it."""
    people = named_deciders(gate.run)
    return second_people(people, gate.run) if gate.needs_second_person else people


def possible_approvers(gate: Gate) -> QuerySet[User]:
    """Everyone who may approve an open gate (see `approvable_gates`)."""
    people = deciders(gate.run)
    return second_people(people, gate.run) if gate.needs_second_person else people


def _people_of(shares: QuerySet[Share]) -> QuerySet[User]:
    """The people with whom a run is shared, by name or by a group."""
    members = User.groups.through.objects.filter(group_id__in=shares.values("group_id"))
    return User.objects.filter(Q(pk__in=shares.values("user_id")) | Q(pk__in=members.values("user_id")))


def as_of_now(user: Person) -> Person:
    """The person as they are now, locked in a transaction until it ends.

    What people change is checked with this. The person of a request was read when it began: an upload may take
    minutes, and a transaction may wait for others. Deactivating people and changing their roles locks the same row, so
    that each change comes before that or after it, also in the audit trail.
    """
    if not isinstance(user, User):
        return user
    if connection.in_atomic_block:
        event_log.lock_rows(User.objects.filter(pk=user.pk), no_key=True)
    return User.objects.get(pk=user.pk)


def check_can_submit(user: Person) -> None:
    """Raises NotAllowed."""
    if not (isinstance(user, User) and user.may_submit):
        raise NotAllowed("Your role does not allow you to submit tasks. An administrator can give you another one.")


def can_manage(user: Person, run: Run) -> bool:
    """Whether a person may share, rename, archive and delete a run: the owner, or an administrator if that one left."""
    return user.is_active and (user.pk == run.owner_id or is_administrator(user))


def check_can_manage(user: Person, run: Run) -> None:
    """Raises NotAllowed."""
    if not can_manage(as_of_now(user), run):
        raise NotAllowed(
            "Only the person who submitted the task or an administrator can share, rename, archive or delete it."
        )


def can_decide(user: Person, run: Run) -> bool:
    """Whether a person may answer gates of a run, edit its plan, stop it and pause it."""
    return decidable_runs(user).filter(pk=run.pk).exists()


def check_can_decide(user: Person, run: Run) -> None:
    """Raises NotAllowed."""
    if why := why_not_decide(as_of_now(user), run):
        raise NotAllowed(why)


def why_not_decide(user: Person, run: Run) -> str:
    """Why a person may not decide in a run, and what helps; empty if they may."""
    if can_decide(user, run):
        return ""
    if not can_see(user, run):
        return "You may not decide anything in this run."
    assert isinstance(user, User)
    if user.pk == run.owner_id or _shared_with(user).filter(run_id=run.pk, level=ShareLevel.DECIDE).exists():
        return f"{_MAY_LOOK} Your role does not allow it; an administrator can give you another one."
    return f"{_MAY_LOOK} Its owner can share it with you for that."


def shows_before(run: Run) -> bool:
    """Whether there is a run before this one, and everyone who may see this one may see that too. Only then pages and
    reports show details of that.
    """
    before = one_of(Run.objects.filter(pk=run.before_id).only("owner", "open_to_all")) if run.before_id else None
    if before is None:
        return False
    if before.open_to_all or run.open_to_all:
        return before.open_to_all
    people, groups = _named(run)
    known_people, known_groups = _named(before)
    return people <= known_people and groups <= known_groups


def _named(run: Run) -> tuple[set[int | None], set[int | None]]:
    """The ids of the people and the groups that may see a run."""
    rows = list(run.shares.values_list("user_id", "group_id"))
    return {run.owner_id, *(user for user, _ in rows if user)}, {group for _, group in rows if group}


def needing_second_factor(people: Iterable[User]) -> set[int]:
    """The ids of those from whom the installation demands a second factor: at most one query."""
    asked = {person.pk for person in people}
    if settings.SECOND_FACTOR == "administrators":
        return set(administrators().filter(pk__in=asked).values_list("pk", flat=True))
    return asked if settings.SECOND_FACTOR == "everyone" else set()


def lacking_second_factor(people: Iterable[User]) -> set[int]:
    """The ids of those who must add a passkey or an authenticator app before they go on: at most two queries."""
    required = needing_second_factor(people)
    if not required:
        return set()
    types = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return required - set(
        Authenticator.objects.filter(user__in=required, type__in=types).values_list("user_id", flat=True)
    )
