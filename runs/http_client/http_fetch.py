"""Reads one page of the public web, or posts a webhook. Nothing private is ever connected to, whatever a name or a
redirect says.

Where a name leads is decided when it is connected to, not before: a name that leads elsewhere at the second look gains
nothing by it. No cookie, key or proxy of this machine goes along.
"""

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import Future
from functools import cache
from typing import NamedTuple

import httpcore2
import httpx2

from runs.errors import InvalidInput, PevError
from runs.http_client.bounded_reading import ENCODING, AnswerRefused, Body
from runs.http_client.watchdog import Watch

MAX_BYTES = 10_000_000  # of an answer
MAX_REDIRECTS = 5  # each address is checked again
MAX_ADDRESS = 2_000
"""Characters: a longer one carries something out rather than naming a page."""
SECONDS = 30.0
"""For all of it, redirects too: a server that sends a byte of anything at a time is not waited for."""
_WAIT = 10.0
"""Seconds for each connection and each piece."""
_TIMEOUT = {"connect": _WAIT, "read": _WAIT, "write": _WAIT, "pool": _WAIT}
_POLL_SECONDS = 0.05
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = [("User-Agent", "pevsite"), ("Accept", "*/*"), ENCODING]


class Unreachable(PevError):
    """A server did not answer; it may do so later. The message is a sentence."""


class Posted(NamedTuple):
    """The status of an answer, and its header Retry-After, empty without one."""

    status: int
    retry_after: str


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

    def check() -> None:
        keep_going()
        if time.monotonic() > end:
            raise InvalidInput(f"{address[:200]} took longer than {SECONDS:g} seconds.")

    with Watch(check) as watch:
        for _ in range(MAX_REDIRECTS + 1):
            url = _checked(address)
            may(url.raw_host.decode())
            try:
                found = _ask(url, end, check, watch)
            except AnswerRefused as error:
                raise InvalidInput(f"The page at {url.host} is not read: {error}.") from error
            except (httpcore2.TimeoutException, TimeoutError) as error:
                raise InvalidInput(f"{url.host} did not answer in time.") from error
            except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError) as error:
                why = str(error)[:200] or type(error).__name__
                raise InvalidInput(f"{url.host} could not be reached: {why}.") from error
            if isinstance(found, Fetched):
                return found
            address = str(url.join(found))
    raise InvalidInput(f"{address[:200]} is redirected more than {MAX_REDIRECTS} times.")


def post(address: str, content: bytes, headers: Mapping[str, str], private: Container[str] = ()) -> Posted:
    """Posts this to an address. The body of the answer is not read, and redirects are not followed. `private`: hosts
    that need no public address and no TLS, because an administrator has named them.

    Raises InvalidInput with a sentence for an address that is refused, and Unreachable for a server that does not
    answer.
    """
    end = time.monotonic() + SECONDS
    url = _checked(address)
    if url.scheme != "https" and url.host not in private:
        raise InvalidInput(f"Nothing is sent to {url.host} without TLS. Use an address that begins with https://.")

    def check() -> None:
        if time.monotonic() > end:
            raise Unreachable(f"{url.host} took longer than {SECONDS:g} seconds.")

    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    sent = [("Host", url.netloc.decode()), ("User-Agent", "pevsite"), ENCODING, *headers.items()]
    backend = _PublicOnly(end, check, private)
    with Watch(check) as watch:
        extensions = {"timeout": _TIMEOUT, "trace": watch.traced}
        try:
            with (
                httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=backend) as pool,
                pool.stream("POST", target, headers=sent, content=content, extensions=extensions) as response,
            ):
                asked = next((value for name, value in response.headers if name.lower() == b"retry-after"), b"")
                return Posted(response.status, asked.decode("latin-1"))
        except (httpcore2.TimeoutException, TimeoutError) as error:
            raise Unreachable(f"{url.host} did not answer in time.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError) as error:
            why = str(error)[:200] or type(error).__name__
            raise Unreachable(f"{url.host} could not be reached: {why}.") from error


def _checked(address: str) -> httpx2.URL:
    if len(address) > MAX_ADDRESS:
        raise InvalidInput(f"The address has {len(address):,} characters; at most {MAX_ADDRESS:,} are sent.")
    try:
        url = httpx2.URL(address.strip()).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InvalidInput(f"“{address[:100]}” is not the address of a page.") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise InvalidInput(
            f"“{address[:100]}” cannot be read: pages have addresses that begin with https:// or http://."
        )
    if url.userinfo:
        raise InvalidInput("An address with a name or password in it is not read.")
    if url.port is not None and url.port < 1024:
        raise InvalidInput(f"Port {url.port} of {url.host} is no web server’s; it is not connected to.")
    return url


def _ask(url: httpx2.URL, end: float, check: Callable[[], None], watch: Watch) -> Fetched | str:
    """What is there, or where that redirects to."""
    target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    headers = [("Host", url.netloc.decode()), *_HEADERS]
    extensions = {"timeout": _TIMEOUT, "trace": watch.traced}
    with (
        httpcore2.ConnectionPool(ssl_context=_tls(), network_backend=_PublicOnly(end, check)) as pool,
        pool.stream("GET", target, headers=headers, extensions=extensions) as response,
    ):
        named = httpx2.Headers(response.headers)
        if response.status in _REDIRECTS and "location" in named:
            return named["location"]
        if response.status != 200:
            raise InvalidInput(f"{url.host} answered with status {response.status}; there is no page to read.")
        body = Body(response.status, named, MAX_BYTES)
        media = named.get("content-type", "").partition(";")[0].strip().lower()
        pieces = []
        for piece in response.iter_stream():
            check()
            pieces.append(body.take(piece))
        return Fetched(str(url), media, b"".join([*filter(None, pieces), body.rest()]))


@cache
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class _PublicOnly(httpcore2.SyncBackend):
    """Connects to public addresses alone, to the very one that was looked at, until the time on the clock has come.

    Hosts in `private` may have any address.
    """

    def __init__(self, end: float, check: Callable[[], None], private: Container[str] = ()) -> None:
        super().__init__()
        self._private = private
        self._end = end
        self._check = check

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        found = _addresses_of(host, port, self._check)
        refused = host not in self._private and any(not is_public(one) for one in found)
        if refused or not found:
            raise InvalidInput(f"{host} leads to an address that is not public; it is not connected to.")
        problem: Exception | None = None
        for one in sorted(found, key=lambda one: ":" in one):  # IPv4 first: IPv6 is often there and leads nowhere
            self._check()  # a name may have a hundred addresses at which nothing answers
            left = min(_WAIT, max(self._end - time.monotonic(), 0.1))
            try:
                return super().connect_tcp(one, port, left, local_address, socket_options)
            except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
                problem = error
        assert problem is not None
        raise problem


def _addresses_of(host: str, port: int, check: Callable[[], None]) -> set[str]:
    """The addresses of a name. They are looked up in a thread of their own, and are waited for only as long as
    `check` allows, because the owner of a name can delay the answer.
    """
    answer: Future[set[str]] = Future()

    def look_up() -> None:
        try:
            answer.set_result({str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)})
        except Exception as error:
            answer.set_exception(error)

    # A look-up may outlive the call, and must not keep the process from ending.
    threading.Thread(target=look_up, name="resolver", daemon=True).start()
    while True:
        try:
            return answer.result(_POLL_SECONDS)
        except TimeoutError:
            if answer.done():  # the resolver's own
                raise
            check()


_UNICAST = ipaddress.ip_network("2000::/3")
"""All that is given out of IPv6. What is outside of it are sites, links, groups, tunnels, translators and loopback."""
_NOWHERE = [
    ipaddress.ip_network(network)
    for network in (
        *("2001::/23", "192.0.0.0/24"),  # protocols: Teredo, relays of multicast, the nearest box that translates
        *(
            "192.31.196.0/24",
            "192.175.48.0/24",
            "2620:4f:8000::/48",
            "192.52.193.0/24",
        ),  # the nearest server of a group: AS112, AMT
        *("192.88.99.0/24", "3fff::/20"),  # relays of 6to4, documentation
        *("2d00::/8", "2e00::/7", "3000::/4"),  # not given out
        "168.63.129.16/32",  # Azure's host, which tells the machines on it their secrets
    )
]
"""What Python takes for the internet's, or did, and where there is no page: it may be something of this network."""
_ISATAP = {0x5EFE, 0x02005EFE}
"""The third quarter of an address by which a tunnel leads to the address of IPv4 in the fourth."""


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet's, and leads through no tunnel to one that is not."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(one, ipaddress.IPv6Address):
        if inner := one.ipv4_mapped or one.sixtofour:
            return is_public(str(inner))
        if one not in _UNICAST or int(one) >> 32 & 0xFFFFFFFF in _ISATAP:
            return False
    return one.is_global and not one.is_multicast and not any(one in network for network in _NOWHERE)
