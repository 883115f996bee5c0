"""A server that answers each request with bytes of the test's choice, as slowly as it likes, and counts its pieces."""

from __future__ import annotations

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

PAUSE = 0.02
"""Seconds between two pieces of a slow answer."""
MEGABYTE = 1_000_000


class HostileServer:
    """`requests`: their heads. `sent`: pieces of answers; whoever cuts the connection off ends the count."""

    def __init__(self, answer: Callable[[str], Iterable[bytes]], pause: float = 0.0) -> None:
        self.requests: list[str] = []
        self.sent = 0
        self._answer = answer
        self._pause = pause
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self._ended = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._ended.set()
        self._socket.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (piece := connection.recv(65_536)):
                head += piece
            self.requests.append(head.partition(b"\r\n\r\n")[0].decode())
            for piece in self._answer(self.requests[-1]):
                connection.sendall(piece)
                self.sent += 1
                if self._pause:
                    time.sleep(self._pause)
                if self._ended.is_set():
                    return


@contextmanager
def answering(answer: Callable[[str], Iterable[bytes]], pause: float = 0.0) -> Iterator[HostileServer]:
    server = HostileServer(answer, pause)
    try:
        yield server
    finally:
        server.close()


def head(status: int, **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Reason", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@cache
@cache
def packed(megabytes: int, encoding: str) -> bytes:
    """So many megabytes of spaces, compressed."""
    packer = zlib.compressobj(9, wbits=31 if "gzip" in encoding else 15)
    return b"".join(packer.compress(b" " * MEGABYTE) for _ in range(megabytes)) + packer.flush()
