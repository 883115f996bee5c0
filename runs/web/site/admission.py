"""Which program may call in the name of a person, and how often: it shows a token, over MCP or to the REST API."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus

from django.conf import settings
from django.core.cache import cache

from runs.models import AccessToken
from runs.people import access_tokens
from runs.people.access_tokens import ScopeMissing
from runs.people.permissions import lacking_second_factor
from runs.people.provider_accounts import proves_second_factor
from runs.store.audit_trail import coming_from
from runs.web.site import refusals, throttle
from runs.web.site.audit_origin import origin_of_program
from runs.web.site.problems import Refused

_TOKENLESS = "This needs an access token, as “Authorization: Bearer pev_…”. Make one on the page “Access tokens”."
_REFUSED = "This access token does not work or no longer works. Make another on the page “Access tokens”."
_NO_FACTOR = "The person of this token must add a passkey or an authenticator app first, on the page “Sign-in methods”."
_MINUTE = 60  # seconds
_TOO_OFTEN = "Tokens that do not work came too often from here. Wait {} seconds. One that works is taken at once."


def admitted(headers: Sequence[bytes], address: str, surface: str) -> AccessToken:
    """The access token of a request with these Authorization headers. `surface` is what the program calls, in words.

    Raises Refused. Only failures are counted, so that a token that works is never kept waiting by others behind the
    same address.
    """
    shown = token_in(headers)
    row = access_tokens.usable_token(shown) if shown else None
    if row is None:
        if headers:
            with coming_from(origin_of_program(address)):
                refusals.sign_in_refused("access token", address)
        wait = throttle.wrong("an access token that is missing or does not work", {"address": address})
        if wait:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, _TOO_OFTEN.format(wait), {"Retry-After": str(wait)})
        challenge = {"WWW-Authenticate": 'Bearer realm="pevsite"'}
        raise Refused(HTTPStatus.UNAUTHORIZED, _REFUSED if headers else _TOKENLESS, challenge)
    if _lacks_factor(row):
        with coming_from(origin_of_program(address, row)):
            refusals.request_refused(row.user, surface, "second factor missing")
        raise Refused(HTTPStatus.FORBIDDEN, _NO_FACTOR)
    return row


def count_request(token: AccessToken) -> None:
    """Count a request of this token, to the REST API or over MCP. Raises Refused if there were too many this minute."""
    key, wait = _rate_window(token)
    if throttle.count_up(key, 2 * _MINUTE) > settings.API_RATE:
        raise _over_rate(wait)


def check_rate(token: AccessToken) -> None:
    """Raises Refused if another request of this token would be one too many in this minute. Counts nothing."""
    key, wait = _rate_window(token)
    if cache.get(key, 0) >= settings.API_RATE:
        raise _over_rate(wait)


def _rate_window(token: AccessToken) -> tuple[str, int]:
    """The key of the count of this minute, and the seconds until the next minute."""
    now = int(time.time())
    return f"api/{token.pk}/{now // _MINUTE}", _MINUTE - now % _MINUTE


def _over_rate(wait: int) -> Refused:
    sentence = f"This token has made {settings.API_RATE:,} requests in a minute. Wait {wait} seconds."
    return Refused(HTTPStatus.TOO_MANY_REQUESTS, sentence, {"Retry-After": str(wait)})


def lacks_scope(error: ScopeMissing) -> Refused:
    """The refusal of a request whose token does not allow what it asks for."""
    challenge = f'Bearer realm="pevsite", error="insufficient_scope", scope="{error.scope}"'
    return Refused(HTTPStatus.FORBIDDEN, str(error), {"WWW-Authenticate": challenge})


def still_admitted(pk: int) -> AccessToken | None:
    """The token of a program that was admitted before and goes on, as it is now; None if it may no longer call."""
    row = access_tokens.working_token(pk)
    return None if row is None or _lacks_factor(row) else row


def _lacks_factor(token: AccessToken) -> bool:
    return bool(lacking_second_factor([token.user])) and not proves_second_factor(token.user)


def token_in(headers: Sequence[bytes]) -> str:
    """The bearer token of the only Authorization header; empty if there is none or more than one."""
    kind, _, token = headers[0].decode("latin-1").partition(" ") if len(headers) == 1 else ("", "", "")
    return token.strip() if kind.lower() == "bearer" else ""
