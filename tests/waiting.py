"""Waiting for something that another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Ask again and again until the condition holds. Fails after so many seconds."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, f"not within {seconds:g} seconds"
        time.sleep(0.02)
