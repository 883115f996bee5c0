"""Tells the audit trail where the actions of a request or a socket come from."""

from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from runs.enums import AuditChannel
from runs.models import AccessToken, User
from runs.store.audit_trail import Origin, coming_from
from runs.web.site.addresses import API_PATH
from runs.web.site.requests import GetResponse, client_of, program_of
from runs.web.site.same_origin import values


def origin_of(request: HttpRequest) -> Origin:
    """`serve` has taken the address from a trusted proxy.

    The person is looked up when a line is written: the session is not read yet, which an event loop must not do.
    """

    def person() -> User | None:
        user = getattr(request, "user", None)
        return user if isinstance(user, User) else None

    def through() -> str:
        token = getattr(request, "access_token", None)  # of a program that has shown one that works
        return _named(token) if token else program_of(request.headers.get("User-Agent", ""))

    channel = AuditChannel.PROGRAM if request.path.startswith(API_PATH) else AuditChannel.PAGE
    return Origin(channel, request.META.get("REMOTE_ADDR", ""), through, person)


def origin_of_program(address: str, token: AccessToken | None = None) -> Origin:
    """Where an action comes from that a program asks for, with this access token if it has shown one that works."""
    if token is None:
        return Origin(AuditChannel.PROGRAM, address)
    return Origin(AuditChannel.PROGRAM, address, lambda: _named(token), lambda: token.user)


def _named(token: AccessToken) -> str:
    return f"access token “{token.name}”"


def origin_of_socket(scope: Any) -> Origin:
    """As for a request. `scope` is that of the connection, in which the user is known."""

    def through() -> str:
        return program_of(b" ".join(values(scope["headers"], b"user-agent")).decode("latin-1"))

    return Origin(AuditChannel.PAGE, client_of(scope), through)


def audit_origin(get_response: GetResponse) -> GetResponse:
    """Comes after the users: a session names the person when a line is written."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        with coming_from(origin_of(request)):
            return get_response(request)

    return answer
