"""What some tests need besides the packages that uv installs by itself: whether it is here, and how to get it.

A test names its parts with `@pytest.mark.needs("bubblewrap")`. Without them it is skipped, and the end of the run says
so in one line per part.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings

from pevsite.setting_values import is_installed
from tests import databases

_CHROMIUM = (
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
)
"""The shell is the same engine without windows, tabs and menus, which take most of the time of a short story."""


@dataclass(frozen=True)
class Part:
    """`install` says how to get it and how to run the tests that need it."""

    is_here: Callable[[], bool]
    install: str


def chromium() -> str | None:
    """The distribution's Chromium, or None."""
    return next((path for path in _CHROMIUM if Path(path).exists()), None)


PARTS = {
    "Chromium": Part(
        lambda: chromium() is not None, 'On Debian: apt-get install chromium. Then: uv run pytest -m "" tests/browser'
    ),
    "bubblewrap": Part(
        lambda: shutil.which("bwrap") is not None, "On Debian: apt-get install bubblewrap. Then run the tests again."
    ),
    "redis-server": Part(
        lambda: shutil.which("redis-server") is not None,
        "On Debian: apt-get install redis-server. Then run the tests again.",
    ),
    "the Agent SDK": Part(
        lambda: settings.AGENT_SDK, "uv sync --group agent-sdk. Then run the tests again with UV_NO_SYNC=1."
    ),
    "Inspect": Part(
        lambda: is_installed("inspect_ai"), "uv sync --group inspect. Then run the tests again with UV_NO_SYNC=1."
    ),
    "PostgreSQL": Part(
        lambda: bool(databases.GIVEN),
        "On Debian: apt-get install postgresql redis-server. "
        "Then: uv run python -m tests.services uv run pytest -m services",
    ),
}
_WITH_AGENT_SDK = (pytest.mark.needs("the Agent SDK"), pytest.mark.exhaustive)
BOTH_EXECUTORS = ("messages", pytest.param("agent-sdk", marks=_WITH_AGENT_SDK))
"""What `executor` of a policy can be, as arguments of `pytest.mark.parametrize`. What the Agent SDK does differently is
tested in `tests/integration/agent_sdk/`; starting its program takes seconds.
"""
