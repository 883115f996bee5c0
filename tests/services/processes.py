"""A program that runs beside the tests: started, waited for, killed, started again, and never left behind.

On Linux the kernel ends it when the thread that started it ends, whatever ended that (PR_SET_PDEATHSIG): start it
from a thread that stays. Elsewhere it is ended by `stop` and at the exit of Python, and stays when Python is killed.
"""

from __future__ import annotations

import atexit
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.installation import ROOT

MAX_SECONDS = 60.0
"""For a program to be there on a busy machine."""
_PORTS = range(20_000, 32_000)
"""Below those that the kernel gives to clients, which could take that of a server that is away for a while."""
_LAUNCH = Path(__file__).with_name("launch.py")


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    while True:
        port = random.choice(_PORTS)
        try:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program whose output goes to the end of `log`. `is_ready` is asked until it is.

    `user`: id of user and group that it runs as. `death`: the signal that it gets when we die.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        is_ready: Callable[[], bool] = lambda: True,
        *,
        environ: Mapping[str, str] | None = None,
        user: tuple[int, int] = (-1, -1),
        death: signal.Signals = signal.SIGKILL,
    ) -> None:
        self.log = log
        self._command = [*map(str, command)]
        self._is_ready = is_ready
        self._environ = environ
        self._user = user
        self._death = death
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.kill)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Return when it is ready. Raises AssertionError with the end of its log when it is not."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """The same without waiting."""
        assert not self.is_alive
        begins = [sys.executable, "-I", "-S", str(_LAUNCH)]
        ours = [os.getpid(), self._death.value, *self._user]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [*begins, *map(str, ours), *self._command], cwd=ROOT, env=self._environ, stdout=log, stderr=log
            )

    def wait_until_ready(self) -> None:
        ends = time.monotonic() + MAX_SECONDS
        while not self._is_ready():
            if not self.is_alive or time.monotonic() > ends:
                self.kill()
                raise AssertionError(f"{self._command[0]} did not start: {self.log.read_text()[-2_000:]}")
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """As a machine that fails would. Nothing happens to one that has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, and wait; its exit status."""
        self.send(number)
        return self.wait()

    def wait(self) -> int:
        assert self._process is not None
        try:
            return self._process.wait(MAX_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
