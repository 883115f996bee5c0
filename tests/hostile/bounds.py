"""Calls in a process of their own, whose time and memory are limited: what hostile input may cost.

`within` is for tests. Run as a module this is that process: it imports the function's module (with Django set up),
limits itself, and calls the function. What imports take does not count.
"""

import importlib
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import django

ROOT = Path(__file__).parents[2]
START_SECONDS = 30
"""By the clock, for starting the process on a busy machine."""
_TOO_MUCH_MEMORY = 99


class TooMuch(AssertionError):
    """A call took more time or memory than its test allows."""


def within(seconds: float, megabytes: int, function: str, *args: object) -> Any:
    """What `package.module.function(*args)` returns; what it raises is raised here.

    Raises TooMuch when the call needs more seconds of processor time, more than ten times as many by the clock (the
    machine may be busy), or more megabytes on top of what its imports have taken. Arguments, result and exception
    travel as pickles; a function of a test's own module will do.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    try:
        child = subprocess.run(
            [sys.executable, "-m", "tests.hostile.bounds"],
            input=pickle.dumps((seconds, megabytes, function, args)),
            capture_output=True,
            cwd=ROOT,
            env=environment | {"DJANGO_SETTINGS_MODULE": "pevsite.settings"},
            timeout=START_SECONDS + 10 * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TooMuch(f"{function} took more than {10 * seconds:g} seconds by the clock") from error
    if child.returncode == _TOO_MUCH_MEMORY:
        raise TooMuch(f"{function} took more than {megabytes} MB")
    if child.returncode == -signal.SIGXCPU:
        raise TooMuch(f"{function} took more than {seconds:g} seconds")
    assert child.returncode == 0, f"{function} broke its process ({child.returncode}): {child.stderr.decode()[-2_000:]}"
    used, value, raised = pickle.loads(child.stdout)
    if used > seconds:
        raise TooMuch(f"{function} took {used:.1f} seconds, allowed are {seconds:g}")
    if raised is not None:
        raise raised
    return value


def _called(seconds: float, megabytes: int, function: str, args: tuple[object, ...]) -> tuple[float, Any, Any]:
    module, _, name = function.rpartition(".")
    call = getattr(importlib.import_module(module), name)
    _limit(resource.RLIMIT_CPU, int(time.process_time() + seconds) + 2)  # whole seconds: the exact bound is compared
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
    return used, value, raised


def _limit(which: int, most: int | None) -> None:
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (hard if most is None else most, hard))


def _mapped() -> int:
    """Bytes of address space: what RLIMIT_AS counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    django.setup()
    sys.stdout.buffer.write(pickle.dumps(_called(*pickle.loads(sys.stdin.buffer.read()))))
