"""What a sandbox takes, measured from outside through the root folder of its first process."""

import os
import re
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
