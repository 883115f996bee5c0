"""Calls where processes can be forked: a template process waits, and is copied for each call within milliseconds."""

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
    """The process that forks the children. It ends when this process does, because its socket is then closed."""

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
            start_new_session=True,  # Ctrl-C in a terminal is for this process
        )
        # closed at once: otherwise handing over a channel would not fail when the process is gone
        its.close()

    def give(self, channel: socket.socket) -> None:
        """Hands over one end of a channel. Raises OSError if the process is gone."""
        socket.send_fds(self._socket, [b"."], [channel.fileno()])

    def end(self) -> None:
        self._socket.close()
        self._process.wait()


_lock = threading.Lock()
"""Held while a channel is handed over, so that two threads do not both replace a template that has died."""
_template: _Template | None = None


def close() -> None:
    """Ends the template, if there is one. The next call starts another."""
    global _template
    with _lock:
        # A forked process must not end the template of its parent process.
        if _template and _template.owner == os.getpid():
            _template.end()
        _template = None


def exchanged(
    function: str, data: bytes, options: Mapping[str, Option], limits: Limits, end: float
) -> tuple[bytes, int]:
    """Returns the output and how the child ended: an `Ending`, or a negative signal number. `end`: on the monotonic
    clock.

    Raises TimedOut, TooLarge or Interrupted.
    """
    call = IsolatedCall(function, data, options, limits)
    received = bytearray()
    with _connected() as channel:
        try:
            channel.settimeout(_seconds_left(end))
            # a child that needs no data may have answered and ended already
            for part in filter(None, call.request(_seconds_left(end))):
                channel.sendall(part)
            while part := channel.recv(1 << 16):
                received += part
                if len(received) > call.most:  # a process that hostile input controls may write for ever
                    raise TooLarge(f"its result has more than {limits.output:,} bytes")
                channel.settimeout(_seconds_left(end))
        except TimeoutError as error:  # the child's own alarm ends it at the same time
            raise TimedOut(f"it took longer than {limits.seconds:g} seconds") from error
        except OSError as error:
            raise Interrupted("its process was ended from outside") from error
    answer = call.answer(bytes(received))
    if answer is None:
        raise Interrupted("its process was ended from outside")
    return answer


def _connected() -> socket.socket:
    """Returns our end of a channel to a new child."""
    global _template
    mine, its = socket.socketpair()
    # our copy of the child's end is closed at once, because the channel must end when the child does
    with its, _lock:
        if _template is None or _template.owner != os.getpid():  # after a fork, the parent's template is not ours
            _template = _Template()
        try:
            _template.give(its)
        except OSError:  # someone has killed it
            _template.end()
            _template = _Template()
            _template.give(its)
    return mine


def _seconds_left(end: float) -> float:
    """Returns the seconds left, at least a little, because 0 would mean not to wait at all."""
    return max(end - time.monotonic(), 0.01)
