"""How pevsite uses django-allauth: what a sign-in does, and when a person has to sign in again."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, override
from uuid import uuid4

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from runs.enums import AuditKind, NoticeKind
from runs.logs import about
from runs.models import User
from runs.people import outbox
from runs.people.provider_accounts import connections_of
from runs.store import audit_trail, broadcast
from runs.web.people import sign_in_audit
from runs.web.site import refusals, sessions
from runs.web.site.requests import about_request, program_of

log = logging.getLogger(__name__)
AGAIN = {"again": True}
"""Kept with a sign-in through the provider that is asked of a person who has signed in already."""
_UNKNOWN_ADDRESS = "0.0.0.0"  # noqa: S104  no address to listen on
"""For requests through a socket of this machine, because the list of sessions needs an address."""


_CHANGES = {
    "password_changed": "your password was changed",
    "password_reset": "your password was set again by mail",
    "password_set": "a password was set",
    "email_confirm": "an e-mail address was confirmed",
    "totp_activated": "an authenticator app was added",
    "totp_deactivated": "the authenticator app was removed",
    "recovery_codes_generated": "new recovery codes were made",
    "webauthn_added": "a passkey was added",
    "webauthn_removed": "a passkey was removed",
    "account_connected": "a sign-in provider was connected",
}
"""What happened, by the names of allauth's mails."""


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
        sign_in_audit.signed_in(request, user)

    @override
    def post_login(self, request: HttpRequest, user: AbstractBaseUser, **kwargs: Any) -> HttpResponse:
        """Note how recent a sign-in is with which the provider has let the person in, perhaps without asking."""
        if login := (kwargs["signal_kwargs"] or {}).get("sociallogin"):
            is_asked = login.state.get("data") == AGAIN
            sessions.note_proof(request.session, time.time() if is_asked else login.account.extra_data["signed_in_at"])
        return super().post_login(request, user, **kwargs)

    @override
    def logout(self, request: HttpRequest) -> None:
        """Before someone who has signed in already signs in through the provider."""
        before = request.user.pk
        super().logout(request)
        if before:
            broadcast.recheck(before)

    @override
    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        log.warning("refused: a wrong user name or password", extra=about(**about_request(request)))
        refusals.sign_in_refused("password", self.get_client_ip(request), str(credentials.get("username", "")))

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
        return not sessions.proven_within(self.request.session, settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)

    @override
    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:  # type: ignore[override]
        """People who have neither a password nor a passkey sign in through the provider, or with a new link."""
        methods = super().get_reauthentication_methods(user)
        again = reverse("sign_in_again")
        provider = settings.IDENTITY_PROVIDER
        if provider is not None and isinstance(user, User) and connections_of(user).exists():
            methods.append({"id": "provider", "description": f"Use {provider.name}", "url": again})
        return methods or [{"id": "link", "description": "Use a new sign-in link", "url": again}]

    @override
    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Queued: the link is made when the mail is sent, and begins with the public address of the settings."""
        address = emailconfirmation.email_address
        outbox.tell(address.user, NoticeKind.EMAIL_ADDED, occurrence=uuid4().hex, address=address.email)

    @override
    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,  # type: ignore[override]
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Tell people of changes of how they sign in. A change of their addresses is announced by signals."""
        if about_it := _CHANGES.get(template_prefix.rpartition("/")[2]):
            outbox.tell(user, NoticeKind.ACCOUNT, about=about_it, occurrence=uuid4().hex)

    @override
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Nothing is mailed during a request, and with the words of allauth. Whatever comes here is left out."""
        log.warning("a mail was not sent: %s", template_prefix)

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
        for session in ended:
            subject = session.user.get_username()
            audit_trail.record(AuditKind.SESSION_ENDED, subject=subject, person=session.user_id, count=1)
        for person in {session.user_id for session in ended}:
            broadcast.recheck(person)
