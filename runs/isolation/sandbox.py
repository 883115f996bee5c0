"""Runs a command in a sandbox of bubblewrap: it sees programs and its files, writes into memory, and reaches nothing.

What is run may be code that a model wrote. It sees no network, no other process, no variable of the server and nothing
of the machine except the folders that `sandbox_mounts` names. The kernel enforces the limits where it can: a tmpfs of
fixed size, a number of processes, and a cgroup where there is one. `resource_usage` measures the rest.
"""

import errno
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from runs.errors import InvalidInput
from runs.isolation import seccomp
from runs.isolation.resource_usage import Cgroup, Inside, cgroup, inside, machine_memory
from runs.isolation.sandbox_mounts import MountView

FOLDER = "/tmp/files"  # noqa: S108  inside the sandbox, whose /tmp is its own
"""Where a command finds its files: the same path every time, so that the same run prints the same."""
MISSING = "Commands are not run: bubblewrap (bwrap) is not installed on this machine; its administrator can do that."
_MISSING_TOOL = (
    "Commands are not run: {} (of util-linux) is not installed on this machine; its administrator can do that."
)
TIME_OVER = "its time was over"
_POLL_SECONDS = 0.1
_SCRATCH_MEGABYTES = 64
"""Of /dev/shm, which some programs use between their processes."""
_BEGIN = 4_000
"""Bytes of the beginning of an output that is cut; the rest is from its end, where most tools sum up."""
_NICE = 10
"""Commands leave the processor to the server."""
_JOIN = 'echo 0 >"$0" && exec "$@"'
"""Enters the cgroup whose list of processes is named, and goes on as the rest says."""
_WAIT = 'echo 1000 >/proc/self/oom_score_adj; echo >&0 && read -r go && exec "$@" </dev/null'
"""Runs inside before the command: makes it the first to be ended when memory runs out, says that the sandbox is ready,
and waits for the files.
"""
_FIRST_USER = 2_000_000_000  # user ids from here on are not assigned to anyone
_USERS = 100_000_000
"""User ids for the commands of a server that is root: one for each, so that the kernel counts its processes by
themselves. Nothing else belongs to them.
"""
_MAX_OPEN = 1_024
"""Files that a process has open: what waits in sockets and pipes is memory, too."""
_OUR_PROCESSES = 10
"""Of bubblewrap and what starts it, in the same cgroup."""
_counter = itertools.count()


@dataclass(frozen=True)
class CommandLimits:
    """`seconds` by the clock and of the processor; `megabytes` of memory for each process and for all together;
    `files_megabytes` of all files, which are in memory, in addition to `megabytes`; `file_megabytes` of one file;
    `entries`: files and folders; `processes` with their threads; `left_megabytes` of memory that the machine has left,
    since what waits in sockets and pipes is no process's; `output` in bytes: its beginning and its end are given.
    """

    seconds: float = 300.0
    megabytes: int = 4_096
    files_megabytes: int = 1_000
    file_megabytes: int = 200
    entries: int = 200_000
    processes: int = 1_000
    left_megabytes: int = 300
    output: int = 20_000


class Ended(NamedTuple):
    """`status`: of the exit, 128 and more where a signal has ended the command, None where it was ended here. `why` it
    was, or which limit it met, as a part of a sentence. `cut`: bytes that are left out.
    """

    status: int | None
    output: bytes
    cut: int
    why: str = ""


class _Run(NamedTuple):
    """`talk`: with what waits inside; `first`: gives the number of the first process in the sandbox."""

    process: "subprocess.Popen[bytes]"
    talk: socket.socket
    first: int
    printed: IO[bytes]


def run(
    argv: Sequence[str],
    fill: Callable[[Path], None],
    limits: CommandLimits,
    view: MountView = MountView(),  # noqa: B008  frozen
    *,
    keep_going: Callable[[], None] = lambda: None,
) -> Ended:
    """The command in a folder that `fill` writes its files into; all that it has started and written ends with it.
    `keep_going` raises to break it off.

    Raises InvalidInput where there is no sandbox on this machine, or the command or its files have no place in it.
    """
    bwrap = _tool("bwrap", MISSING)
    if problem := view.problem(argv):
        raise InvalidInput(problem)
    user = _user()
    with ExitStack() as held:
        memory = limits.megabytes + limits.files_megabytes
        group = held.enter_context(cgroup(memory * 1_000_000, limits.processes + _OUR_PROCESSES))
        printed = held.enter_context(tempfile.TemporaryFile())
        if user is not None:
            os.fchown(printed.fileno(), user, user)  # a command may open its output again, as /dev/stdout
        options = [*_options(view, limits, user), "--", *_inner(limits, user), *argv]
        started = held.enter_context(_running([*_launch(limits, group), bwrap], options, printed))
        first = _first(started, limits, keep_going)
        try:
            box = held.enter_context(inside(first))
        except OSError as error:
            raise InvalidInput(_no_sandbox(str(error).encode())) from error
        _fill(box, fill, limits, user)
        with suppress(OSError):  # it has been killed: its status says so
            started.talk.sendall(b"\n")
        status, why = _wait(started.process, box, limits, keep_going)
        if not why and group is not None and group.ran_out:
            why = f"its processes and files took more than {memory:,} MB of memory"
        output, cut = _ends_of(printed, limits.output)
    return Ended(status, output, cut, why)


def problem() -> str:
    """Why no command can be run on this machine; empty if one can."""
    try:
        ended = run(["true"], lambda folder: None, CommandLimits(seconds=10))
    except InvalidInput as error:
        return str(error)
    return "" if ended.status == 0 else _no_sandbox(ended.output)


@contextmanager
def _running(launch: Sequence[str], options: Sequence[str], printed: IO[bytes]) -> Iterator[_Run]:
    """It and all that it has started end with the block."""
    with ExitStack() as held:
        ours, its = socket.socketpair()
        held.enter_context(ours)
        told, info = map(held.enter_context, _pipe())
        passed, descriptors = ["--info-fd", str(info.fileno())], [info.fileno()]
        if (program := seccomp.program()) is not None:
            filtered, written = map(held.enter_context, _pipe())
            written.write(program)
            written.close()
            passed += ["--seccomp", str(filtered.fileno())]
            descriptors.append(filtered.fileno())
        with its:
            process = subprocess.Popen(  # noqa: S603  that is its purpose, and an administrator named it
                [*launch, *passed, *options],
                stdin=its.fileno(),
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ.get("PATH", os.defpath)},
                pass_fds=descriptors,
                start_new_session=True,
            )
        try:
            yield _Run(process, ours, told.fileno(), printed)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # all else in the sandbox dies with bwrap, its init
            process.wait()


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    read, write = os.pipe()
    return os.fdopen(read, "rb", buffering=0), os.fdopen(write, "wb", buffering=0)


def _first(started: _Run, limits: CommandLimits, keep_going: Callable[[], None]) -> int:
    """The number of the first process in the sandbox, once it is there. Raises InvalidInput if it does not come."""
    started.talk.settimeout(_POLL_SECONDS)
    end = time.monotonic() + limits.seconds
    while True:
        try:
            if started.talk.recv(1):
                break
        except TimeoutError:
            if time.monotonic() < end:
                keep_going()
                continue
        except ConnectionError:  # it has ended before it read anything
            pass
        raise InvalidInput(_no_sandbox(os.pread(started.printed.fileno(), 4_096, 0)))
    pid = re.search(rb'"child-pid": *(\d+)', os.read(started.first, 4_096))
    assert pid is not None, "bubblewrap says this before it starts anything"
    return int(pid[1])


def _fill(box: Inside, fill: Callable[[Path], None], limits: CommandLimits, user: int | None) -> None:
    """Its files, while nothing of the command runs yet."""
    folder = box.tmp / Path(FOLDER).name
    try:
        fill(folder)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        text = (
            f"The files of this run take more than {limits.files_megabytes:,} MB, which is all that a command has for "
            "files. The administrator can give it more with PEV_COMMAND_FILES_MB."
        )
        raise InvalidInput(text) from error
    if user is not None:
        for place, _, names in os.walk(folder):
            for path in (place, *(os.path.join(place, name) for name in names)):  # noqa: PTH118  one of many
                os.chown(path, user, user, follow_symlinks=False)


def _wait(
    process: "subprocess.Popen[bytes]", box: Inside, limits: CommandLimits, keep_going: Callable[[], None]
) -> tuple[int | None, str]:
    """The exit status, or None, and why it cannot go on or which limit it met."""
    end = time.monotonic() + limits.seconds
    excess = _Excess(box, limits)
    met = ""
    while True:
        ended = None
        with suppress(subprocess.TimeoutExpired):
            ended = process.wait(_POLL_SECONDS)
        if box.is_full:
            met = f"its files took all of the {limits.files_megabytes:,} MB that it has for them"
        if ended is not None:
            return ended, met
        if time.monotonic() >= end:
            return None, TIME_OVER
        if why := excess.why():
            return None, why
        keep_going()


class _Excess:
    """Looks whether a command has more than it may of what the kernel does not hold."""

    def __init__(self, box: Inside, limits: CommandLimits) -> None:
        self._box = box
        self._limits = limits
        self._was_over = False

    def why(self) -> str:
        limits = self._limits
        if self._box.entries() > limits.entries:
            return f"it made more than {limits.entries:,} files and folders"
        taken = self._box.processes(limits.megabytes * 1_000_000)
        if taken.threads >= limits.processes:
            return f"it ran {limits.processes:,} processes and threads at once, which is all that it may"
        is_over = taken.memory > limits.megabytes * 1_000_000
        if is_over and self._was_over:  # twice: for a moment, a process that starts another is there two times
            return f"its processes took more than {limits.megabytes:,} MB of memory together"
        self._was_over = is_over
        if machine_memory() < limits.left_megabytes * 1_000_000:
            return f"the machine had less than {limits.left_megabytes:,} MB of memory left"
        return ""


def _launch(limits: CommandLimits, group: Cgroup | None) -> list[str]:
    """What becomes bubblewrap, with the limits that the kernel holds for each process."""
    join = [] if group is None else [_tool("sh"), "-c", _JOIN, str(group.members)]
    each = [
        *(f"--cpu={_least('RLIMIT_CPU', int(limits.seconds) + 1)}", "--core=0"),
        f"--as={_least('RLIMIT_AS', limits.megabytes * 1_000_000)}",
        f"--fsize={_least('RLIMIT_FSIZE', limits.file_megabytes * 1_000_000)}",
        f"--nofile={_least('RLIMIT_NOFILE', _MAX_OPEN)}",
    ]
    return [*join, _tool("nice"), "-n", str(_NICE), _tool("prlimit"), *each, "--"]


def _inner(limits: CommandLimits, user: int | None) -> list[str]:
    """What becomes the command, inside. The number of processes is set there, since Linux counts those of a user in
    each user namespace of its own (5.14 and later); it does not hold root, so that root's commands get another user.
    """
    other = ("--clear-groups", "--inh-caps=-all", "--no-new-privs")
    change = [] if user is None else [_tool("setpriv"), f"--reuid={user}", f"--regid={user}", *other]
    most = _least("RLIMIT_NPROC", limits.processes)
    return [_tool("sh"), "-c", _WAIT, "sh", *change, _tool("prlimit"), f"--nproc={most}", "--"]


def _least(name: str, value: int) -> int:
    """No process can be given more than the server has itself."""
    import resource  # not on Windows, which has no bubblewrap either

    hard = resource.getrlimit(getattr(resource, name))[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _options(view: MountView, limits: CommandLimits, user: int | None) -> list[str]:
    """Of bubblewrap. A user namespace only where the server is not root: in one of root's, a command would be root."""
    variables = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}  # noqa: S108
    apart = (
        ("--unshare-user", "--disable-userns", "--unshare-all", "--cap-drop", "ALL")
        if user is None
        else (
            *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
            *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),  # for setpriv
        )
    )
    return [
        *(*apart, "--die-with-parent", "--new-session", "--clearenv"),
        *(part for name, value in variables.items() for part in ("--setenv", name, value)),
        *("--dev", "/dev", "--proc", "/proc"),
        *("--perms", "1777", "--size", str(limits.files_megabytes * 1_000_000), "--tmpfs", "/tmp"),  # noqa: S108
        *("--perms", "1777", "--size", str(_SCRATCH_MEGABYTES * 1_000_000), "--tmpfs", "/dev/shm"),  # noqa: S108
        *view.options(masks_private=user is None),
        *("--dir", FOLDER, "--chdir", FOLDER, "--remount-ro", "/dev", "--remount-ro", "/"),
    ]


def _user() -> int | None:
    """The user that a command runs as, where the server is root; None where it runs as the server's user."""
    if os.geteuid() != 0:
        return None
    inner, outer, count = map(int, Path("/proc/self/uid_map").read_text().split()[:3])
    if (inner, outer) != (0, 0) or count < _FIRST_USER + _USERS:  # root of a container that is none outside
        return None
    return _FIRST_USER + (os.getpid() * 1_000 + next(_counter)) % _USERS


def _tool(name: str, missing: str = _MISSING_TOOL) -> str:
    found = shutil.which(name)
    if found is None:
        raise InvalidInput(missing.format(name))
    return found


def _no_sandbox(output: bytes) -> str:
    said = output.decode(errors="replace").strip()[-300:]
    return f"bubblewrap (bwrap) cannot make a sandbox here: {said or 'it gave no reason'}."


def _ends_of(printed: IO[bytes], limit: int) -> tuple[bytes, int]:
    """What was printed, or its beginning and its end with a mark between them, and how many bytes were left out."""
    place = printed.fileno()  # read where it lies: a command that still runs writes at the offset of this file
    size = os.fstat(place).st_size
    if size <= limit:
        return os.pread(place, size, 0), 0
    rest, cut = limit - _BEGIN, size - limit
    beginning, end = os.pread(place, _BEGIN, 0), os.pread(place, rest, size - rest)
    return beginning + f"\n[{cut:,} bytes left out]\n".encode() + end, cut
