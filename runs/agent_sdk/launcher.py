"""Starts the agent's program, and ends it with the process that wanted it: alone, it waits for ever for an answer.

A script of its own, run with the home of the program, its path and its arguments; it imports nothing of ours.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

POLL_INTERVAL = 0.1
"""Seconds between two looks at whether it is still wanted."""
STOP = "stop"
"""A file in the home with this name ends the program at once: asked politely, it would finish what it waits for."""


def main(home: str, program: list[str]) -> int:
    """The status of the program. Its home goes with it where the parent is not there to remove it."""
    parent = os.getppid()
    child = subprocess.Popen(program)  # noqa: S603 - the path is that of the installed package
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(POLL_INTERVAL)
        orphaned = os.getppid() != parent  # it was killed: another process has adopted this one
        if orphaned or (Path(home) / STOP).exists():
            child.kill()
            child.wait()
        if orphaned:
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
