"""Calls functions of ours in separate processes with limited time, memory and output.

For work that hostile input can make expensive in C code, where threads cannot be stopped: long Markdown, regular
expressions over long texts, document readers. Where processes can be forked, one starts within milliseconds and the
kernel limits it (`runs.isolation.forked`); elsewhere it is watched (`runs.isolation.spawned`).
"""

import atexit
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from runs.errors import InvalidInput
from runs.isolation import forked, spawned
from runs.isolation.pipe_messages import (
    ChildFailed,
    Crashed,
    Ending,
    Interrupted,
    Limits,
    NoTurn,
    Option,
    TimedOut,
    TooLarge,
)

__all__ = ["ChildFailed", "Crashed", "Interrupted", "Limits", "NoTurn", "TimedOut", "TooLarge", "close", "run"]

MAX_AT_ONCE = 5
"""Calls of one process that run at the same time. Others wait for their turn, as long as their time limit allows."""
MAX_SLOW_AT_ONCE = 3
SLOW_SECONDS = 30.0
"""Calls that may take longer leave turns to the others, so that pages do not wait for documents."""
MAX_LONG_AT_ONCE = 2
LONG_SECONDS = 120.0
"""Calls that may take even longer leave turns too, so that a Word file does not wait for scans."""


def run(function: str, data: bytes | Callable[[], bytes], limits: Limits | None = None, **options: Option) -> bytes:
    """Returns what `package.module.function(data, **options)` returns, computed in a separate process.

    The name of the function must not come from outside, and the function must not use Django. It has no secrets of the
    environment and no open files or sockets of this process, and where processes are forked it cannot write files. If
    data is a function, it is called when the call gets its turn, so that waiting calls do not hold large files.

    Raises InvalidInput if the function does, with its sentence; otherwise TimedOut, TooLarge or Crashed.
    """
    limits = limits or Limits()
    end = time.monotonic() + limits.seconds
    with ExitStack() as held:
        is_slow = limits.seconds > SLOW_SECONDS
        before = [_long_turns] if limits.seconds > LONG_SECONDS else []
        for turns in [*before, _slow_turns, _turns] if is_slow else [_turns]:
            if not turns.acquire(timeout=max(end - time.monotonic(), 0.0)):
                raise NoTurn(f"it waited for its turn longer than {limits.seconds:g} seconds")
            held.callback(turns.release)
        if is_slow:  # a call that waited for long readings gets its full time
            end = time.monotonic() + limits.seconds
        content = data() if callable(data) else data
        return _result(*_exchanged(function, content, options, limits, end), limits)


close = forked.close
atexit.register(close)


_turns = threading.BoundedSemaphore(MAX_AT_ONCE)
_long_turns = threading.BoundedSemaphore(MAX_LONG_AT_ONCE)
_slow_turns = threading.BoundedSemaphore(MAX_SLOW_AT_ONCE)
_exchanged = forked.exchanged if hasattr(os, "fork") else spawned.exchanged


def _result(output: bytes, ending: int, limits: Limits) -> bytes:
    match ending:
        case Ending.DONE:
            return output
        case Ending.REFUSED:
            raise InvalidInput(output.decode())
        case Ending.OUT_OF_MEMORY:
            raise TooLarge(f"it took more than {limits.megabytes:,} MB")
        case Ending.LARGE:
            raise TooLarge(f"its result has more than {limits.output:,} bytes")
        case Ending.BROKE:
            raise Crashed(f"it broke: {output.decode(errors='replace')}")
        case Ending.LATE:
            raise TimedOut(f"it took longer than {limits.seconds:g} seconds")
        case Ending.BUSY:
            raise TimedOut(f"it took more than {limits.cpu_seconds:g} seconds of the processor")
        case _:
            raise Crashed(f"its process was ended by signal {-ending}")
