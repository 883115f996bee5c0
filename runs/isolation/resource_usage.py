"""What a sandbox takes: measured from outside through the root folder of its first process, and held by a cgroup.

A command has a cgroup where systemd has delegated the server's own. The kernel then holds memory and processes, and
counts what belongs to no process, too: files in memory, pipes, buffers of sockets.
"""

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_OWN = re.compile(r"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB", re.MULTILINE)
_SHARE = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB", re.MULTILINE)
_THREADS = re.compile(r"^Threads:\s+(\d+)", re.MULTILINE)
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d+) kB", re.MULTILINE)


class Taken(NamedTuple):
    """`threads` of all processes, each of which has one at least; `memory` in bytes."""

    threads: int
    memory: int


class Inside:
    """The file systems and processes of a sandbox. What can be written is read even when all processes have ended."""

    def __init__(self, root: int, written: tuple[int, ...]) -> None:
        self._root = _of(root)
        self._written = written
        self.tmp = _of(written[0])

    @property
    def is_full(self) -> bool:
        """Whether all of /tmp is taken."""
        return os.fstatvfs(self._written[0]).f_bfree == 0

    def entries(self) -> int:
        """Files and folders, also those that have no name any more and are open."""
        looked = [os.fstatvfs(place) for place in self._written]
        return sum(one.f_files - one.f_ffree for one in looked)

    def processes(self, enough: int) -> Taken:
        """Of all processes. Memory that several share is counted once where this shows more than `enough` else."""
        texts = dict[Path, str]()
        with suppress(OSError):  # the sandbox is gone
            for place in (self._root / "proc").iterdir():
                with suppress(OSError):  # this process is gone
                    if place.name.isdigit():
                        texts[place] = (place / "status").read_text(errors="replace")
        threads = sum(_sum(_THREADS, text) for text in texts.values())
        own = {place: _sum(_OWN, text) * 1024 for place, text in texts.items()}
        if sum(own.values()) <= enough:
            return Taken(threads, sum(own.values()))
        return Taken(threads, sum(_share(place, most) for place, most in own.items()))


@contextmanager
def inside(first: int) -> Iterator[Inside]:
    """That of the sandbox whose first process has this number. Raises OSError where it cannot be looked into."""
    with ExitStack() as held:

        def opened(path: str) -> int:
            place = os.open(path, os.O_PATH | os.O_DIRECTORY)
            held.callback(os.close, place)
            return place

        root = opened(f"/proc/{first}/root")
        yield Inside(root, (opened(f"{_of(root)}/tmp"), opened(f"{_of(root)}/dev/shm")))  # noqa: S108


def machine_memory() -> int:
    """Bytes of memory that programs may still take on this machine."""
    return _sum(_AVAILABLE, Path("/proc/meminfo").read_text()) * 1024


def _of(place: int) -> Path:
    return Path(f"/proc/self/fd/{place}")


def _sum(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(int, pattern.findall(text)))


def _share(place: Path, most: int) -> int:
    """All of it where the kernel does not say what it shares, as it does not of a process that hides itself."""
    with suppress(OSError):
        return _sum(_SHARE, (place / "smaps_rollup").read_text()) * 1024
    return most


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
        # the kernel ends the command as a whole, and not the one process that it would choose
        (folder / "memory.oom.group").write_text("1")
        (folder / "pids.max").write_text(str(processes))
        with suppress(OSError):  # the kernel counts no swap here
            (folder / "memory.swap.max").write_text("0")
        yield Cgroup(folder)
    finally:
        # The kernel refuses to remove a group until the last of its processes is gone.
        end = time.monotonic() + _REMOVE_SECONDS
        while folder.is_dir() and time.monotonic() < end:
            with suppress(OSError):
                folder.rmdir()
            time.sleep(0.01)


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
