"""Only pages of this site may open a socket, or use the MCP server from a browser."""

import re
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

_PORTS = {"http": 80, "https": 443}
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)", re.ASCII)


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

    The Origin has the form that browsers give it, a scheme and a host: what a parser would leave out of anything else
    may be the part that counts. With TLS it has to say https, as the proxy has; without, http, as for Django's forms.
    """
    origins = values(headers, b"origin")
    host = our_host(headers)
    origin = _ORIGIN.fullmatch(origins[0].decode("latin-1").lower()) if len(origins) == 1 else None
    if not host or not origin or origin["scheme"] != ("https" if settings.TLS else "http"):
        return False
    if settings.TLS and not came_as_https(headers):
        return False
    default = f":{_PORTS[origin['scheme']]}"
    return origin["host"].removesuffix(default) == host.lower().removesuffix(default)


def our_host(headers: list[tuple[bytes, bytes]]) -> str:
    """The requested host, with its port, if there is exactly one and it is in ALLOWED_HOSTS; otherwise empty."""
    hosts = values(headers, b"host")
    host = hosts[0].decode("latin-1") if len(hosts) == 1 else ""
    domain, _ = split_domain_port(host)
    return host if domain and validate_host(domain, settings.ALLOWED_HOSTS) else ""


def came_as_https(headers: list[tuple[bytes, bytes]]) -> bool:
    """As Django reads SECURE_PROXY_SSL_HEADER: the first value counts."""
    said = values(headers, b"x-forwarded-proto")
    return len(said) == 1 and said[0].split(b",")[0].strip() == b"https"


def values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    """All values of one header, whose name is in small letters."""
    return [value for one, value in headers if one.lower() == name]
