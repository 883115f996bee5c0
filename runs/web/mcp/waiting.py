"""How a tool is carried out: reads and writes in a thread, waits in none."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

from runs.enums import RunStatus
from runs.models import Gate
from runs.people.permissions import visible_runs
from runs.web.live.subscribers import from_database
from runs.web.mcp.caller import Caller
from runs.web.mcp.tool_arguments import WaitForRun
from runs.web.mcp.tools import Action, Answer

MAX_WAITING = 8
"""Calls that wait at the same time in one process: each keeps one of the turns that all requests share."""
_POLL_INTERVAL = 1.0
_waiting = 0


async def wait(action: Action[Any], caller: Caller, arguments: Any) -> Answer:
    """The tool's answer; of one that is to wait, when there is something to say, or its time is over.

    Between two looks it holds no thread and no connection. Where too many wait already, it answers at once.
    """
    global _waiting  # one number for all calls of the process, which meet in its one event loop
    if isinstance(arguments, WaitForRun) and _waiting < MAX_WAITING:
        _waiting += 1
        try:
            await _until_told(caller, arguments)
        finally:
            _waiting -= 1
    return await from_database(partial(action.do, caller, arguments))


async def _until_told(caller: Caller, arguments: WaitForRun) -> None:
    ends = time.monotonic() + arguments.seconds
    while not await from_database(partial(_has_news, caller, arguments)):
        left = ends - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(min(_POLL_INTERVAL, left))


def _has_news(caller: Caller, arguments: WaitForRun) -> bool:
    """Whether the run waits for a person, is paused or over, and that is not what the caller has seen."""
    row = visible_runs(caller.person).filter(pk=arguments.run).values("status", "paused", "event_count").first()
    if row is None or row["status"] == RunStatus.FINISHED:
        return True
    held = row["paused"] or Gate.objects.open().filter(run=arguments.run).exists()
    return bool(held and row["event_count"] > arguments.after)
