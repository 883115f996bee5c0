"""The page of people, for administrators: who may sign in, links for them, and ending their sessions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.enums import LinkKind, PersonRole
from runs.errors import DecisionRefused, InvalidInput, LastSecondPerson
from runs.logs import about
from runs.models import AccessToken, User
from runs.people import access_tokens, accounts
from runs.people.roles import DESCRIPTIONS, NEW_PEOPLE, roles_of, teams
from runs.web.people.sign_in_pages import link_for
from runs.web.site.posted_fields import GroupsField, PostedForm, Text, verbs
from runs.web.site.requests import about_request, administrators_only, searched, status_of

log = logging.getLogger(__name__)
PEOPLE_PER_PAGE = 100
_CONFIRMED = ("verb", "roles", "teams", "team", "seen")
"""The fields that a change which has to be confirmed sends again."""


class PersonVerb(StrEnum):
    """What an administrator can do with a person."""

    LINK = "link"
    SIGN_OUT = "sign_out"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    REVOKE = "revoke"
    RESET = "reset"
    ROLES = "roles"


_CHANGES: Mapping[PersonVerb, tuple[Callable[[User], None], str]] = {
    PersonVerb.SIGN_OUT: (
        accounts.sign_out_everywhere,
        "{} is signed out everywhere; unused links and access tokens have ended too.",
    ),
    PersonVerb.REVOKE: (access_tokens.revoke_all, "The access tokens of {} have ended: no program acts for them."),
    PersonVerb.RESET: (
        accounts.reset_sign_in,
        "The passkeys, the password and the codes of {} are removed, and every session has ended. Send a new link.",
    ),
    PersonVerb.ACTIVATE: (accounts.activate, "{} is active again, and needs a link to sign in."),
}


class RolesField(forms.TypedMultipleChoiceField):
    """Roles, as boxes that are ticked."""

    def __init__(self) -> None:
        super().__init__(
            choices=[(role.value, role.value) for role in PersonRole],
            coerce=PersonRole,
            required=False,
            error_messages={"invalid_choice": "There is no such role."},
        )


class InviteForm(PostedForm):
    """Invites someone new. `runs.people.accounts` says what is wrong with a name, or without a role."""

    user = Text(required=False)
    roles = RolesField()


class TeamVerb(StrEnum):
    ADD = "add"
    DELETE = "delete"


class TeamForm(PostedForm):
    """Adds a group, or deletes one."""

    verb = verbs(TeamVerb)
    name = Text(required=False)
    team = forms.ModelChoiceField(
        teams(), required=False, error_messages={"invalid_choice": "This group does not exist any more."}
    )
    seen = forms.IntegerField(required=False, min_value=0)
    confirmed = forms.BooleanField(required=False)


class PersonForm(PostedForm):
    """`roles` and `teams` (groups by primary key) are those that the person has from now on, for the verb `roles`, and
    `seen` those that they had on the page. `confirmed`: even if a run loses its only second person.
    """

    verb = verbs(PersonVerb)
    roles = RolesField()
    teams = GroupsField(queryset=teams(), required=False, error_messages={"invalid_choice": "There is no such group."})
    seen = Text(required=False, empty_value=None)
    confirmed = forms.BooleanField(required=False)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
@reauthentication_required(allow_get=True)
def people(request: HttpRequest) -> HttpResponse:
    """Everyone. A post invites someone new and shows the link this once, because it is stored nowhere."""
    if request.method != "POST":
        return _page(request)
    form = InviteForm(request.POST)
    try:
        given = form.checked()
        invited = accounts.invite(given["user"], given["roles"])
    except InvalidInput as error:
        return _page(request, problem=str(error), typed=str(form.data.get("user", ""))[:150], status=422)
    return _with_link(request, invited)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
@reauthentication_required(allow_get=True)
def person(request: HttpRequest, person_id: int) -> HttpResponse:
    """Do one thing with one person. A GET leads to the list: a sign-in in between may come back here with one."""
    if request.method != "POST":
        return redirect("people")
    who = get_object_or_404(User, pk=person_id)
    try:
        given = PersonForm(request.POST).checked()
        verb: PersonVerb = given["verb"]
        if verb is PersonVerb.LINK:
            return _with_link(request, who)
        if verb is PersonVerb.ROLES:
            accounts.set_roles(who, given["roles"], given["teams"], seen=given["seen"], confirmed=given["confirmed"])
            sentence = "The roles and groups of {} are changed."
        elif verb is PersonVerb.DEACTIVATE:
            accounts.deactivate(who, confirmed=given["confirmed"])
            sentence = "{} is no longer active; every session, link and access token has ended."
        else:
            apply, sentence = _CHANGES[verb]
            apply(who)
    except LastSecondPerson as error:
        return _to_confirm(request, error, who.get_username())
    except (InvalidInput, DecisionRefused) as error:
        return _page(request, problem=str(error), status=status_of(error))
    messages.success(request, sentence.format(who.get_username()))
    log.info("people: %s of “%s”", verb, who.get_username(), extra=about(**about_request(request)))
    return redirect("people")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
@reauthentication_required(allow_get=True)
def groups(request: HttpRequest) -> HttpResponse:
    """Add a group or delete one. A GET leads to the list, as for `person`."""
    if request.method != "POST":
        return redirect("people")
    try:
        given = TeamForm(request.POST).checked()
        if given["verb"] is TeamVerb.ADD:
            said = f"The group “{accounts.make_team(given['name'])}” is there. Its members are chosen under “Roles”."
        elif given["team"] is None:
            raise InvalidInput("Choose a group.")
        else:
            said = f"The group “{given['team']}” is deleted; its members see only what is shared with them otherwise."
            accounts.delete_team(given["team"], seen=given["seen"], confirmed=given["confirmed"])
    except LastSecondPerson as error:
        return _to_confirm(request, error, str(given["team"]))
    except (InvalidInput, DecisionRefused) as error:
        return _page(request, problem=str(error), status=status_of(error))
    messages.success(request, said)
    return redirect("people")


def _to_confirm(request: HttpRequest, problem: LastSecondPerson, name: str) -> HttpResponse:
    """Ask whether to go on. The question has all that was sent."""
    kept = [(key, value) for key in _CONFIRMED for value in request.POST.getlist(key)]
    words = {"deactivate": f"Deactivate {name}", "roles": f"Change the roles of {name}"}
    button = words.get(request.POST["verb"], f"Delete the group {name}")
    return _page(request, status=409, to_confirm=str(problem), kept=kept, confirm_button=button)


def _with_link(request: HttpRequest, who: User) -> HttpResponse:
    """For anyone who was here before a short one: it is opened by someone who waits for it."""
    kind = LinkKind.SIGN_IN if who.last_login else LinkKind.INVITATION
    link = request.build_absolute_uri(link_for(who, kind))
    log.info("people: a link for “%s”", who.get_username(), extra=about(**about_request(request)))
    return _page(request, link=link, link_for=who, lasts="ten minutes" if who.last_login else "seven days")


def _page(request: HttpRequest, *, status: int = 200, **context: object) -> HttpResponse:
    tokens = Count("access_tokens", filter=Q(access_tokens__in=AccessToken.objects.living(timezone.now())))
    words = searched(request, "q")
    members = User.objects.filter(groups__name__icontains=words)
    found = User.objects.filter(Q(username__icontains=words) | Q(pk__in=members.values("pk")))
    everyone = found.annotate(tokens=tokens).prefetch_related("groups").order_by("-is_active", "username")
    page = Paginator(everyone, PEOPLE_PER_PAGE).get_page(request.GET.get("page", 1))
    there = list(teams().annotate(members=Count("user")))
    rows = [PersonRow(person, there) for person in page]
    roles = [(role, DESCRIPTIONS[role], role in NEW_PEOPLE) for role in PersonRole]
    return render(
        request,
        "people/people.html",
        {"everyone": rows, "page": page, "words": words, "roles": roles, "teams": there, **context},
        status=status,
    )


class PersonRow:
    """A person on the page, with each role and each group, and whether they have it."""

    def __init__(self, person: User, there: Sequence[Group]) -> None:
        held, member = roles_of(person), {group.pk for group in person.groups.all()}
        self.person = person
        self.seen = accounts.groups_seen(person)
        self.roles = [(role, DESCRIPTIONS[role], role in held) for role in PersonRole]
        self.teams = [(team, team.pk in member) for team in there]
        self.named = [*(role.value for role in held), *(team.name for team in there if team.pk in member)]
