"""Clients of a running site that speak HTTP by hand: honest ones, slow ones and hostile ones."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

_BOUNDARY = "----a-line-that-no-file-has"


class Visitor:
    """A browser without a screen: it keeps cookies and knows the forms of the site."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._cookies: dict[str, str] = {}

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    def carry(self, cookies: Mapping[str, str]) -> None:
        self._cookies.update(cookies)

    def get(self, path: str) -> tuple[int, str]:
        return self.send("GET", path)

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
        """Status and text of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}", **headers}
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            for cookie in response.headers.get_all("Set-Cookie") or []:
                name, _, value = cookie.partition(";")[0].partition("=")
                self._cookies[name] = value
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def sign_in(self, link: str) -> None:
        path = re.sub(r"^http://[^/]+", "", link)
        _, page = self.get(path)
        if token := re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page):
            self.send(
                "POST", path, f"csrfmiddlewaretoken={token[1]}".encode(), **{"Content-Type": _FORM, "Referer": link}
            )
        assert self.get("/")[0] == 200

    def submit(self, size: int) -> str:
        """The address of a run that has one text file of so many bytes."""
        fields = dict(_values(self.get("/runs/new/")[1]))
        fields |= {"request": "Review these files", "template": "document-review"}
        parts = [_part(f'name="{name}"', value.encode()) for name, value in fields.items()]
        parts.append(_part('name="files"; filename="large.txt"', b"The budget is 1,200 EUR.\n" * (size // 25)))
        body = b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={_BOUNDARY}"
        status, text = self.send("POST", "/runs/new/", body, **{"Content-Type": kind, "Accept": "application/json"})
        assert status == 201, text
        return str(json.loads(text)["location"])


_FORM = "application/x-www-form-urlencoded"
_CHOICE = re.compile(r'type="(checkbox|radio)"')


def _values(page: str) -> Iterator[tuple[str, str]]:
    """What a browser would send of a form that no one has changed."""
    for found in re.finditer(r'<(input|select)\b[^>]*\bname="([^"]+)"[^>]*>', page):
        tag, kind, name = found[0], found[1], found[2]
        if kind == "select":
            options = page[found.end() : page.index("</select>", found.end())]
            chosen = re.search(r'value="([^"]*)" selected', options) or re.search(r'value="([^"]*)"', options)
            yield name, unescape(chosen[1]) if chosen else ""
        elif 'type="file"' not in tag and (" checked" in tag or not _CHOICE.search(tag)):
            value = re.search(r'value="([^"]*)"', tag)
            yield name, unescape(value[1]) if value else "on" if _CHOICE.search(tag) else ""


def _part(disposition: str, content: bytes) -> bytes:
    head = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + content + b"\r\n"


class Line:
    """One connection, on which anything may be sent."""

    def __init__(self, port: int, *, buffer: int = 0) -> None:
        self._port = port
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))

    def ask(self, request: str, *headers: str) -> Line:
        lines = [f"{request} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", *headers, "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        return self

    def flood(self, count: int, piece: bytes) -> None:
        """Send so many pieces, or as many as are taken."""
        with suppress(OSError):
            for _ in range(count):
                self.socket.sendall(piece)

    def answer(self) -> str:
        """Everything until the server closes, or says nothing for ten seconds; then the line is closed."""
        got = b""
        with suppress(OSError):
            while piece := self.socket.recv(65_536):
                got += piece
        self.close()
        return got.decode("latin-1")

    def is_open(self) -> bool:
        """Whether the server has neither closed nor cut it."""
        self.socket.setblocking(False)
        try:
            return self.socket.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        self.socket.close()


def memory(pid: int) -> int:
    """The most bytes of memory that a process has had."""
    return 1024 * _status(pid, "VmHWM")


def _status(pid: int, name: str) -> int:
    found: Any = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1])


def spooled(pid: int) -> int:
    """Bytes of the files without a name that a process has open."""
    total = 0
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in between
            total += file.stat().st_size if str(file.readlink()).endswith("(deleted)") else 0
    return total


class Follower:
    """A page that follows a run: it says what it has seen, and is told the rest."""

    def __init__(self, visitor: Visitor, run_id: int) -> None:
        self._line = Line(visitor.port)
        self._line.socket.settimeout(120)
        self._line.ask(
            f"GET /ws/runs/{run_id}/?tab=overview",
            *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
            *("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Cookie: {visitor.cookie}"),
            f"Origin: http://127.0.0.1:{visitor.port}",
        )
        self._stream = self._line.socket.makefile("rb")
        assert b" 101 " in self._stream.readline()
        while self._stream.readline().strip():
            pass
        said = b'{"seen": 0}'
        self._line.socket.sendall(bytes([0x81, 0x80 | len(said)]) + bytes(4) + said)  # a mask of zeros changes nothing

    def told(self) -> dict[str, Any]:
        """The next message."""
        while True:
            kind, size = self._stream.read(2)
            if size >= 126:
                size = int.from_bytes(self._stream.read(2 if size == 126 else 8))
            message = self._stream.read(size)
            if kind == 0x81:
                return dict(json.loads(message))

    def close(self) -> None:
        self._stream.close()
        self._line.close()
