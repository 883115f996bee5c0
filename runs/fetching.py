"""Reads one page of the public web. Nothing private is ever connected to, whatever a name or a redirect says.

Where a name leads is decided when it is connected to, not before: a name that leads elsewhere at the second look gains
nothing by it. No cookie, key or proxy of this machine goes along.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import httpcore2
import httpx2

from runs.errors import InvalidInput

MAX_BYTES = 10_000_000
MAX_REDIRECTS = 5
MAX_ADDRESS = 2_000
"""Characters: a longer one carries something out rather than naming a page."""
SECONDS = 30.0
"""For all of it: a server that answers a byte at a time is not waited for."""
_WAIT = 10.0
"""Seconds for each connection and each piece."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_HEADERS = [("User-Agent", "pevsite"), ("Accept", "*/*"), ("Accept-Encoding", "identity")]


class Fetched(NamedTuple):
    """`address`: where it was found in the end; `media`: what its server calls it, such as text/html."""

    address: str
    media: str
    data: bytes


def fetch(address: str, may: Callable[[str], None], keep_going: Callable[[], None] = lambda: None) -> Fetched:
    """The page at this address. `may` is asked for the host of every address, also of redirects, and raises to refuse
    it; `keep_going` raises to break off.

    Raises InvalidInput with a sentence: an address that cannot be used, one that is private, an answer that is no page,
    too much or too slow.
    """
    end = time.monotonic() + SECONDS
    for _ in range(MAX_REDIRECTS + 1):
        url = _checked(address)
        may(url.raw_host.decode())
        try:
            found = _asked(url, end, keep_going)
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise InvalidInput(f"{url.host} did not answer in time.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError) as error:
            why = str(error)[:200] or type(error).__name__
            raise InvalidInput(f"{url.host} could not be reached: {why}.") from error
        if isinstance(found, Fetched):
            return found
        address = str(url.join(found))
    raise InvalidInput(f"{address[:200]} is redirected more than {MAX_REDIRECTS} times.")


def _checked(address: str) -> httpx2.URL:
    if len(address) > MAX_ADDRESS:
        raise InvalidInput(f"The address has {len(address):,} characters; at most {MAX_ADDRESS:,} are sent.")
    try:
        url = httpx2.URL(address.strip()).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InvalidInput(f"“{address[:100]}” is no address of a page.") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise InvalidInput(
            f"“{address[:100]}” cannot be read: pages have addresses that begin with https:// or http://."
        )
    if url.userinfo:
        raise InvalidInput("An address with a name or password in it is not read.")
    if url.port is not None and url.port < 1024:
        raise InvalidInput(f"Port {url.port} of {url.host} is no web server’s; it is not connected to.")
    return url


def _asked(url: httpx2.URL, end: float, keep_going: Callable[[], None]) -> Fetched | str:
    """What is there, or where that redirects to."""
    timeout = {"connect": _WAIT, "read": _WAIT, "write": _WAIT, "pool": _WAIT}
    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    headers = [("Host", url.netloc.decode()), *_HEADERS]
    with (
        httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=_PublicOnly()) as pool,
        pool.stream("GET", target, headers=headers, extensions={"timeout": timeout}) as response,
    ):
        named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        if response.status in _REDIRECTS and "location" in named:
            return named["location"]
        if response.status != 200:
            raise InvalidInput(f"{url.host} answered with status {response.status}; there is no page to read.")
        if named.get("content-encoding", "identity") not in {"", "identity"}:
            raise InvalidInput(f"{url.host} answered in an encoding that was not asked for.")
        media = named.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(str(url), media, _read(response.iter_stream(), url.host, end, keep_going))


def _read(pieces: Iterable[bytes], host: str, end: float, keep_going: Callable[[], None]) -> bytes:
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > MAX_BYTES:
            raise InvalidInput(f"The page has more than {MAX_BYTES // 1_000_000} MB; it is not read.")
        if time.monotonic() > end:
            raise InvalidInput(f"{host} took longer than {SECONDS:g} seconds.")
        keep_going()
    return bytes(data)


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class _PublicOnly(httpcore2.SyncBackend):
    """Connects to public addresses alone, to the very one that was looked at."""

    def connect_tcp(self, host: str, port: int, *given: Any, **named: Any) -> httpcore2.NetworkStream:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        private = [one for one in found if not is_public(one)]
        if private or not found:
            raise InvalidInput(f"{host} leads to an address that is not public; it is not read.")
        problem: Exception | None = None
        for one in sorted(found, key=lambda one: ":" in one):  # IPv4 first: IPv6 is often there and leads nowhere
            try:
                return super().connect_tcp(one, port, *given, **named)
            except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
                problem = error
        assert problem is not None
        raise problem


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's, and leads through no tunnel to one that is not."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address):
        if inner := one.ipv4_mapped or one.sixtofour:
            return is_public(str(inner))
        if one.teredo or one in _NAT64:
            return False
    return one.is_global and not one.is_multicast
