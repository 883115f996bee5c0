"""The pages for signing in: with a passkey, a password or a link that works once; again; and signing out."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.stages import LoginStage
from allauth.account.utils import perform_login
from allauth.account.views import LoginView
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.adapter import get_adapter as get_sessions_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
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
from runs.web.site import refusals, throttle
from runs.web.site.requests import about_request, on_this_site, person

log = logging.getLogger(__name__)
_WANTED_SECONDS = 3_600
"""How long the wanted page is remembered: someone has to be asked for a link."""


def link_for(person: User, kind: LinkKind = LinkKind.SIGN_IN) -> str:
    """The path of a new link that signs this person in once. Raises InvalidInput for one who is not active."""
    return reverse("sign_in_link", args=[accounts.issue(person, kind)])


class SignIn(LoginView):
    """Offers every way to sign in, and says how to get a link. A link leads to the page that was wanted here."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if getattr(request, "htmx", False) and not request.user.is_authenticated:
            return HttpResponseClientRedirect(reverse("account_login"))
        return super().dispatch(request, *args, **kwargs)

    def _redirect_to_pending_stage(self, request: HttpRequest, stage: LoginStage) -> HttpResponseRedirect | None:
        """A second factor that was removed in the meantime is not asked for: the sign-in begins again."""
        if stage.login.user is not None and not is_mfa_enabled(stage.login.user):
            request.session.flush()
            return None
        return super()._redirect_to_pending_stage(request, stage)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | how_to_get_a_link(self.request)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        spent = "spent" in self.request.GET
        response = super().render_to_response(context | {"spent": spent}, status=410 if spent else None, **kwargs)
        _remember_wanted(self.request, response)
        return response


sign_in = login_not_required(SignIn.as_view())


@never_cache
@require_safe
def sign_in_again(request: HttpRequest) -> HttpResponse:
    """Before a change of who may do what: for people who sign in through the provider, or with links only."""
    response = render(request, "people/sign_in_again.html", how_to_get_a_link(request))
    _remember_wanted(request, response)
    return response


def how_to_get_a_link(request: HttpRequest) -> dict[str, Any]:
    """What a template says about links: the command that prints one."""
    usual = is_usual(settings.DATA_DIR)
    name = request.user.get_username() if request.user.is_authenticated else "USER"
    base, folder = f"{request.scheme}://{request.get_host()}", "" if usual else " --data-dir FOLDER"
    command = f"{'uv run ' if IS_CHECKOUT else ''}{PROGRAM} people link {name} --base {base}{folder}"
    return {"command": command, "usual_folder": usual}


def _remember_wanted(request: HttpRequest, response: HttpResponse) -> None:
    if wanted := on_this_site(request, request.GET.get("next", "")):
        response.set_signed_cookie(
            settings.WANTED_COOKIE_NAME,
            wanted,
            max_age=_WANTED_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )


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
    fields = about_request(request)
    refusals.sign_in_refused("link", fields["address"])
    wait = throttle.wrong("a sign-in link that does not work, or not any more", fields)
    if wait:
        answer = render(request, "429.html", {"seconds": wait}, status=429)
        answer["Retry-After"] = str(wait)
        return answer
    return redirect("inbox") if request.user.is_authenticated else redirect(f"{reverse('account_login')}?spent")


def _let_in(request: HttpRequest, who: User) -> HttpResponse:
    """Sign in, or ask for the second factor first. Redirects at once, so that the token stays in no address bar."""
    wanted = wanted_page(request)
    if request.user.is_authenticated and request.user.pk != who.pk:
        _end_session(request)
    response: HttpResponse = perform_login(request, who, redirect_url=wanted or reverse("inbox"))
    response.delete_cookie(settings.WANTED_COOKIE_NAME)
    return response


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Sign out, or give up a sign-in that waits for the second factor."""
    if request.user.is_authenticated:
        log.info("signed out", extra=about(**about_request(request)))
        _end_session(request)
    else:
        request.session.flush()
    answer = redirect("account_login")
    answer.headers["Clear-Site-Data"] = '"cache"'  # parts of pages, which browsers may keep
    return answer


def asked_again_before(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Asks for a recent sign-in before the form is shown, and before it is read. Allauth would keep its words, such as
    a new password, until the person has signed in.
    """
    checked_view = reauthentication_required(view)

    @wraps(view)
    def checked(request: HttpRequest) -> HttpResponseBase:
        try:
            response: HttpResponseBase = checked_view(request)
        except ReauthenticationRequired:
            if request.method != "POST":
                raise
            return redirect(request.path)
        return response

    return checked


def _end_session(request: HttpRequest) -> None:
    before = person(request).pk
    logout(request)
    broadcast.recheck(before)


@require_POST
def end_session(request: HttpRequest, session_id: int) -> HttpResponse:
    """End one of one's own sessions. Raises Http404 for the session of someone else."""
    session = get_object_or_404(UserSession, pk=session_id, user=person(request))
    get_sessions_adapter().end_sessions([session])
    messages.success(request, "The session has ended.")
    log.info("a session was ended", extra=about(**about_request(request)))
    return redirect("usersessions_list")


def wanted_page(request: HttpRequest) -> str:
    """The page of this site to which a sign-in leads, or an empty text."""
    named = request.POST.get("next", "") or request.GET.get("next", "")
    return on_this_site(request, named) or _wanted_before(request)


def _wanted_before(request: HttpRequest) -> str:
    try:
        wanted = request.get_signed_cookie(settings.WANTED_COOKIE_NAME, default="", max_age=_WANTED_SECONDS)
    except BadSignature:
        return ""
    return on_this_site(request, str(wanted))
