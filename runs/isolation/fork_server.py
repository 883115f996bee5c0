"""The process that is forked for each call, and what its children do.

For each call it gets one end of a channel, imports the function's module if necessary, and forks a supervisor. The
supervisor forks the child, waits for its end and reports it; the child limits itself before it calls the function. Each
process is killed with its parent, so that none outlives the asking process.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import psutil

from runs.isolation.performing import function_at, performed
from runs.isolation.pipe_messages import SIZES, Ending, ended

_PR_SET_PDEATHSIG = 1  # the option of prctl(2) by which a child ends with its parent
_ALARMS: Mapping[int, Ending] = {signal.SIGALRM: Ending.LATE, signal.SIGPROF: Ending.BUSY}
_FIRST_LOOK, _LOOK_EVERY = 0.000_5, 0.02
"""Seconds between two checks of a child. Most end within milliseconds, and none allocates a
gigabyte in twenty of them.
"""


def serve(control: socket.socket) -> None:
    """Forks for each channel that arrives, until the asking process is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended supervisors must not become zombies
    while True:
        _, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not handles:
            return
        with socket.socket(fileno=handles[0]) as channel, suppress(OSError):
            header_size, size = SIZES.unpack(_exactly(channel, SIZES.size))
            header = json.loads(_exactly(channel, header_size))
            with suppress(Exception):  # the child will fail in the same way and report it
                function_at(header["function"])
            if os.fork() == 0:
                # Otherwise handing over a channel would still succeed after this process has died.
                control.close()
                _supervise(channel, header, size)


def _supervise(channel: socket.socket, header: dict[str, Any], size: int) -> NoReturn:
    try:
        _die_with_parent()
        # The parent process ignores this signal, and then no one could wait for the child and learn how it ended.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        data = _exactly(channel, size)  # before the limits are set, because its size is up to the asking process
        child = os.fork()
        if child == 0:
            os._exit(_perform(channel, header, data))
        # the supervisor reports the end, because a killed child cannot
        channel.sendall(ended(header, _watched(child, header["limits"]["megabytes"])))
    finally:  # must not return to the loop of the parent process
        os._exit(1)


def _watched(child: int, megabytes: int) -> int:
    """Returns how the child ended. A child that takes too much memory is killed here, because not every kernel does
    that.
    """
    process = psutil.Process(child)
    most = process.memory_info().rss + megabytes * 1024 * 1024
    pause = _FIRST_LOOK
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            ending = os.waitstatus_to_exitcode(status)
            return _ALARMS.get(-ending, ending)
        # only at the longest interval: most children end before that and are never measured
        if pause >= _LOOK_EVERY and _resident(process) > most:
            process.kill()
            os.waitpid(child, 0)
            return Ending.OUT_OF_MEMORY
        time.sleep(pause)
        pause = min(2 * pause, _LOOK_EVERY)


def _resident(process: psutil.Process) -> int:
    """Returns the resident memory in bytes, or 0 if the process has just ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _perform(channel: socket.socket, header: dict[str, Any], data: bytes) -> Ending:
    """Calls the function within its limits, and sends its result or the sentence with which it refuses."""
    _die_with_parent()
    output, ending = performed(header, data, limit)
    channel.sendall(output)
    return ending


def limit(*, megabytes: int, cpu_seconds: float, seconds: float, files: int, output: int) -> None:
    """Limits this process permanently. `output` is not enforced by the kernel, because only the
    channel is written to.
    """
    most = _mapped() + megabytes * 1024 * 1024
    for which, value in (
        (resource.RLIMIT_AS, most),
        (resource.RLIMIT_NOFILE, files + 3),  # plus the three that every process has
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(which, (value, value))
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # RLIMIT_CPU only takes whole seconds
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _mapped() -> int:
    """Returns the bytes of address space, as counted by RLIMIT_AS, or 0 without /proc."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _exactly(channel: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        part = channel.recv(min(size - len(received), 1 << 20))
        if not part:
            raise ConnectionResetError("the one who asked is gone")
        received += part
    return bytes(received)


def _die_with_parent() -> None:
    """Ends this process with its parent, on Linux. Elsewhere the alarm and the limit of processor time end orphans."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
