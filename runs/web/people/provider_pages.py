"""The addresses of signing in through the identity provider. Without one in the settings none of them is there."""

from __future__ import annotations

import logging
from types import ModuleType
from uuid import uuid4

from allauth.account.decorators import reauthentication_required
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.enums import NoticeKind
from runs.errors import InvalidInput
from runs.logs import about
from runs.people import outbox, provider_accounts
from runs.web.people.sign_in_pages import wanted_page
from runs.web.site.requests import about_request, person

log = logging.getLogger(__name__)


def _flow() -> ModuleType:
    """Signing in through the provider. Raises Http404 without one in the settings."""
    if settings.IDENTITY_PROVIDER is None:
        raise Http404
    from runs.web.people import provider_sign_in  # takes half a second, which most installations need not spend

    return provider_sign_in


@login_not_required
@never_cache
@require_POST
def sign_in(request: HttpRequest) -> HttpResponse:
    """To the provider. A person who has signed in already is asked to do so again, for a change that needs it."""
    then = wanted_page(request) or reverse("inbox")
    response: HttpResponse = _flow().lead_there(request, AuthProcess.LOGIN, then)
    return response


@login_not_required
@never_cache
@require_safe
def come_back(request: HttpRequest) -> HttpResponse:
    """From the provider, with a code for the token that says who has signed in."""
    response: HttpResponse = _flow().come_back(request)
    response.delete_cookie(settings.WANTED_COOKIE_NAME)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)
def connect(request: HttpRequest) -> HttpResponse:
    """Let a person sign in through the provider from now on. A GET leads to the list, as after signing in again."""
    flow = _flow()
    if request.method != "POST":
        return redirect("mfa_index")
    response: HttpResponse = flow.lead_there(request, AuthProcess.CONNECT, reverse("mfa_index"))
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)
def disconnect(request: HttpRequest) -> HttpResponse:
    _flow()
    if request.method == "POST":
        try:
            with transaction.atomic():
                provider_accounts.disconnect(person(request))
                change = "the sign-in provider was disconnected"
                outbox.tell(person(request), NoticeKind.ACCOUNT, about=change, occurrence=uuid4().hex)
            messages.success(request, "The connection is removed.")
            log.info("people: the connection with the provider was removed", extra=about(**about_request(request)))
        except InvalidInput as error:
            messages.error(request, str(error))
    return redirect("mfa_index")
