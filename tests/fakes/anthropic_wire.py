"""The sockets: turns a `Reply` into bytes on 127.0.0.1, with its delays and broken endings."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_POLL = 0.01  # seconds that closing may take at most, for nothing else waits on it
_FILL = 0.02  # seconds between two fillers
_GRACE = 2.0  # seconds for connections to end when the server closes


@dataclass(frozen=True)
class Call:
    """One HTTP request, before anything is known about it. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes


@dataclass(frozen=True)
class Reply:
    """One HTTP response. With `chunked` each part is a chunk, else they are one body of known length.

    `cut` closes the socket before the end: without the last chunk, or half-way through the length.
    `closes` closes it after the end. `filler` is a part that is sent again and again while it stalls.
    """

    status: int
    parts: list[bytes]
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    wait: float = 0.0
    stall: float = 0.0
    filler: bytes = b""
    cut: bool = False
    closes: bool = False


def json_parts(value: object) -> list[bytes]:
    """A body in two parts, so that it has a middle to stall in or to be cut at."""
    body = json.dumps(value, ensure_ascii=False).encode()
    return [body[: len(body) // 2], body[len(body) // 2 :]]


class Wire(ThreadingHTTPServer):
    """Serves from construction to `close`, on a free port where none is named; every connection has its thread."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Callable[[Call], Reply], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.respond = respond
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self.serve_forever, args=(_POLL,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._open.discard(request)
                self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up (deadline, cancelled run) is no fault of the server's."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Ends waits and open connections. Returns after at most 2 s, even if a script never does."""
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
        with self._changed:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, timeout=_GRACE)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Wire

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        if len(raw) < length:  # the client died in mid-request; it asked nothing
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.respond(Call(self.command, self.path, headers, raw)))

    def _send(self, reply: Reply) -> None:
        self.server.stopping.wait(reply.wait)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, reply.parts))))
        self.end_headers()
        self._send_parts(reply)
        if reply.cut:
            self.close_connection = True
        elif reply.chunked:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or reply.closes

    def _send_parts(self, reply: Reply) -> None:
        middle = len(reply.parts) // 2
        parts = reply.parts if reply.chunked or not reply.cut else reply.parts[:middle]
        for i, part in enumerate(parts):
            if i == middle:
                self._stall(reply)
            self._send_part(part, reply)

    def _send_part(self, part: bytes, reply: Reply) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if reply.chunked else part)

    def _stall(self, reply: Reply) -> None:
        ends = time.monotonic() + reply.stall
        while reply.filler and time.monotonic() < ends and not self.server.stopping.wait(_FILL):
            self._send_part(reply.filler, reply)
        self.server.stopping.wait(max(0.0, ends - time.monotonic()))

    def log_message(self, *args: object) -> None:
        """Silent: the tests look at `requests` and `violations`."""
