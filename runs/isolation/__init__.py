"""Calls of our own functions in processes of their own, whose time, memory and output are limited.

For what hostile input can make expensive in C, where no thread can be stopped: long Markdown, regular expressions over
long texts, readers of documents. Where processes can be forked, such a process starts within milliseconds and the
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
"""Calls of one process that run at the same time; more wait for their turn, as long as their own clock allows."""
MAX_SLOW_AT_ONCE = 3
SLOW_SECONDS = 30.0
"""Calls that may take longer leave turns to the others: pages must not wait for documents that are being read."""
MAX_LONG_AT_ONCE = 2
LONG_SECONDS = 120.0
"""So do those that may take longer still: a Word file must not wait for scans."""


def run(function: str, data: bytes | Callable[[], bytes], limits: Limits | None = None, **options: Option) -> bytes:
    """What `package.module.function(data, **options)` returns, computed in a process of its own.

    The name of the function never comes from outside, and it does without Django's settings and rows. It has no secret
    of the environment and no open file or socket of this process, and where processes are forked can put nothing into
    a file. Data that is a function is asked for when the call has its turn: those that wait need not hold large files.
    Raises InvalidInput where the function does, with its sentence; TimedOut, TooLarge or Crashed otherwise.
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
        if is_slow:  # who has waited behind long readings may read for as long
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
