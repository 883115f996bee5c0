"""Who gets in through the identity provider, with which roles, and what people read who do not."""

from __future__ import annotations

import logging
import time
from enum import Enum
from http import HTTPStatus
from typing import Any, NoReturn, override

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from runs.enums import AuditKind, PersonRole
from runs.logs import about
from runs.models import User
from runs.people import provider_accounts
from runs.people.permissions import administrators
from runs.store import audit_trail, event_log
from runs.web.people.openid_connect import (
    ConfiguredProvider,
    ProviderConnection,
    ProviderProblem,
    ProviderUnreachable,
    configured,
)
from runs.web.people.sign_in import AGAIN
from runs.web.site import refusals, throttle
from runs.web.site.requests import about_request, is_background_form

log = logging.getLogger(__name__)


class Refusal(Enum):
    """Why a person does not get in, with the status and the title of the page (`people/provider_refused.html`)."""

    CANCELLED = HTTPStatus.FORBIDDEN, "You have not signed in"
    EXPIRED = HTTPStatus.BAD_REQUEST, "This sign-in has expired"
    UNREACHABLE = HTTPStatus.BAD_GATEWAY, "The sign-in does not answer"
    UNTRUSTED = HTTPStatus.BAD_GATEWAY, "The answer cannot be trusted"
    NO_ROLE = HTTPStatus.FORBIDDEN, "You have no access yet"
    OTHER_PERSON = HTTPStatus.FORBIDDEN, "This is another account"
    NOT_ASKED = HTTPStatus.FORBIDDEN, "You have not signed in again"
    SECOND_CONNECTION = HTTPStatus.CONFLICT, "You have connected another account"
    AT_ONCE = HTTPStatus.CONFLICT, "Sign in once more"


def refused(request: HttpRequest, refusal: Refusal, reason: str) -> HttpResponse:
    """The page that says so. `reason` is for the log; many refusals from one address are answered with 429."""
    fields = about_request(request)
    refusals.sign_in_refused("identity provider", fields["address"])
    wait = throttle.wrong(f"a sign-in through the identity provider: {reason}", fields)
    if wait:
        answer = render(request, "429.html", {"seconds": wait}, status=HTTPStatus.TOO_MANY_REQUESTS)
        answer["Retry-After"] = str(wait)
        return answer
    status, title = refusal.value
    return render(request, "people/provider_refused.html", {"refusal": refusal.name, "title": title}, status=status)


def _refused_for(request: HttpRequest, problem: ProviderProblem) -> HttpResponse:
    refusal = Refusal.UNREACHABLE if isinstance(problem, ProviderUnreachable) else Refusal.UNTRUSTED
    return refused(request, refusal, str(problem))


def lead_there(request: HttpRequest, process: str, then: str) -> HttpResponse:
    """A page that leads to the provider, or a redirect for a script that has sent the form. `then`: the page after it.

    The content security policy lets no form lead to another site, also not by a redirect. A page may.
    """
    options: dict[str, Any] = {}
    if process == AuthProcess.LOGIN and request.user.is_authenticated:
        options = {"data": AGAIN, "auth_params": {"prompt": "login", "max_age": "0"}}
    provider = get_adapter(request).get_provider(request, ConfiguredProvider.id)
    try:
        response: HttpResponse = provider.redirect(request, process, then, **options)
    except ProviderProblem as problem:
        return _refused_for(request, problem)
    if is_background_form(request):
        return response
    return render(request, "people/to_provider.html", {"address": response["Location"]})


def come_back(request: HttpRequest) -> HttpResponse:
    """Sign in, connect an account, or say why not, from the code with which the provider has sent the person back."""
    response: HttpResponse = OAuth2CallbackView.adapter_view(ProviderConnection(request, ConfiguredProvider.id))(
        request
    )
    return response


class ProviderAdapter(DefaultSocialAccountAdapter):
    @override
    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """The provider of the settings. Its issuer is stored with each subject: another one may use the same names."""
        ours = configured()
        secret = ours.client_secret.get_secret_value()
        return [
            SocialApp(
                provider=ConfiguredProvider.id,
                provider_id=ours.url,
                name=ours.name,
                client_id=ours.client_id,
                secret=secret,
            )
        ]

    @override
    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> ConfiguredProvider:
        return ConfiguredProvider(request, app=self.get_app(request, provider))

    @override
    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: ConfiguredProvider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> NoReturn:
        if isinstance(exception, ProviderProblem):
            answer = _refused_for(request, exception)
        elif error == AuthError.CANCELLED:
            answer = refused(request, Refusal.CANCELLED, "it was cancelled there")
        elif "state" in (extra_context or {}):
            answer = refused(request, Refusal.UNREACHABLE, "it came back with an error")
        else:
            answer = refused(request, Refusal.EXPIRED, "it has expired, or belongs to another browser")
        raise ImmediateHttpResponse(answer)

    @override
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Raises ImmediateHttpResponse if the person does not get in; sets their roles if they do."""
        known = sociallogin.user if isinstance(sociallogin.user, User) and sociallogin.is_existing else None
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            self._check_connection(request, known)
            return
        if sociallogin.state.get("data") == AGAIN:
            self._check_again(request, sociallogin)
        roles = _roles_in(sociallogin)
        if known is not None and known.is_active and configured().roles_of_groups:
            with audit_trail.decided_by_provider():
                provider_accounts.set_roles(known, roles)
        if not roles and (known is None or configured().roles_of_groups):
            raise ImmediateHttpResponse(refused(request, Refusal.NO_ROLE, "no group of the person has a role here"))

    def _check_connection(self, request: HttpRequest, known: User | None) -> None:
        """A person has at most one account at the provider, or no one could say what removing it ends."""
        mine = provider_accounts.connections_of(request.user) if isinstance(request.user, User) else None
        if mine is not None and known != request.user and mine.exists():
            raise ImmediateHttpResponse(refused(request, Refusal.SECOND_CONNECTION, "another one is connected"))

    def _check_again(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if request.user.is_authenticated and request.user != sociallogin.user:
            raise ImmediateHttpResponse(refused(request, Refusal.OTHER_PERSON, "another person than before"))
        at = sociallogin.account.extra_data.get("signed_in_at")
        if at is not None and time.time() - at > settings.ACCOUNT_REAUTHENTICATION_TIMEOUT:
            raise ImmediateHttpResponse(refused(request, Refusal.NOT_ASKED, "the person was not asked again there"))

    @override
    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """People without a role were refused before."""
        return bool(_roles_in(sociallogin))

    @override
    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """Nothing of the claims: `save_user` chooses a name for people who are new."""
        person = sociallogin.user
        assert isinstance(person, User)
        return person

    @override
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: object = None) -> User:
        """Add a person. Their name has plain letters that no other name looks like, and a number if it is taken."""
        person = sociallogin.user
        assert isinstance(person, User)
        wanted = sociallogin.account.extra_data["name"]
        person.username = get_account_adapter(request).generate_unique_username([wanted, "person"])
        person.set_unusable_password()
        try:
            with audit_trail.decided_by_provider(), transaction.atomic():
                event_log.lock_rows(administrators())  # before the audit trail, as wherever roles change
                sociallogin.save(request)
                provider_accounts.set_roles(person, _roles_in(sociallogin))
                audit_trail.record(AuditKind.INVITED, subject=person.username, person=person.pk)
        except IntegrityError as error:  # someone else took the name at this moment
            raise ImmediateHttpResponse(refused(request, Refusal.AT_ONCE, "two first sign-ins at once")) from error
        log.info("people: the identity provider added “%s”", person.username, extra=about(**about_request(request)))
        return person

    @override
    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: object) -> str:
        return reverse("mfa_index")


def _roles_in(login: SocialLogin) -> list[PersonRole]:
    return [PersonRole(role) for role in login.account.extra_data["roles"]]
