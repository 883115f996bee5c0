"""Signing in, by a link with a button that works once, and signing out. There are no passwords."""

import logging

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from pevsite.installation import IS_CHECKOUT, PROGRAM, is_usual
from runs.enums import LinkKind
from runs.logs import about
from runs.models import User
from runs.people import accounts
from runs.store import broadcast
from runs.web.site import throttle
from runs.web.site.requests import about_request, on_this_site, person
from runs.web.site.sessions import begin

log = logging.getLogger(__name__)
_WANTED_SECONDS = 3_600
"""How long the wanted page is remembered: somebody has to be asked for a link."""


def link_for(person: User, kind: LinkKind = LinkKind.SIGN_IN) -> str:
    """The path of a new link that signs this person in once. Raises InvalidInput for one who is not active."""
    return reverse("sign_in_link", args=[accounts.issue(person, kind)])


@login_not_required
@never_cache
@require_safe
def sign_in(request: HttpRequest) -> HttpResponse:
    """How to get a link. Remembers which page was wanted; a link that is used within the hour leads there."""
    if request.user.is_authenticated:
        return redirect("inbox")
    if getattr(request, "htmx", False):
        return HttpResponseClientRedirect(reverse("sign_in"))
    spent, usual = "spent" in request.GET, is_usual(settings.DATA_DIR)
    base, folder = f"{request.scheme}://{request.get_host()}", "" if usual else " --data-dir FOLDER"
    response = render(
        request,
        "people/sign_in.html",
        {
            "spent": spent,
            "command": f"{'uv run ' if IS_CHECKOUT else ''}{PROGRAM} people link USER --base {base}{folder}",
            "usual_folder": usual,
        },
        status=410 if spent else 200,
    )
    if wanted := on_this_site(request, request.GET.get("next", "")):
        response.set_signed_cookie(
            settings.WANTED_COOKIE_NAME,
            wanted,
            max_age=_WANTED_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )
    return response


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """A page with a button. Only the button signs in: a preview or a log of addresses does not use the link up."""
    found = accounts.consume(token) if request.method == "POST" else accounts.person_of(token)
    response: HttpResponse
    if found is None:
        response = _refuse_link(request)
    elif request.method == "POST":
        response = _let_in(request, found)
    else:
        response = render(request, "people/link.html", {"person": found})
    # Neither the address nor the token: the host alone, because a form without any origin would be refused.
    response["Referrer-Policy"] = "strict-origin"
    return response


def _refuse_link(request: HttpRequest) -> HttpResponse:
    wait = throttle.wrong("a sign-in link that does not work, or not any more", about_request(request))
    if wait:
        answer = render(request, "429.html", {"seconds": wait}, status=429)
        answer["Retry-After"] = str(wait)
        return answer
    return redirect("inbox") if request.user.is_authenticated else redirect(f"{reverse('sign_in')}?spent")


def _let_in(request: HttpRequest, found: User) -> HttpResponse:
    """Redirect at once, so that the token stays in no address bar."""
    wanted = on_this_site(request, request.GET.get("next", "")) or _wanted_before(request)
    before = request.user.pk
    begin(request, found)
    if before:
        broadcast.recheck(before)
    log.info("signed in", extra=about(**about_request(request)))
    response = redirect(wanted or "inbox")
    response.delete_cookie(settings.WANTED_COOKIE_NAME)
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    log.info("signed out", extra=about(**about_request(request)))
    who = person(request)
    logout(request)
    broadcast.recheck(who.pk)
    answer = redirect("sign_in")
    answer.headers["Clear-Site-Data"] = '"cache"'  # parts of pages, which browsers may keep
    return answer


def _wanted_before(request: HttpRequest) -> str:
    try:
        wanted = request.get_signed_cookie(settings.WANTED_COOKIE_NAME, default="", max_age=_WANTED_SECONDS)
    except BadSignature:
        return ""
    return on_this_site(request, str(wanted))
