"""The pauses between two messages of an audience, which last as long as a test likes."""

import asyncio
from typing import Any

import pytest

from runs.web.live import subscribers


class Pauses:
    """Stands for `asyncio` in the audience's module: a call that sleeps returns when `over` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.over = asyncio.Event()
        monkeypatch.setattr(subscribers, "asyncio", self)

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await self.over.wait()
