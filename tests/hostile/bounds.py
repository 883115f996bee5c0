"""What hostile input may cost: calls in a process of their own, whose time and memory are limited.

The process imports the function's module, limits itself, and calls the function; what imports take does not count.
It is forked from one that has set Django up, because starting Python for each call takes longer than most calls.
"""

import importlib
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

START_SECONDS = 60
"""By the clock, for starting the process on a busy machine."""
SLOWER = 10
"""So many times slower than the machine for which the tests give their seconds may another be. There most calls take a
tenth of them; what is quadratic takes a hundred times as long.
"""
_TOO_MUCH_MEMORY = 99
_MEASURES = "COVERAGE"
"""So begin the names of variables that make a process measure itself, which takes longer than what is bounded."""
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.hostile.product"])


class TooMuch(AssertionError):
    """A call took more time or memory than its test allows."""


def within(seconds: float, megabytes: int, function: str, *args: object) -> Any:
    """What `package.module.function(*args)` returns; what it raises is raised here.

    Raises TooMuch when the call needs more seconds of processor time (`SLOWER` times as many: the machine may be
    another), more than ten times as many by the clock (it may be busy), or more megabytes on top of what its imports
    have taken. Arguments, result and exception travel as pickles; a function of a test's own module will do.
    """
    seconds *= SLOWER
    _start()
    ours, its = _PROCESSES.Pipe(duplex=False)
    child = _PROCESSES.Process(target=_call, args=(its, seconds, megabytes, function, args))
    child.start()
    its.close()
    try:
        if not ours.poll(START_SECONDS + 10 * seconds):
            raise TooMuch(f"{function} took more than {10 * seconds:g} seconds by the clock")
        used, value, raised = ours.recv()
    except EOFError as error:
        child.join()
        raise _ended(child.exitcode, seconds, megabytes, function) from error
    finally:
        ours.close()
        child.kill()
        child.join()
    if used > seconds:
        raise TooMuch(f"{function} took {used:.1f} seconds, allowed are {seconds:g}")
    if raised is not None:
        raise raised
    return value


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """For what needs the tests' rows, and so their process: raises TooMuch, with the place it has come to, when what is
    inside needs more seconds of processor time (`SLOWER` times as many).
    """

    def stop(_: int, __: FrameType | None) -> None:
        raise TooMuch(f"it took more than {SLOWER * seconds:g} seconds")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SLOWER * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _start() -> None:
    """Start the process that others are forked from, if it is not there."""
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith(_MEASURES)}
    try:
        forkserver.ensure_running()
    finally:
        os.environ.update(hidden)


def _ended(status: int | None, seconds: float, megabytes: int, function: str) -> AssertionError:
    if status == _TOO_MUCH_MEMORY:
        return TooMuch(f"{function} took more than {megabytes} MB")
    if status == -signal.SIGXCPU:
        return TooMuch(f"{function} took more than {seconds:g} seconds")
    return AssertionError(f"{function} broke its process ({status}); what it printed stands in the output of the tests")


def _call(answer: Connection, seconds: float, megabytes: int, function: str, args: tuple[object, ...]) -> None:
    module, _, name = function.rpartition(".")
    call = getattr(importlib.import_module(module), name)
    _limit(resource.RLIMIT_CPU, int(time.process_time() + seconds) + 1)  # whole seconds: the exact bound is compared
    _limit(resource.RLIMIT_AS, _mapped() + megabytes * 1024 * 1024)
    began, value, raised = time.process_time(), None, None
    try:
        value = call(*args)
    except MemoryError:
        os._exit(_TOO_MUCH_MEMORY)  # at once, since more of it may not be had
    except Exception as error:
        raised = error
    used = time.process_time() - began
    _limit(resource.RLIMIT_AS, None)
    answer.send((used, value, raised))


def _limit(which: int, most: int | None) -> None:
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (hard if most is None else most, hard))


def _mapped() -> int:
    """Bytes of address space: what RLIMIT_AS counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
