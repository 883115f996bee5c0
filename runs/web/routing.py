"""The addresses of the sockets, and the rule that only pages of this very site may open one."""

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.urls import path, re_path

from runs.web.following.consumer import RunConsumer

websocket_urlpatterns: list[Any] = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    re_path(r"", WebsocketDenier.as_asgi()),
]
_PORTS = {"http": 80, "https": 443}


class SameOrigin:
    """Refuses a socket whose Origin is not the host that was asked, or whose host is not one of ours.

    With TLS also one that did not come through the proxy as wss: pages are redirected, a socket cannot be.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> Any:
        app = self._app if is_same_origin(scope["headers"]) else WebsocketDenier.as_asgi()
        return await app(scope, receive, send)


def is_same_origin(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether there is exactly one Origin and one Host, both name one place, and it is in ALLOWED_HOSTS.

    With TLS the Origin and the proxy also have to say https.
    """
    origins = values(headers, b"origin")
    host = our_host(headers)
    if len(origins) != 1 or not host:
        return False
    try:
        origin = urlsplit(origins[0].decode("latin-1"))
        default = _PORTS.get(origin.scheme)
        asked = urlsplit(f"{origin.scheme}://{host}")
        here = (asked.hostname, asked.port or default)
        if settings.TLS and not (origin.scheme == "https" and came_as_https(headers)):
            return False
        return default is not None and (origin.hostname, origin.port or default) == here
    except ValueError:
        return False


def our_host(headers: list[tuple[bytes, bytes]]) -> str:
    """The host that was asked, with its port, if there is exactly one and it is in ALLOWED_HOSTS; else nothing."""
    hosts = values(headers, b"host")
    host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
    domain, _ = split_domain_port(host)
    return host if domain and validate_host(domain, settings.ALLOWED_HOSTS) else ""


def came_as_https(headers: list[tuple[bytes, bytes]]) -> bool:
    """As Django reads SECURE_PROXY_SSL_HEADER: the first value counts."""
    said = values(headers, b"x-forwarded-proto")
    return len(said) == 1 and said[0].split(b",")[0].strip() == b"https"


def values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    """All values of one header; its name in small letters."""
    return [value for one, value in headers if one.lower() == name]
