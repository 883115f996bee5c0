"""A server that answers as tests say, and remembers what it was sent."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2
import pytest

from pevsite.client import commands

URL = "https://pevsite.example"
TOKEN = "pev_" + "x" * 43
Answer = httpx2.Response | Exception | Callable[[], httpx2.Response]


class FakeApi:
    """`answers`: those to a request such as `GET /runs`, in turn; the last one is given again and again."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = defaultdict(list)
        self.requests: list[httpx2.Request] = []
        self.waits: list[float] = []

    def on(self, asked: str, *answers: Answer | dict[str, Any] | bytes) -> None:
        for one in answers:
            if isinstance(one, dict):
                one = httpx2.Response(200, json=one)
            elif isinstance(one, bytes):
                one = httpx2.Response(200, content=one)
            self.answers[asked].append(one)

    def run(self, *arguments: str) -> int:
        return commands.run(arguments, httpx2.MockTransport(self._answer), self.waits.append)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        self.requests.append(request)
        left = self.answers[f"{request.method} {request.url.path.removeprefix('/api/v1')}"]
        answer = left.pop(0) if len(left) > 1 else left[0] if left else problem(404, "There is nothing.")
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer


class _Arriving(httpx2.SyncByteStream):
    def __init__(self, pieces: Sequence[bytes | Exception]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        for one in self._pieces:
            if isinstance(one, Exception):
                raise one
            yield one


def arriving(*pieces: bytes | Exception, media_type: str = "text/event-stream") -> Callable[[], httpx2.Response]:
    """An answer whose body arrives in these pieces, or breaks off with an error."""
    return lambda: httpx2.Response(200, stream=_Arriving(pieces), headers={"Content-Type": media_type})


def problem(status: int, detail: str, **headers: str) -> httpx2.Response:
    content = {"type": "about:blank", "title": "", "status": status, "detail": detail, "fields": []}
    return httpx2.Response(status, json=content, headers={name.replace("_", "-"): one for name, one in headers.items()})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Terminal:
    """Standard output and error of a person who types this."""
    shown = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stdout", shown)
    monkeypatch.setattr("sys.stderr", shown)
    return shown
