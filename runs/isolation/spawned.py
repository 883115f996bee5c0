"""Calls where processes cannot be forked, as on Windows: each starts its own Python, which takes a moment.

The kernel sets no limits there. This process watches the child's memory and processor time and kills it if necessary.
The child's alarm ends it too, in case this process is gone.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

import psutil

from runs.isolation.pipe_messages import (
    ROOT,
    Crashed,
    Ending,
    Interrupted,
    IsolatedCall,
    Limits,
    Option,
    TooLarge,
    environment,
)

_LOOK_EVERY = 0.02
"""Seconds between two checks of a child, which cannot allocate a gigabyte in this time."""
_ENDING_SECONDS = 1.0  # for a process to report its own status before it is killed
_FROM_OUTSIDE = frozenset({-2, -9, -15, 1, 0xC000_013A})
"""The status of a process that was ended from outside: Ctrl-C, kill -9 and kill, and the same on Windows."""
READY = b"."
"""Sent once the function is imported. What the process takes from then on counts."""


class _Watch:
    """A thread that kills a child that exceeds a limit, and records why."""

    def __init__(self, process: psutil.Process, limits: Limits, end: float) -> None:
        self.why: Ending | None = None
        self._process = process
        self.limits = limits
        self._end = end
        self._ready: tuple[int, float] | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="guard", daemon=True)
        self._thread.start()

    def ready(self) -> None:
        with suppress(psutil.Error):  # it has ended already
            self._ready = self._used()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        with suppress(psutil.Error):  # it has ended
            while not self._ended.wait(_LOOK_EVERY):
                if why := self._exceeded():
                    self.why = why
                    self._process.kill()
                    return

    def _exceeded(self) -> Ending | None:
        if time.monotonic() > self._end:
            return Ending.LATE
        # What is imported before the call does not count.
        if self._ready is None:
            return None
        memory, seconds = self._used()
        if memory - self._ready[0] > self.limits.megabytes * 1024 * 1024:
            return Ending.OUT_OF_MEMORY
        return Ending.BUSY if seconds - self._ready[1] > self.limits.cpu_seconds else None

    def _used(self) -> tuple[int, float]:
        """Returns bytes of memory and seconds of processor time."""
        times = self._process.cpu_times()
        return int(self._process.memory_info().rss), times.user + times.system


def exchanged(
    function: str, data: bytes, options: Mapping[str, Option], limits: Limits, end: float
) -> tuple[bytes, int]:
    """Returns the output and how the child ended: an `Ending`, or a negative signal number. `end`: on the monotonic
    clock.

    Raises TooLarge, Interrupted or Crashed.
    """
    call = IsolatedCall(function, data, options, limits)
    with subprocess.Popen(
        [sys.executable, "-s", "-m", "runs.isolation.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=environment(),
    ) as process:
        watch = _Watch(psutil.Process(process.pid), limits, end)
        try:
            received = _received(process, call.request(max(end - time.monotonic(), 0.01)), watch, call.most)
        finally:
            # Also if the answer could not be read: no child outlives its call.
            process.kill()
            status = process.wait()
            watch.stop()
    if watch.why:
        return b"", watch.why
    if answer := call.answer(received):
        return answer
    if status in _FROM_OUTSIDE:
        raise Interrupted("its process was ended from outside")
    raise Crashed(f"its process was ended by signal {-status}" if status < 0 else f"its process ended with {status:#x}")


def _received(process: subprocess.Popen[bytes], parts: Iterable[bytes], watch: _Watch, most: int) -> bytes:
    """What the child has sent until it ended, without its READY; nothing of one that broke in between."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError), process.stdin:  # it has ended, and its status says how
        for part in parts:
            process.stdin.write(part)
    if process.stdout.read(len(READY)) == READY:
        watch.ready()
    received = process.stdout.read(most + 1)
    if len(received) > most:  # a process that hostile input controls may write for ever
        raise TooLarge(f"its result has more than {watch.limits.output:,} bytes")
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_SECONDS)  # its own status, before it is killed
    return received
