"""How pevsite uses django-allauth: what a sign-in does, and when a person has to sign in again."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, override

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.urls import reverse

from runs.logs import about
from runs.models import User
from runs.store import broadcast
from runs.web.site import sessions
from runs.web.site.requests import about_request, program_of

log = logging.getLogger(__name__)
_UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104  no address to listen on
"""For requests through a socket of this machine, because the list of sessions needs an address."""


class AccountAdapter(DefaultAccountAdapter):
    @override
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People are invited."""
        return False

    @override
    def login(self, request: HttpRequest, user: User) -> None:  # type: ignore[override]
        """Every sign-in comes here, whichever way it was made."""
        before = request.user.pk
        if before:
            request.session.cycle_key()
        super().login(request, user)  # empties the session of another person
        if before:
            broadcast.recheck(before)
        log.info("signed in", extra=about(**about_request(request)))

    @override
    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        log.warning("refused: a wrong user name or password", extra=about(**about_request(request)))

    @override
    def get_client_ip(self, request: HttpRequest) -> str:
        """The address, which `serve` takes from a trusted proxy."""
        return request.META.get("REMOTE_ADDR") or _UNKNOWN_ADDRESS

    @override
    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Counts wrong passwords by the name alone. Allauth adds the host, and one may choose its port."""
        return str(credentials.get("username", "")).lower()

    @override
    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """A recent sign-in counts too. Allauth alone would ask again right after it."""
        return not sessions.began_within(self.request.session, settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)

    @override
    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:  # type: ignore[override]
        """People who have neither a password nor a passkey need a new link."""
        methods = super().get_reauthentication_methods(user)
        return methods or [{"id": "link", "description": "Use a new sign-in link", "url": reverse("sign_in_again")}]

    @override
    def is_ajax(self, request: HttpRequest) -> bool:
        """Allauth answers these with JSON. The script that sends our forms reads pages."""
        return request.headers.get("Accept") == "application/json"


class FactorsAdapter(DefaultMFAAdapter):
    @override
    def generate_authenticator_name(self, user: AbstractBaseUser, type: Authenticator.Type) -> str:
        """A person knows a passkey by the device that has it."""
        return program_of(context.request.headers.get("User-Agent", ""))


class SessionsAdapter(DefaultUserSessionsAdapter):
    @override
    def end_sessions(self, sessions: Iterable[UserSession]) -> None:
        """End them, and have their sockets closed."""
        ended = list(sessions)
        super().end_sessions(ended)
        for person in {session.user_id for session in ended}:
            broadcast.recheck(person)
