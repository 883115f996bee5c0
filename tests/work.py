"""Work that is counted instead of timed: what Python does is as much on every machine, however busy it is.

Work in C, such as that of a regular expression, is not counted: `tests.hostile.bounds.within` limits it.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from inspect import unwrap
from types import CodeType
from typing import Any

_STEPS = (sys.monitoring.events.PY_START, sys.monitoring.events.PY_RESUME, sys.monitoring.events.JUMP)
_TOOL = sys.monitoring.PROFILER_ID


def steps(call: Callable[[], object]) -> int:
    """How many functions in Python the call calls, and how many rounds of loops it makes there, in libraries too: more
    work in Python needs more of these.
    """
    return _counted(call, _STEPS, lambda _: True)


def calls(function: Callable[..., object], call: Callable[[], object]) -> int:
    """How often the call calls this function."""
    return _counted(call, (sys.monitoring.events.PY_START,), lambda code: code is unwrap(function).__code__)


def _counted(call: Callable[[], object], events: Sequence[int], is_counted: Callable[[CodeType], bool]) -> int:
    count = 0

    def happened(code: CodeType, *_: object) -> None:
        nonlocal count
        count += is_counted(code)

    sys.monitoring.use_tool_id(_TOOL, __name__)
    try:
        for event in events:
            sys.monitoring.register_callback(_TOOL, event, happened)
        sys.monitoring.set_events(_TOOL, sum(events))
        call()
    finally:
        sys.monitoring.set_events(_TOOL, 0)
        sys.monitoring.free_tool_id(_TOOL)
    return count


def growth(call: Callable[[int], object], size: int) -> float:
    """How many times as many steps `call` takes for four times the size: about 4 where the work is linear, and 16 where
    it is quadratic.
    """
    call(1)  # what is done once in a process, such as compiling a pattern, is none of it
    few = steps(lambda: call(size))
    return steps(lambda: call(4 * size)) / few


def each(function: str, arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """What `package.module.function` returns for each of these: one process of `within` is enough for all of them."""
    module, _, name = function.rpartition(".")
    call = getattr(import_module(module), name)
    return [call(*one) for one in arguments]
