"""Who calls: the access token of a request, and what it allows."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security import HttpBearer

from runs.enums import TokenScope
from runs.models import AccessToken
from runs.people import access_tokens
from runs.web.site.admission import admitted, count_request


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
        count_request(token)
        access_tokens.check(token, self.scope)
        return token

    def authenticate(self, request: HttpRequest, token: str) -> AccessToken:
        raise NotImplementedError("__call__ reads the header itself")


READS_RUNS = AccessTokenAuth(TokenScope.RUNS_READ)
CHANGES_RUNS = AccessTokenAuth(TokenScope.RUNS_WRITE)
READS_GATES = AccessTokenAuth(TokenScope.GATES_READ)
DECIDES = AccessTokenAuth(TokenScope.GATES_DECIDE)
ADMINISTERS = AccessTokenAuth(TokenScope.ADMIN)
