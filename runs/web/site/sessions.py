"""Sessions for pages and sockets: their store, how they begin and end, who is signed in, and who was refused."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, logout
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.deprecation import MiddlewareMixin

from runs.errors import NotAllowed
from runs.logs import about
from runs.models import User
from runs.people.identity_provider import IdentityProvider
from runs.web.site import refusals
from runs.web.site.requests import about_request, is_background_form

log = logging.getLogger(__name__)
_BEGAN = "pev_began"
_USED = "pev_used"
_PROVEN = "pev_proven"
_METHODS = frozenset({"GET", "HEAD", "POST"})
"""Those of browsers. Another one may be any word."""
_KEPT_FOR = 30
"""Seconds for which a use of the session is not written again: a page brings a dozen requests."""


class SessionStore(DatabaseStore):
    """A cookie may contain a NUL, which PostgreSQL refuses in text. Such a key names no session on any database."""

    def __init__(self, session_key: str | None = None) -> None:
        super().__init__(None if "\0" in (session_key or "") else session_key)


@receiver(user_logged_in)
def begin(request: HttpRequest, **_: object) -> None:
    """Note that a person has just signed in with this session."""
    request.session[_BEGAN] = request.session[_USED] = time.time()
    request.session.pop(_PROVEN, None)


def note_proof(session: SessionBase, at: float | None) -> None:
    """Note when the person has shown an identity provider who they are: maybe long before the session, or unknown."""
    session[_PROVEN] = at or 0


def proven_within(session: SessionBase, seconds: float) -> bool:
    """Whether the person has shown who they are, for this session, in the last so many seconds."""
    return time.time() - float(session.get(_PROVEN, session.get(_BEGAN, 0))) < seconds


def has_provider_factor(session: SessionBase | Mapping[str, Any]) -> bool:
    """Whether the person signed in through an identity provider that has asked them for a second factor."""
    provider: IdentityProvider | None = settings.IDENTITY_PROVIDER
    if provider is None or not provider.has_second_factor:
        return False
    return any(record["method"] == "socialaccount" for record in session.get(AUTHENTICATION_METHODS_SESSION_KEY, ()))


def ends_at(session: SessionBase | Mapping[str, Any], person: User) -> float | None:
    """When the session ends, in seconds since 1970; None if it ends when its row expires.

    Ending all sessions of a person ends those that began before, also one that was being made at the same moment.
    """
    if person.signed_out_at is not None and session.get(_BEGAN, 0) < person.signed_out_at.timestamp():
        return 0
    limits = ((_BEGAN, settings.SESSION_COOKIE_AGE), (_USED, settings.SESSION_IDLE))
    ends = [session[name] + limit for name, limit in limits if limit and name in session]
    return min(ends, default=None)


class Holder(NamedTuple):
    """Who is signed in with a session, when it ends in seconds since 1970, and whether it needs no factor besides."""

    person: User
    ends: float | None
    has_factor: bool


def holders(session_keys: Collection[str]) -> dict[str, Holder]:
    """Who is signed in with each of these sessions as of now, and when it ends; those that are over are left out.

    Read from the rows by two queries: a session may have been signed out, ended with all others of the person, or run
    out. It is Django's own rule for one request, applied to many sessions.
    """
    rows = SessionStore.get_model_class().objects.filter(session_key__in=session_keys, expire_date__gt=timezone.now())
    sessions = {row.session_key: row.get_decoded() for row in rows}
    people = User.objects.filter(is_active=True).in_bulk({session.get(SESSION_KEY) for session in sessions.values()})
    held = {}
    now = time.time()
    for key, session in sessions.items():
        person = people.get(int(session.get(SESSION_KEY) or 0))
        if person is None or not _is_bound_to(session, person):
            continue
        ends = ends_at(session, person)
        if ends is None or ends > now:
            held[key] = Holder(person, ends, has_provider_factor(session))
    return held


def _is_bound_to(session: Mapping[str, Any], person: User) -> bool:
    """Whether the person's password is still the one with which the session began."""
    known = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    bound = str(session.get(HASH_SESSION_KEY, ""))
    right_backend = session.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
    return right_backend and any(constant_time_compare(bound, one) for one in known)


def holder(session_key: str | None) -> Holder:
    """Who is signed in with this session now. Raises NotAllowed if no one is."""
    found = holders([session_key]) if session_key else {}
    if not session_key or session_key not in found:
        raise NotAllowed("You are signed out.")
    return found[session_key]


class SessionLimits(MiddlewareMixin):
    """Comes after sessions and users: signs out people whose session is over, and records that a session is used."""

    def process_request(self, request: HttpRequest) -> None:
        if not request.user.is_authenticated:
            return
        now = time.time()
        assert isinstance(request.user, User)
        ends = ends_at(request.session, request.user)
        if ends is not None and ends <= now:
            logout(request)
        elif settings.SESSION_IDLE:
            # An open page asks by itself, as the inbox does. Only what a person does keeps a session alive.
            if request.method == "GET" and "HX-Request" in request.headers and _USED in request.session:
                return
            written = request.session.get(_USED, 0)
            if now - written >= min(_KEPT_FOR, settings.SESSION_IDLE / 4):
                request.session[_USED] = now


class SignInRequired(LoginRequiredMiddleware):
    """Sends those who have not signed in to do so; what a page sends in the background is answered with 401 instead.

    The page then says at the button that nothing was sent, and keeps what was typed: a redirect would lead away.
    """

    def handle_no_permission(  # type: ignore[override]  # any answer will do; the one of Django is a redirect
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if is_background_form(request) or (request.method == "POST" and "HX-Request" in request.headers):
            return HttpResponse("You are signed out.", status=HTTPStatus.UNAUTHORIZED)
        return super().handle_no_permission(request, view_func)


class Refusals(MiddlewareMixin):
    """Logs refused requests by the name of the page, and records those of people who have signed in. An address is text
    of strangers, and may contain a token.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        page = request.resolver_match
        is_refused = response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}
        if page is not None and (is_refused or hasattr(request, "refused_in")):
            fields = about_request(request)
            if "run_id" in page.kwargs:
                fields["run"] = page.kwargs["run_id"]
            line = "refused: %s of the page “%s” with %s"
            log.warning(line, request.method, page.view_name, response.status_code, extra=about(**fields))
            if isinstance(request.user, User):
                method = request.method if request.method in _METHODS else "another method"
                what = f"{method} {refusals.page_named(page.route)}"
                why = "not found" if response.status_code == HTTPStatus.NOT_FOUND else "not allowed"
                run_id = getattr(request, "refused_in", page.kwargs.get("run_id"))
                refusals.request_refused(request.user, what, why, run_id)
        return response
