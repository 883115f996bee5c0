"""Access tokens of the person who is signed in: made, shown once, listed, revoked."""

from __future__ import annotations

import logging

from allauth.account.decorators import reauthentication_required
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from runs.errors import InvalidInput
from runs.logs import about
from runs.people import access_tokens
from runs.web.site.addresses import MCP_PATH
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import about_request, person

log = logging.getLogger(__name__)


class AccessTokenForm(PostedForm):
    """A token for a program; `runs.people.access_tokens` says what is wrong with a name."""

    name = Text(required=False, strip=False)
    days = forms.TypedChoiceField(
        choices=[(days, days) for days in access_tokens.LIFETIMES],
        coerce=int,
        error_messages={"required": "Choose a lifetime.", "invalid_choice": "Choose one of the lifetimes."},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(allow_get=True)
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens of this person. A post makes one and shows it this once, because it is stored nowhere."""
    if request.method != "POST":
        return _page(request)
    form = AccessTokenForm(request.POST)
    try:
        if not settings.MCP_SERVER:
            raise InvalidInput("Programs cannot connect to this installation, so a token would be of no use.")
        given = form.checked()
        made = access_tokens.issue(person(request), given["name"], given["days"])
    except InvalidInput as error:
        return _page(request, problem=str(error), typed=str(form.data.get("name", ""))[:150], status=422)
    log.info("an access token was made", extra=about(**about_request(request)))
    return _page(request, made=made)


@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token. Raises Http404 for a token of somebody else."""
    mine = {row.pk: row for row in access_tokens.of(person(request))}
    if token_id not in mine:
        raise Http404("There is no such access token.")
    access_tokens.revoke(person(request), token_id)
    messages.success(request, f"The access token “{mine[token_id].name}” is revoked. No program can use it any longer.")
    log.info("an access token was revoked", extra=about(**about_request(request)))
    return redirect("access_tokens")


def _page(request: HttpRequest, *, status: int = 200, **context: object) -> HttpResponse:
    rows = access_tokens.of(person(request))
    now = timezone.now()
    living = [row for row in rows if row.revoked_at is None and row.expires_at > now]
    context |= {
        "on": settings.MCP_SERVER,
        "address": request.build_absolute_uri(MCP_PATH),
        "living": living,
        "ended": [row for row in rows if row not in living],
        "lifetimes": access_tokens.LIFETIMES,
        "max_name": access_tokens.MAX_NAME,
        "max_tokens": access_tokens.MAX_TOKENS,
    }
    return render(request, "people/access_tokens.html", context, status=status)
