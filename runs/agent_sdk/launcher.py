"""Starts the agent's program, and ends it when its parent process ends. Alone, it would wait for answers forever.

It is a separate script without imports of ours. Its arguments are the program's home, path and arguments.
"""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

POLL_INTERVAL = 0.1
"""Seconds between two checks whether the parent is still there."""
STOP = "stop"
"""A file with this name in the home ends the program at once. When asked to end, it would first finish what it waits
for.
"""


def main(home: str, program: list[str]) -> int:
    """Returns the program's exit status. Removes its home if the parent is no longer there to do that."""
    parent = os.getppid()
    child = subprocess.Popen(program)  # noqa: S603 - the path is that of the installed package
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(POLL_INTERVAL)
        orphaned = os.getppid() != parent  # the parent was killed, and another process has adopted this one
        if orphaned or (Path(home) / STOP).exists():
            child.kill()
            child.wait()
        if orphaned:
            shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
