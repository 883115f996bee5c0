"""Signing in, by a link that works once, and signing out. There are no passwords and no form."""

import logging

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from runs.logs import about
from runs.web.signin import BACKEND, person_of

log = logging.getLogger(__name__)
_WANTED = "pev_next"
_WANTED_FOR = 3_600  # seconds, as long as a link works


@login_not_required
@never_cache
@require_safe
def sign_in(request: HttpRequest) -> HttpResponse:
    """How to get a link. Remembers which page was wanted; a link that is used within the hour leads there."""
    if request.user.is_authenticated:
        return redirect("inbox")
    if getattr(request, "htmx", False):
        return HttpResponseClientRedirect(reverse("sign_in"))
    spent = "spent" in request.GET
    response = render(request, "account/sign_in.html", {"spent": spent}, status=410 if spent else 200)
    if wanted := _safe(request, request.GET.get("next", "")):
        response.set_signed_cookie(
            _WANTED, wanted, max_age=_WANTED_FOR, httponly=True, samesite="Lax", secure=request.is_secure()
        )
    return response


@login_not_required
@never_cache
@require_GET
def sign_in_link(request: HttpRequest, name: str, token: str) -> HttpResponse:
    """Sign in and leave at once, so that the token stays in no address bar, history entry or referrer."""
    person = person_of(name, token)
    if person is None:
        log.warning("refused: a sign-in link that does not work, or not any more")
        response = redirect("inbox") if request.user.is_authenticated else redirect(f"{reverse('sign_in')}?spent")
    else:
        login(request, person, backend=BACKEND)
        log.info("signed in", extra=about(user=person.get_username()))
        response = redirect(_safe(request, request.GET.get("next", "")) or _remembered(request) or "inbox")
        response.delete_cookie(_WANTED)
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    log.info("signed out", extra=about(user=request.user.get_username()))
    logout(request)
    return redirect("sign_in")


def _remembered(request: HttpRequest) -> str:
    try:
        wanted = request.get_signed_cookie(_WANTED, default="", max_age=_WANTED_FOR)
    except BadSignature:
        return ""
    return _safe(request, str(wanted))


def _safe(request: HttpRequest, address: str) -> str:
    """The address if it lies on this site, else nothing."""
    hosts = {request.get_host()}
    fits = url_has_allowed_host_and_scheme(address, allowed_hosts=hosts, require_https=request.is_secure())
    return address if fits else ""
