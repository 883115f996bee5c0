"""Guarded calls where processes can be forked: one waits for it, and each call gets a copy within milliseconds."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping

from runs.isolation.pipe_messages import (
    ROOT,
    Interrupted,
    IsolatedCall,
    Limits,
    Option,
    TimedOut,
    TooLarge,
    environment,
)


class _Template:
    """The process that forks the children. It ends by itself when this one does, since its socket is closed then."""

    def __init__(self) -> None:
        mine, its = socket.socketpair()
        self.owner = os.getpid()
        self._socket = mine
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-m", "runs.isolation.fork_server"],
            stdin=its.fileno(),
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
            env=environment(),
            start_new_session=True,  # Ctrl-C in a terminal is for us
        )
        # while our copy of its end is open, handing over a channel would not fail when the process is gone
        its.close()

    def give(self, channel: socket.socket) -> None:
        """Hand over one end of a channel. Raises OSError when the process is gone."""
        socket.send_fds(self._socket, [b"."], [channel.fileno()])

    def end(self) -> None:
        self._socket.close()
        self._process.wait()


_lock = threading.Lock()
"""Held while a channel is handed over, so that two threads do not both replace a template that has died."""
_template: _Template | None = None


def close() -> None:
    """End the waiting process, if there is one; the next call starts another."""
    global _template
    with _lock:
        if _template and _template.owner == os.getpid():
            _template.end()
        _template = None


def exchanged(
    function: str, data: bytes, options: Mapping[str, Option], limits: Limits, end: float
) -> tuple[bytes, int]:
    """The output, and how the child has ended: a number of `Ending`, or less than 0 for a signal. `end`: by the
    monotonic clock.

    Raises TimedOut, TooLarge or Interrupted.
    """
    call = IsolatedCall(function, data, options, limits)
    received = bytearray()
    with _connected() as channel:
        try:
            channel.settimeout(_left(end))
            for part in filter(None, call.request(_left(end))):  # who needs no data may have answered and gone by then
                channel.sendall(part)
            while part := channel.recv(1 << 16):
                received += part
                if len(received) > call.most:  # a process that hostile input controls may write for ever
                    raise TooLarge(f"its result has more than {limits.output:,} bytes")
                channel.settimeout(_left(end))
        except TimeoutError as error:  # its own alarm ends the child at the same time
            raise TimedOut(f"it took longer than {limits.seconds:g} seconds") from error
        except OSError as error:
            raise Interrupted("its process was ended from outside") from error
    answer = call.answer(bytes(received))
    if answer is None:
        raise Interrupted("its process was ended from outside")
    return answer


def _connected() -> socket.socket:
    """Our end of a channel to a new child."""
    global _template
    mine, its = socket.socketpair()
    # our copy of the child's end is closed at once: the channel must end when the child does
    with its, _lock:
        if _template is None or _template.owner != os.getpid():  # after a fork the parent's is not ours
            _template = _Template()
        try:
            _template.give(its)
        except OSError:  # someone has killed it
            _template.end()
            _template = _Template()
            _template.give(its)
    return mine


def _left(end: float) -> float:
    """Seconds left; a little in any case, since 0 would mean not to wait at all."""
    return max(end - time.monotonic(), 0.01)
