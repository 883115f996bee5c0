"""Sessions: how one begins and ends, who is signed in with it, for pages and sockets alike, and who was refused."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user, login, logout
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from runs.errors import NotAllowed
from runs.logs import About, about
from runs.models import User

log = logging.getLogger(__name__)
BACKEND = "django.contrib.auth.backends.ModelBackend"
_BEGAN = "pev_began"
_USED = "pev_used"
_KEPT_FOR = 30
"""Seconds for which a use of the session is not written again: a page brings a dozen requests."""


def begin(request: HttpRequest, person: User) -> None:
    """Sign in, in a session of its own: nothing of the one before is left, whose sockets close."""
    request.session.flush()
    login(request, person, backend=BACKEND)
    request.session[_BEGAN] = request.session[_USED] = int(time.time())


def ends_at(session: SessionBase) -> float | None:
    """When the session is over, in seconds since 1970; None for one of before, which ends when its row expires."""
    limits = ((_BEGAN, settings.SESSION_COOKIE_AGE), (_USED, settings.SESSION_IDLE))
    ends = [session[name] + limit for name, limit in limits if limit and name in session]
    return min(ends, default=None)


def holder(session_key: str | None) -> tuple[User, float | None]:
    """Who is signed in with this session as of now, and when it ends. Raises NotAllowed when no one is any more.

    Read from the rows: the session may have been signed out, ended with all others of the person, or run out.
    """
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    person = get_user(request)
    ends = ends_at(request.session)
    if not isinstance(person, User) or (ends is not None and ends <= time.time()):
        raise NotAllowed("You are signed out.")
    return person, ends


class SessionLimits(MiddlewareMixin):
    """Behind sessions and users: signs out whose session is over, and notes that one is used."""

    def process_request(self, request: HttpRequest) -> None:
        if not request.user.is_authenticated:
            return
        now = time.time()
        ends = ends_at(request.session)
        if ends is not None and ends <= now:
            logout(request)
        elif settings.SESSION_IDLE and not _polls(request):
            written = request.session.get(_USED, 0)
            if now - written >= min(_KEPT_FOR, settings.SESSION_IDLE / 4):
                request.session[_USED] = int(now)


def _polls(request: HttpRequest) -> bool:
    """Whether a page that is open has asked by itself, as the inbox does; what people click is loaded or posted."""
    return request.method == "GET" and "HX-Request" in request.headers and _USED in request.session


class Refusals(MiddlewareMixin):
    """Logs who was refused what, by the name of the page: an address is somebody else's text, and may hold a token."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        page = request.resolver_match
        if response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND} and page is not None:
            fields = about_request(request)
            if "run_id" in page.kwargs:
                fields["run"] = page.kwargs["run_id"]
            line = "refused: %s of the page “%s” with %s"
            log.warning(line, request.method, page.view_name, response.status_code, extra=about(**fields))
        return response


def about_request(request: HttpRequest) -> About:
    """For log lines: the name, of those who have one, and the address, which `serve` takes from a trusted proxy."""
    fields: About = {"address": request.META.get("REMOTE_ADDR", "")}
    if (user := getattr(request, "user", None)) is not None and user.is_authenticated:
        fields["user"] = user.get_username()
    return fields
