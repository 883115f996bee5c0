"""Pages of the web: public addresses alone, whatever names and redirects say; bounded in size and time; as text."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from runs.errors import InvalidInput, LeaseLost
from runs.http_client import http_fetch

pytestmark = pytest.mark.allow_hosts(["127.0.0.1", "127.0.0.2"])
NAMES = {"pages.example": ["127.0.0.1"], "inside.example": ["127.0.0.2"], "both.example": ["127.0.0.1", "10.0.0.1"]}
type Content = tuple[int, dict[str, str], bytes]


class Web:
    """A server on all loopback addresses. `pages` by path; `asked`: the paths with the Host of each request."""

    def __init__(self) -> None:
        self.pages: dict[str, Content] = {}
        self.asked: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append((self.path, self.headers["Host"]))
                web.headers.append(dict(self.headers))
                status, headers, content = web.pages.get(self.path, (404, {}, b"none"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for at in range(0, len(content), 65_536):
                    self.wfile.write(content[at : at + 65_536])
                if self.path == "/slow":
                    for _ in range(100):
                        time.sleep(0.1)
                        self.wfile.write(b"x")

            def log_message(self, *given: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def put(self, path: str, content: str | bytes, media: str = "text/plain; charset=utf-8") -> str:
        data = content if isinstance(content, bytes) else content.encode()
        self.pages[path] = 200, {"Content-Type": media}, data
        return self.address(path)

    def redirect(self, path: str, to: str) -> str:
        self.pages[path] = 302, {"Location": to}, b""
        return self.address(path)

    def address(self, path: str, host: str = "pages.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Names as above; 127.0.0.1 counts as public, 127.0.0.2 does not."""
    resolve = socket.getaddrinfo

    def named(host: Any, port: Any, *given: Any, **options: Any) -> Any:
        found = NAMES.get(host.decode() if isinstance(host, bytes) else str(host), [host])
        return [info for one in found for info in resolve(one, port, *given, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", named)
    monkeypatch.setattr(http_fetch, "is_public", lambda address: address == "127.0.0.1")
    server = Web()
    yield server
    server.close()


def anywhere(host: str) -> None:
    """Every site may be read."""


@pytest.mark.slow
def test_a_page_is_read_with_nothing_of_this_machine(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    address = web.put("/a?b=c", "Hello")
    found = http_fetch.fetch(address + "#part", anywhere)
    assert found == http_fetch.Fetched(address, "text/plain", b"Hello")
    assert web.asked == [("/a?b=c", f"pages.example:{web.port}")]
    assert {name.lower() for name in web.headers[0]} == {"host", "user-agent", "accept", "accept-encoding"}


@pytest.mark.slow
def test_redirects_are_followed_and_each_is_asked_about(web: Web) -> None:
    web.put("/end", "There")
    web.redirect("/middle", f"http://pages.example:{web.port}/end")
    hosts: list[str] = []
    assert http_fetch.fetch(web.redirect("/start", "/middle"), hosts.append).address == web.address("/end")
    assert hosts == ["pages.example"] * 3
    with pytest.raises(InvalidInput, match="redirected more than 5 times"):
        http_fetch.fetch(web.redirect("/again", "/again"), anywhere)


@pytest.mark.slow
@pytest.mark.parametrize(
    "to",
    [
        "http://inside.example:{port}/secret",
        "http://127.0.0.2:{port}/secret",
        "http://2130706434:{port}/secret",
        "http://both.example:{port}/secret",
        "http://[::1]:{port}/secret",
    ],
)
def test_no_redirect_leads_to_a_private_address(web: Web, to: str) -> None:
    web.put("/secret", "the key")
    with pytest.raises(InvalidInput, match="not public"):
        http_fetch.fetch(web.redirect("/start", to.format(port=web.port)), anywhere)
    assert [path for path, _ in web.asked] == ["/start"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("file:///etc/passwd", "begin with https"),
        ("gopher://pages.example/", "begin with https"),
        ("pages.example", "begin with https"),
        ("http://", "begin with https|no address"),
        ("http://user:pass@pages.example/", "name or password"),
        ("http://pages.example:25/", "no web server"),
        ("http://pages.example/" + "x" * 2_000, "at most 2,000"),
        ("http://[::1", "is not the address"),
        ("http://nowhere.invalid/", "could not be reached"),
    ],
)
@pytest.mark.usefixtures("web")
def test_what_is_no_page_of_the_web_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        http_fetch.fetch(address, anywhere)


@pytest.mark.slow
def test_too_much_too_slow_and_errors_are_said(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="status 404"):
        http_fetch.fetch(web.address("/none"), anywhere)
    with pytest.raises(InvalidInput, match="more than 10,000,000 bytes"):
        http_fetch.fetch(web.put("/large", b"x" * 11_000_000), anywhere)
    monkeypatch.setattr(http_fetch, "SECONDS", 0.5)
    with pytest.raises(InvalidInput, match="took longer"):
        http_fetch.fetch(web.put("/slow", "x"), anywhere)


@pytest.mark.slow
def test_it_is_broken_off_with_the_work(web: Web) -> None:
    def lost() -> None:
        raise LeaseLost("gone")

    with pytest.raises(LeaseLost):
        http_fetch.fetch(web.put("/a", "x"), anywhere, lost)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("2002:a00:1::1", False),
        ("64:ff9b::a00:1", False),
        ("fec0::1", False),
        ("feff::1", False),
        ("::7f00:1", False),
        ("::808:808", False),
        ("::ffff:0:7f00:1", False),
        ("::ffff:0:a00:1", False),
        ("::5efe:7f00:1", False),
        ("2606:4700::5efe:7f00:1", False),
        ("2606:4700::200:5efe:a00:1", False),
        ("5f00::1", False),
        ("64:ff9b:1::a00:1", False),
        ("2001:0:7f00:1::", False),
        ("2001:db8::1", False),
        ("3fff::1", False),
        ("100::1", False),
        ("4000::1", False),
        ("fc00::1", False),
        ("ff0e::1", False),
        ("2002:7f00:1::1", False),
        ("2002:808:808::1", True),
        ("192.88.99.1", False),
        ("192.0.0.8", False),
        ("198.18.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("2a00:1450:4001::200e", True),
        *(
            (address, True)
            for address in ("1.1.1.1", "192.0.1.1", "168.63.129.15", "2001:200::1", "2001:4860:4860::8888")
        ),
        *((address, True) for address in ("2003::1", "2400:cb00::1", "2620:fe::fe", "2800::1", "2a10::1", "2c0f::1")),
        *((address, False) for address in ("168.63.129.16", "::ffff:168.63.129.16", "2002:a83f:8110::1")),
        *((address, False) for address in ("100.100.100.200", "fd00:ec2::254", "169.254.170.2", "fd20:ce::254")),
        *((address, False) for address in ("192.0.0.9", "192.0.0.10", "192.0.0.170", "192.31.196.1", "192.52.193.1")),
        *((address, False) for address in ("192.175.48.1", "2620:4f:8000::1", "2001:1::1", "2001:1::2", "2001:1::3")),
        *((address, False) for address in ("2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1")),
        *((address, False) for address in ("2001:30::1", "2001:1ff::1", "3ffe::1", "2d00::1", "2e00::1", "3000::1")),
        *(
            (address, False)
            for address in ("fed0::1", "feb0::1", "ff02::1", "8000::1", "c000::1", "e000::1", "1000::1")
        ),
        *(
            (address, False)
            for address in ("::", "::1:0", "::ffff:0.0.0.0", "::ffff:224.0.0.1", "0.1.2.3", "127.1.2.3")
        ),
        *((address, False) for address in ("100.127.255.255", "172.31.255.255", "198.19.255.255", "239.255.255.255")),
        *(
            (address, False)
            for address in ("192.0.2.1", "198.51.100.1", "203.0.113.1", "2002:c0a8:101::1", "2002:e000:1::")
        ),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert http_fetch.is_public(address) == public
