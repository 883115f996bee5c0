"""Who calls: the access token of a request, what it allows, and how often it may come."""

from __future__ import annotations

import time
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest
from ninja.security import HttpBearer

from runs.enums import TokenScope
from runs.models import AccessToken
from runs.people import access_tokens
from runs.web.site import throttle
from runs.web.site.admission import admitted
from runs.web.site.problems import Refused

_MINUTE = 60  # seconds


class AccessTokenAuth(HttpBearer):
    """Lets a request pass whose token allows `scope`, and makes its person the one of the request."""

    def __init__(self, scope: TokenScope) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> AccessToken:
        given = request.META.get("HTTP_AUTHORIZATION")
        address = request.META.get("REMOTE_ADDR", "")
        token = admitted([given.encode("latin-1", "replace")] if given else [], address, "REST API")
        request.user = token.user
        request.access_token = token  # type: ignore[attr-defined]  # the audit trail names it
        if wait := _too_often(token):
            raise Refused(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"This token has made {settings.API_RATE:,} requests in a minute. Wait {wait} seconds.",
                {"Retry-After": str(wait)},
            )
        access_tokens.check(token, self.scope)
        return token

    def authenticate(self, request: HttpRequest, token: str) -> AccessToken:
        raise NotImplementedError("__call__ reads the header itself")


READS_RUNS = AccessTokenAuth(TokenScope.RUNS_READ)
CHANGES_RUNS = AccessTokenAuth(TokenScope.RUNS_WRITE)
READS_GATES = AccessTokenAuth(TokenScope.GATES_READ)
DECIDES = AccessTokenAuth(TokenScope.GATES_DECIDE)
ADMINISTERS = AccessTokenAuth(TokenScope.ADMIN)


def _too_often(token: AccessToken) -> int:
    """Count a request of this token. Returns the seconds to wait, 0 while there were not too many in this minute."""
    now = int(time.time())
    count = throttle.count_up(f"api/{token.pk}/{now // _MINUTE}", 2 * _MINUTE)
    return _MINUTE - now % _MINUTE if count > settings.API_RATE else 0
