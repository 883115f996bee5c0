"""The page of people, for administrators: who may sign in, links for them, and ending their sessions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial, wraps

from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from runs.enums import LinkKind
from runs.errors import InvalidInput
from runs.logs import about
from runs.models import AccessToken, User
from runs.people import access_tokens, accounts
from runs.people.permissions import is_administrator
from runs.web.people.sign_in_pages import link_for
from runs.web.site.posted_fields import PostedForm, Text, verbs
from runs.web.site.requests import about_request

log = logging.getLogger(__name__)


def administrators_only(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Everyone else finds no such page (S4)."""

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: int) -> HttpResponse:
        if not is_administrator(request.user):
            raise Http404
        return view(request, **kwargs)

    return checked


class PersonVerb(StrEnum):
    """What an administrator can do with a person."""

    LINK = "link"
    SIGN_OUT = "sign_out"
    DEACTIVATE = "deactivate"
    ACTIVATE = "activate"
    REVOKE = "revoke"
    RESET = "reset"
    PROMOTE = "promote"
    DEMOTE = "demote"


_CHANGES: Mapping[PersonVerb, tuple[Callable[[User], None], str]] = {
    PersonVerb.SIGN_OUT: (
        accounts.sign_out_everywhere,
        "{} is signed out everywhere; unused links and access tokens have ended too.",
    ),
    PersonVerb.DEACTIVATE: (
        accounts.deactivate,
        "{} is no longer active; every session, link and access token has ended.",
    ),
    PersonVerb.REVOKE: (access_tokens.revoke_all, "The access tokens of {} have ended: no program acts for them."),
    PersonVerb.RESET: (
        accounts.reset_sign_in,
        "The passkeys, the password and the codes of {} are removed, and every session has ended. Send a new link.",
    ),
    PersonVerb.ACTIVATE: (accounts.activate, "{} is active again, and needs a link to sign in."),
    PersonVerb.PROMOTE: (partial(accounts.set_administrator, administrator=True), "{} is an administrator now."),
    PersonVerb.DEMOTE: (partial(accounts.set_administrator, administrator=False), "{} is no longer an administrator."),
}


class InviteForm(PostedForm):
    """Invites somebody new. `runs.people.accounts` says what is wrong with a name."""

    user = Text(required=False)
    administrator = forms.BooleanField(required=False)


class PersonForm(PostedForm):
    verb = verbs(PersonVerb)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@administrators_only
@reauthentication_required(allow_get=True)
def people(request: HttpRequest) -> HttpResponse:
    """Everybody. A post invites somebody new and shows the link this once, because it is stored nowhere."""
    if request.method != "POST":
        return _page(request)
    form = InviteForm(request.POST)
    try:
        given = form.checked()
        invited = accounts.invite(given["user"], administrator=given["administrator"])
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
        verb: PersonVerb = PersonForm(request.POST).checked()["verb"]
        if verb is PersonVerb.LINK:
            return _with_link(request, who)
        apply, sentence = _CHANGES[verb]
        apply(who)
    except InvalidInput as error:
        return _page(request, problem=str(error), status=422)
    messages.success(request, sentence.format(who.get_username()))
    log.info("people: %s of “%s”", verb, who.get_username(), extra=about(**about_request(request)))
    return redirect("people")


def _with_link(request: HttpRequest, who: User) -> HttpResponse:
    """For anyone who was here before a short one: it is opened by somebody who waits for it."""
    kind = LinkKind.SIGN_IN if who.last_login else LinkKind.INVITATION
    link = request.build_absolute_uri(link_for(who, kind))
    log.info("people: a link for “%s”", who.get_username(), extra=about(**about_request(request)))
    return _page(request, link=link, link_for=who, lasts="ten minutes" if who.last_login else "seven days")


def _page(request: HttpRequest, *, status: int = 200, **context: object) -> HttpResponse:
    tokens = Count("access_tokens", filter=Q(access_tokens__in=AccessToken.objects.living(timezone.now())))
    everybody = User.objects.annotate(tokens=tokens).order_by("-is_active", "username")
    return render(request, "people/people.html", {"everybody": list(everybody), **context}, status=status)
