"""Roles: Django groups with permissions. Rules ask for permissions (`permissions`), never for the name of a group.

The other groups of the installation are teams, with which runs are shared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import QuerySet

from runs.enums import PersonRole
from runs.models import Run, User

PERMISSIONS: Mapping[PersonRole, tuple[str, ...]] = {
    PersonRole.VIEWER: ("view_run",),
    PersonRole.SUBMITTER: ("view_run", "add_run"),
    PersonRole.APPROVER: ("view_run", "decide_run"),
    PersonRole.ADMINISTRATOR: ("view_run", "add_run", "decide_run", "administer"),
}
"""The permissions on runs that each role begins with. Administrators of the database may change them."""
DESCRIPTIONS: Mapping[PersonRole, str] = {
    PersonRole.VIEWER: "sees what is shared with them",
    PersonRole.SUBMITTER: "submits tasks, and decides in their own runs",
    PersonRole.APPROVER: "decides in the runs of others that are shared for it",
    PersonRole.ADMINISTRATOR: "sees all runs, decides in them, and manages people",
}
NEW_PEOPLE = (PersonRole.SUBMITTER, PersonRole.APPROVER)
"""The roles of people for whom no one has chosen others."""


def make_groups(**_: Any) -> None:
    """Make the groups of the roles after a migration. Groups that have permissions already are left as they are."""
    complete = set(Group.objects.filter(permissions__isnull=False).values_list("name", flat=True))
    for role in PersonRole:
        if role not in complete:
            group, _created = Group.objects.get_or_create(name=role.value)
            model = Permission.objects.filter(
                content_type__app_label=Run._meta.app_label, content_type__model=Run._meta.model_name
            )
            group.permissions.set(model.filter(codename__in=PERMISSIONS[role]))


def groups_of(roles: Collection[PersonRole]) -> QuerySet[Group]:
    return Group.objects.filter(name__in=[role.value for role in roles])


def teams() -> QuerySet[Group]:
    """The groups that are no roles, by name."""
    return Group.objects.exclude(name__in=list(PersonRole)).order_by("name")


def roles_of(person: User) -> list[PersonRole]:
    """Their roles, in the order of the enumeration. Django's superusers are administrators too."""
    names = {group.name for group in person.groups.all()}
    return [role for role in PersonRole if role in names or (role is PersonRole.ADMINISTRATOR and person.is_superuser)]
