"""Runs a command in a sandbox of bubblewrap: the machine is read-only, one folder can be written, nothing is reached.

What is run may be code that a model wrote. It sees no network, no other process, no variable of the server and nothing
of what is hidden; it can read all else that the server's user can.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from runs.errors import InvalidInput

FOLDER = "/tmp/files"  # noqa: S108  inside the sandbox, whose /tmp is its own
"""Where a command finds its files: the same path every time, so that the same run prints the same."""
MISSING = "Commands are not run: bubblewrap (bwrap) is not installed on this machine; its administrator can do that."
_POLL_SECONDS = 0.1
_WEIGH_SECONDS = 1.0
"""Between two looks at how large a folder has become: a walk over thousands of files takes a while."""
TIME_OVER = "its time was over"
_BEGIN = 4_000
"""Bytes of the beginning of an output that is cut; the rest is from its end, where most tools sum up."""
_LAUNCH = """
import json, os, resource, sys
for name, value in json.loads(sys.argv[1]).items():
    limit = getattr(resource, name)
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))
os.execv(sys.argv[2], sys.argv[2:])
"""
"""The limits are set by a process of its own: doing that between fork and exec is not safe beside threads."""


@dataclass(frozen=True)
class CommandLimits:
    """`seconds` by the clock and of the processor; `megabytes` of memory for each process; `file_megabytes` of a file
    that is written, `folder_megabytes` of all in the folder, looked at once a second, and `scratch_megabytes` of all in
    each place that is kept in memory, as /tmp is; `output` in bytes, of which the beginning and the end are given.
    """

    seconds: float = 300.0
    megabytes: int = 4_096
    file_megabytes: int = 200
    folder_megabytes: int = 2_000
    scratch_megabytes: int = 200
    output: int = 20_000


class Ended(NamedTuple):
    """`status`: of the exit, negative for a signal, None where it was ended for what `why` says. `cut`: bytes that are
    left out.
    """

    status: int | None
    output: bytes
    cut: int
    why: str = ""


def run(
    argv: Sequence[str],
    folder: Path,
    limits: CommandLimits,
    *,
    hidden: Iterable[Path] = (),
    keep_going: Callable[[], None] = lambda: None,
) -> Ended:
    """The command in this folder; everything it has started ends with it. `keep_going` raises to break it off.

    Raises InvalidInput where there is no sandbox on this machine.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise InvalidInput(MISSING)
    launch = [sys.executable, "-I", "-S", "-c", _LAUNCH, _limits(limits)]
    with tempfile.TemporaryFile() as printed:
        with _running([*launch, bwrap, *_boxed(folder, hidden, limits), "--", *argv], printed) as process:
            status, why = _waited(process, folder, limits, keep_going)
        output, cut = _ends_of(printed, limits.output)
    return Ended(status, output, cut, why)


@contextmanager
def _running(argv: Sequence[str], printed: IO[bytes]) -> Iterator["subprocess.Popen[bytes]"]:
    """It and all that it has started end with the block."""
    process = subprocess.Popen(  # noqa: S603  that is its purpose: no shell, and an administrator named it
        argv,
        stdin=subprocess.DEVNULL,
        stdout=printed,
        stderr=subprocess.STDOUT,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # all else in the sandbox dies with bwrap, its init
        process.wait()


def problem() -> str:
    """Why no command can be run on this machine; empty if one can."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = run(["true"], Path(folder), CommandLimits(seconds=10))
        except InvalidInput as error:
            return str(error)
    said = ended.output.decode(errors="replace").strip()[-300:]
    return "" if ended.status == 0 else f"bubblewrap (bwrap) cannot make a sandbox here: {said or 'it gave no reason'}."


def _waited(
    process: "subprocess.Popen[bytes]", folder: Path, limits: CommandLimits, keep_going: Callable[[], None]
) -> tuple[int | None, str]:
    """The exit status, or None and why it cannot go on."""
    end = time.monotonic() + limits.seconds
    weighed = 0.0
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.wait(_POLL_SECONDS), ""
        now = time.monotonic()
        if now >= end:
            return None, TIME_OVER
        if now >= weighed + _WEIGH_SECONDS:
            weighed = now
            if _bytes_in(folder) > limits.folder_megabytes * 1_000_000:
                return None, f"its files took more than {limits.folder_megabytes:,} MB"
        keep_going()


def _bytes_in(folder: Path) -> int:
    """On the disk: a file with holes takes what is written of it."""
    taken = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # the command may have removed it by now
                taken += Path(place, name).lstat().st_blocks * 512
    return taken


def _limits(limits: CommandLimits) -> str:
    return json.dumps(
        {
            "RLIMIT_CPU": int(limits.seconds) + 1,
            "RLIMIT_AS": limits.megabytes * 1_000_000,
            "RLIMIT_FSIZE": limits.file_megabytes * 1_000_000,
            "RLIMIT_CORE": 0,
            "RLIMIT_NPROC": 1_000,  # counts all processes of the user, and does not hold root
        }
    )


def _boxed(folder: Path, hidden: Iterable[Path], limits: CommandLimits) -> list[str]:
    variables = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
    covered = [Path("/run"), Path("/tmp"), *(path for path in hidden if path.is_dir())]  # noqa: S108  sockets of services lie in both
    size = str(limits.scratch_megabytes * 1_000_000)
    return [
        *("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"),
        *(part for name, value in variables.items() for part in ("--setenv", name, value)),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(part for path in [Path("/dev/shm"), *covered] for part in ("--size", size, "--tmpfs", str(path))),  # noqa: S108
        *("--dir", FOLDER, "--bind", str(folder), FOLDER, "--chdir", FOLDER, "--remount-ro", "/dev"),
    ]


def _ends_of(printed: IO[bytes], limit: int) -> tuple[bytes, int]:
    """What was printed, or its beginning and its end with a mark between them, and how many bytes were left out."""
    size = printed.seek(0, os.SEEK_END)
    printed.seek(0)
    if size <= limit:
        return printed.read(), 0
    beginning = printed.read(_BEGIN)
    rest = limit - len(beginning)
    printed.seek(size - rest)
    cut = size - limit
    return beginning + f"\n[{cut:,} bytes left out]\n".encode() + printed.read(), cut
