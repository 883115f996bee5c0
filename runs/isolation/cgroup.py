"""A cgroup for one command, where systemd has delegated the server's own: the kernel holds memory and processes.

It counts what belongs to no process, too: files in memory, pipes, buffers of sockets.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_REMOVE_SECONDS = 5.0
"""Processes that were killed leave their cgroup only when the kernel has taken them down."""


class Cgroup:
    def __init__(self, folder: Path) -> None:
        self.members = folder / "cgroup.procs"
        self._events = folder / "memory.events"

    @property
    def ran_out(self) -> bool:
        """Whether the kernel has ended it for its memory."""
        lines = self._events.read_text().splitlines()
        return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in lines)


@contextmanager
def cgroup(
    memory: int, processes: int, *, mount: Path = _MOUNT, own: Path = Path("/proc/self/cgroup")
) -> Iterator[Cgroup | None]:
    """Removed at the end, when all in it has ended. None where no cgroup v2 is delegated. `memory` in bytes."""
    parent = _delegated(mount, own)
    if parent is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="command-", dir=parent))
    try:
        (folder / "memory.max").write_text(str(memory))
        (folder / "memory.oom.group").write_text("1")
        (folder / "pids.max").write_text(str(processes))
        with suppress(OSError):  # the kernel counts no swap here
            (folder / "memory.swap.max").write_text("0")
        yield Cgroup(folder)
    finally:
        _remove(folder)


def _delegated(mount: Path, own: Path) -> Path | None:
    """The cgroup above that of this process, with both controllers: one with processes in it takes no groups with
    limits, so the unit has a subgroup for the server (DelegateSubgroup=).
    """
    try:
        lines = own.read_text().splitlines()
        mine = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
        parent = (mount / mine).parent
        if not mine or os.getxattr(parent, "user.delegate") != b"1":
            return None
        (parent / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        return None
    return parent


def _remove(folder: Path) -> None:
    end = time.monotonic() + _REMOVE_SECONDS
    while folder.is_dir() and time.monotonic() < end:
        with suppress(OSError):
            folder.rmdir()
        time.sleep(0.01)
