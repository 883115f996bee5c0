"""Calls of our own functions in processes of their own, whose time, memory and output the kernel limits.

For what hostile input can make expensive in C, where no thread can be stopped: long Markdown, regular expressions over
long texts, readers of documents. Such a process starts within milliseconds, since `runs.guarded.template` forks it.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from runs.errors import InvalidInput, PevError
from runs.guarded.wire import SIZES, Ending

MAX_AT_ONCE = 4
"""Calls of one process that run at the same time; more wait for their turn, as long as their own clock allows."""
type Option = str | int | float | bool | None
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ")
"""All that a child inherits: no keys, no address of a service."""


@dataclass(frozen=True)
class Limits:
    """`megabytes` of address space on top of what the function's module takes; `cpu_seconds` of the processor;
    `seconds` by the clock, waiting for a turn included; `files` it may open; `output` in bytes.
    """

    megabytes: int = 512
    cpu_seconds: float = 10.0
    seconds: float = 20.0
    files: int = 16
    output: int = 20_000_000


class ChildFailed(PevError):
    """The call ended without a result. The text is a part of a sentence that says why."""


class TimedOut(ChildFailed):
    """It took more time than it may, by the clock or of the processor."""


class TooLarge(ChildFailed):
    """It took more memory than it may, or its result is larger than it may be."""


class Crashed(ChildFailed):
    """It broke: an exception that nobody expected, or a signal such as that of a crash in C."""


def run(function: str, data: bytes, limits: Limits | None = None, **options: Option) -> bytes:
    """What `package.module.function(data, **options)` returns, computed in a process of its own.

    The name of the function never comes from outside, and it does without Django's settings and rows. It has no secret
    of the environment, no open file or socket of this process, and can put nothing into a file. Raises InvalidInput
    where the function does, with its sentence; TimedOut, TooLarge or Crashed otherwise.
    """
    limits = limits or Limits()
    end = time.monotonic() + limits.seconds
    if not _turns.acquire(timeout=limits.seconds):
        raise TimedOut(f"it waited for its turn longer than {limits.seconds:g} seconds")
    try:
        with _connected() as channel:
            return _result(*_exchanged(channel, function, data, options, limits, end), limits)
    finally:
        _turns.release()


class _Template:
    """The process that forks the children. It ends by itself when this one does, since its socket is closed then."""

    def __init__(self) -> None:
        mine, its = socket.socketpair()
        self.owner = os.getpid()
        self._socket = mine
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "runs.guarded.template"],
            stdin=its.fileno(),
            stdout=subprocess.DEVNULL,
            cwd=Path(__file__).parents[2],
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C in a terminal is for us
        )
        its.close()

    def give(self, channel: socket.socket) -> None:
        """Hand over one end of a channel. Raises OSError when the process is gone."""
        socket.send_fds(self._socket, [b"."], [channel.fileno()])

    def end(self) -> None:
        self._socket.close()
        self._process.wait()


@atexit.register
def close() -> None:
    """End the waiting process, if there is one; the next call starts another."""
    global _template
    with _lock:
        if _template and _template.owner == os.getpid():
            _template.end()
        _template = None


_turns = threading.BoundedSemaphore(MAX_AT_ONCE)
_lock = threading.Lock()
_template: _Template | None = None


def _connected() -> socket.socket:
    """Our end of a channel to a new child."""
    global _template
    mine, its = socket.socketpair()
    with its, _lock:
        if _template is None or _template.owner != os.getpid():  # after a fork the parent's is not ours
            _template = _Template()
        try:
            _template.give(its)
        except OSError:  # somebody has killed it
            _template.end()
            _template = _Template()
            _template.give(its)
    return mine


def _exchanged(
    channel: socket.socket, function: str, data: bytes, options: Mapping[str, Option], limits: Limits, end: float
) -> tuple[bytes, int]:
    """The output, and how the child has ended: a number of `Ending`, or less than 0 for a signal."""
    left = asdict(limits) | {"seconds": _left(end)}
    header = json.dumps({"function": function, "options": options, "limits": left}).encode()
    received = bytearray()
    try:
        channel.settimeout(_left(end))
        channel.sendall(SIZES.pack(len(header), len(data)) + header + data)
        while part := channel.recv(1 << 16):
            received += part
            channel.settimeout(_left(end))
    except TimeoutError as error:  # its own alarm ends the child at the same time
        raise TimedOut(f"it took longer than {limits.seconds:g} seconds") from error
    except OSError as error:
        raise Crashed("its process was ended from outside") from error
    if not received:
        raise Crashed("its process was ended from outside")
    return bytes(received[:-1]), int.from_bytes(received[-1:], signed=True)


def _left(end: float) -> float:
    """Seconds left; a little in any case, since 0 would mean not to wait at all."""
    return max(end - time.monotonic(), 0.01)


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
        case _ if -ending == signal.SIGALRM:
            raise TimedOut(f"it took longer than {limits.seconds:g} seconds")
        case _ if -ending == signal.SIGPROF:
            raise TimedOut(f"it took more than {limits.cpu_seconds:g} seconds of the processor")
        case _:
            raise Crashed(f"its process was ended by signal {-ending}")
