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

from runs.enums import TokenScope
from runs.errors import InvalidInput
from runs.logs import about
from runs.models.people import DEFAULT_SCOPES
from runs.people import access_tokens
from runs.web.site.addresses import API_PATH, MCP_PATH
from runs.web.site.page_templates import takes_programs
from runs.web.site.posted_fields import PostedForm, Text
from runs.web.site.requests import about_request, person

log = logging.getLogger(__name__)
_USUAL_DAYS = 30


class AccessTokenForm(PostedForm):
    """A token for a program; `runs.people.access_tokens` says what is wrong with a name or with scopes."""

    name = Text(required=False, strip=False)
    days = forms.TypedChoiceField(
        choices=[(days, days) for days in access_tokens.LIFETIMES],
        coerce=int,
        error_messages={"required": "Choose a lifetime.", "invalid_choice": "Choose one of the lifetimes."},
    )
    scopes = forms.MultipleChoiceField(
        choices=[(scope.value, scope.value) for scope in TokenScope],
        required=False,
        error_messages={"invalid_choice": "Choose from the list what the token allows."},
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
        if not takes_programs():
            raise InvalidInput("Programs cannot connect to this installation, so a token would be of no use.")
        given = form.checked()
        made = access_tokens.issue(person(request), given["name"], given["days"], given["scopes"])
    except InvalidInput as error:
        return _page(request, problem=str(error), sent=form, status=422)
    log.info("an access token was made", extra=about(**about_request(request)))
    return _page(request, made=made)


@require_POST
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token. Raises Http404 for a token of someone else."""
    mine = {row.pk: row for row in access_tokens.of(person(request))}
    if token_id not in mine:
        raise Http404("There is no such access token.")
    access_tokens.revoke(person(request), token_id)
    messages.success(request, f"The access token “{mine[token_id].name}” is revoked. No program can use it any longer.")
    log.info("an access token was revoked", extra=about(**about_request(request)))
    return redirect("access_tokens")


def _page(
    request: HttpRequest, *, status: int = 200, sent: AccessTokenForm | None = None, **context: object
) -> HttpResponse:
    """The page. `sent`: a form that was refused, which is shown as it was filled in."""
    user = person(request)
    rows = access_tokens.of(user)
    now = timezone.now()
    living = [row for row in rows if row.is_living(now)]
    days = str(sent["days"].value()) if sent else str(_USUAL_DAYS)
    chosen = sent["scopes"].value() or () if sent else DEFAULT_SCOPES
    context |= {
        "typed": str(sent["name"].value() or "")[:150] if sent else "",
        "lifetimes": [(each, str(each) == days) for each in access_tokens.LIFETIMES],
        "scopes": [(scope, scope in chosen) for scope in TokenScope if user.may_grant(scope)],
        "may_decide": user.may_grant(TokenScope.GATES_DECIDE),
        "mcp_address": request.build_absolute_uri(MCP_PATH) if settings.MCP_SERVER else "",
        "api_address": request.build_absolute_uri(API_PATH) if settings.API else "",
        "living": [(row, [(scope, row.allows(scope)) for scope in row.chosen_scopes]) for row in living],
        "ended": [row for row in rows if row not in living],
        "max_name": access_tokens.MAX_NAME,
        "max_tokens": access_tokens.MAX_TOKENS,
    }
    return render(request, "people/access_tokens.html", context, status=status)
