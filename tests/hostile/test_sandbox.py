"""The sandbox of commands: what is run there sees and changes nothing but its folder, and always ends."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from runs.errors import InvalidInput, LeaseLost
from runs.isolation import sandbox
from runs.isolation.sandbox import CommandLimits, Ended
from runs.isolation.sandbox_mounts import MountView

pytestmark = [
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("bubblewrap"),
]
PYTHON = (str(Path(sys.executable).resolve()), "-I", "-c")
"""That of the machine: a virtual environment is not seen."""
FOLDERS = (Path(sys.base_prefix),)
OTHER_USER = 61_001
USERS = [None, OTHER_USER] if os.geteuid() == 0 else [None]
"""A server that is root and one that is not hold their commands in different ways."""


def copied(folder: Path) -> Callable[[Path], None]:
    def fill(target: Path) -> None:
        for path in sorted(folder.rglob("*")):
            place = target / path.relative_to(folder)
            place.mkdir() if path.is_dir() else place.write_bytes(path.read_bytes())

    return fill


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """What these tests make may be read by everyone, as programs may: a server that is root runs commands as others."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def ran(code: str, folder: Path, *, hidden: tuple[Path, ...] = (), limits: CommandLimits = CommandLimits()) -> Ended:  # noqa: B008  frozen
    return sandbox.run([*PYTHON, code], copied(folder), limits, MountView(FOLDERS, hidden))


def printed(code: str, folder: Path, hidden: tuple[Path, ...] = ()) -> str:
    return ran(code, folder, hidden=hidden).output.decode().strip()


def ran_by(user: int | None, script: str, limits: CommandLimits) -> Ended:
    """A script for the shell, run by a server of this user."""
    if user is None:
        return sandbox.run(["sh", "-c", script], lambda folder: None, limits)
    given = json.dumps({"user": user, "script": script, "limits": asdict(limits)})
    argv = [sys.executable, "-m", "tests.hostile.another_user", given]
    done = subprocess.run(argv, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    status, output, cut, why = json.loads(done.stdout)
    return Ended(status, output.encode(), cut, why)


def test_status_and_output_come_back_and_files_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello")
    code = "import sys; print(open('a.txt').read()); print('no', file=sys.stderr); sys.exit(3)"
    ended = ran(code, tmp_path)
    assert (ended.status, sorted(ended.output.split()), ended.cut) == (3, [b"Hello", b"no"], 0)


def test_no_variable_network_or_process_of_the_server_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert printed("import os; print(sorted(os.environ))", folder) == "['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']"
    assert printed("import os; print(os.listdir('/tmp'), os.listdir('/dev/shm'))", folder) == "['files'] []"
    processes = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')) < 5)"
    assert printed(processes, folder) == "True"
    network = "import socket; print(socket.socket().connect_ex(('127.0.0.1', %d)) != 0)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert printed(network % server.getsockname()[1], folder) == "True"


@pytest.mark.parametrize("user", USERS)
def test_only_folders_of_programs_are_seen(user: int | None) -> None:
    script = "cd /; echo *; ls -d /root /home /var /srv /mnt /run /sys /work 2>/dev/null; cat /etc/shadow 2>/dev/null"
    seen = set(ran_by(user, script, CommandLimits()).output.decode().split())
    programs = {"bin", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "sbin", "usr"}
    assert {"etc", "usr", "dev", "proc", "tmp"} <= seen <= programs | {"dev", "proc", "tmp"}


def test_a_folder_that_is_named_is_seen_and_nothing_beside_it(tmp_path: Path) -> None:
    named, beside, files = tmp_path / "named", tmp_path / "beside", tmp_path / "files"
    for folder in (named, beside, files):
        folder.mkdir()
        (folder / "a.txt").write_text(folder.name)
    tmp_path.chmod(0o755)
    code = f"""
import os
print(open({str(named / "a.txt")!r}).read(), os.listdir({str(tmp_path)!r}), flush=True)
open({str(named / "b.txt")!r}, "w")
"""
    ended = sandbox.run([*PYTHON, code], copied(files), CommandLimits(), MountView((*FOLDERS, named)))
    assert ended.output.decode().startswith("named ['named']\n")
    assert "Read-only file system" in ended.output.decode()


@pytest.mark.parametrize("is_temporary", [False, True])
def test_a_hidden_folder_is_empty_and_closed_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_temporary: bool
) -> None:
    named, files, link = tmp_path / "named", tmp_path / "files", tmp_path / "link"
    secret = named / "data"
    secret.mkdir(parents=True)
    files.mkdir()
    (secret / "secret.key").write_text("key")
    link.symlink_to(secret)
    if is_temporary:
        monkeypatch.setattr(tempfile, "tempdir", str(secret))
    hidden = () if is_temporary else (link,)
    code = f"import os; print(os.listdir({str(secret)!r}), flush=True); open({str(secret / 'x')!r}, 'w')"
    ended = sandbox.run([*PYTHON, code], copied(files), CommandLimits(), MountView((*FOLDERS, named), hidden))
    assert ended.output.decode().startswith("[]\n")
    assert "Read-only file system" in ended.output.decode()


def test_a_socket_of_a_service_is_not_reached(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    named = Path(tempfile.mkdtemp(prefix="s"))  # the path of a socket is short
    named.chmod(0o755)
    path = str(named / "service.socket")
    code = f"import socket; print(socket.socket(socket.AF_UNIX).connect_ex({path!r}))"
    try:
        with socket.socket(socket.AF_UNIX) as service:
            service.bind(path)
            service.listen()
            Path(path).chmod(0o777)
            ended = sandbox.run([*PYTHON, code], copied(files), CommandLimits(), MountView((*FOLDERS, named)))
    finally:
        shutil.rmtree(named)
    assert ended.output.strip() == b"111"  # nobody listens at /dev/null


def test_a_program_that_is_not_seen_is_said_before_it_starts(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "tests"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    with pytest.raises(InvalidInput) as caught:
        sandbox.run([str(program)], copied(tmp_path), CommandLimits())
    assert str(caught.value) == (
        f"The program “{program}” needs {program}, and commands do not see its folder. The administrator can name the "
        "folder of all that belongs to it in PEV_COMMAND_FOLDERS."
    )
    tmp_path.chmod(0o755)
    assert sandbox.run([str(program)], copied(tmp_path), CommandLimits(), MountView((tmp_path,))).status == 7
    assert sandbox.run(["sh", "bin/tests"], copied(tmp_path), CommandLimits()).status == 7


@pytest.mark.parametrize(
    "path", ["/etc/pevsite-test", "/usr/pevsite-test", "../outside", "/proc/sys/kernel/core_pattern"]
)
def test_nothing_outside_can_be_written(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    code = f"""
try:
open({path!r}, "w").write("x")
except OSError as error:
print("refused")
"""
    outcome = printed(code, folder)
    assert outcome == "refused" or not (tmp_path / "outside").exists()
    assert not Path("/etc/pevsite-test").exists()


@pytest.mark.slow
def test_what_takes_too_long_ends_with_all_it_has_started(tmp_path: Path) -> None:
    code = "import subprocess, time; subprocess.Popen(['sleep', '61.5']); print('started', flush=True); time.sleep(60)"
    ended = ran(code, tmp_path, limits=CommandLimits(seconds=2))
    assert (ended.status, ended.output.strip()) == (None, b"started")
    assert ended.why == sandbox.TIME_OVER
    time.sleep(0.5)
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert [line for line in running if b"61.5" in line] == []


def test_output_without_end_is_cut_in_the_middle(tmp_path: Path) -> None:
    ended = ran("print('begin'); print('x' * 3_000_000); print('end')", tmp_path, limits=CommandLimits(output=20_000))
    assert ended.output.startswith(b"begin\nxxx")
    assert ended.output.endswith(b"xxx\nend\n")
    assert len(ended.output) < 20_100
    assert ended.cut > 2_900_000


def test_memory_and_files_have_a_limit(tmp_path: Path) -> None:
    assert ran("x = b'x' * 3_000_000_000", tmp_path, limits=CommandLimits(megabytes=500)).status == 1
    assert (
        ran("open('big', 'wb').write(b'x' * 5_000_000)", tmp_path, limits=CommandLimits(file_megabytes=1)).status != 0
    )


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("script", "limits", "why"),
    [
        pytest.param(
            "(i=0; while [ $i -lt 300 ]; do sleep 20 & i=$((i+1)); done); sleep 20",
            CommandLimits(processes=50),
            "it ran 50 processes and threads at once, which is all that it may",
            id="processes",
        ),
        pytest.param(
            "for i in 1 2 3 4 5 6; do (head -c 60M /dev/zero | tail -c 59M | sleep 20) & done; wait",
            CommandLimits(megabytes=100),
            "its processes took more than 100 MB of memory together",
            id="memory of many",
        ),
        pytest.param(
            "i=0; while [ $i -lt 3000 ]; do mkdir d; cd -P d; i=$((i+1)); done; sleep 20",
            CommandLimits(entries=400),
            "it made more than 400 files and folders",
            id="folders in folders",
        ),
        pytest.param(
            "cd /dev/shm; seq 3000 | xargs touch; sleep 20",
            CommandLimits(entries=400),
            "it made more than 400 files and folders",
            id="empty files elsewhere",
        ),
        pytest.param(
            "sleep 20",
            CommandLimits(left_megabytes=10_000_000),
            "the machine had less than 10,000,000 MB of memory left",
            id="memory of the machine",
        ),
    ],
)
def test_what_takes_too_much_is_ended(user: int | None, script: str, limits: CommandLimits, why: str) -> None:
    ended = ran_by(user, script, limits)
    assert (ended.status, ended.why) == (None, why)


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    "script",
    [
        "head -c 50M /dev/zero > big",
        "exec 3> gone; rm gone; head -c 50M /dev/zero >&3",
        "mkdir -p a/b/c && cd a/b/c && rm -r ../../../a && head -c 50M /dev/zero > /tmp/big",
        "for i in 1 2 3 4 5 6 7; do truncate -s 8M h$i; head -c 8M /dev/zero | dd of=h$i conv=notrunc bs=1M; done",
    ],
)
def test_files_take_no_more_than_they_may(user: int | None, script: str) -> None:
    ended = ran_by(user, f"{script}; sleep 0.3; exit 5", CommandLimits(files_megabytes=10))
    assert (ended.status, ended.why) == (5, "its files took all of the 10 MB that it has for them")
    assert b"No space left on device" in ended.output


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
def test_the_kernel_holds_processes_before_they_are_counted(user: int | None) -> None:
    script = "(i=0; while [ $i -lt 300 ]; do sleep 20 & i=$((i+1)); done)"
    ended = ran_by(user, script, CommandLimits(processes=50))
    assert b"Cannot fork" in ended.output or b"Resource temporarily unavailable" in ended.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "limits", "why"),
    [
        (
            "import threading, time; [threading.Thread(target=time.sleep, args=(20,)).start() for _ in range(200)]",
            CommandLimits(processes=50),
            "it ran 50 processes and threads at once, which is all that it may",
        ),
        (
            "for number in range(1_000_000): open(str(number), 'w').close()",
            CommandLimits(entries=20_000),
            "it made more than 20,000 files and folders",
        ),
        (
            "import os\nfor _ in range(100_000): os.mkdir('d'); os.chdir('d')\nos.read(os.pipe()[0], 1)",
            CommandLimits(entries=90_000),
            "it made more than 90,000 files and folders",
        ),
    ],
)
def test_what_a_program_takes_is_ended(tmp_path: Path, code: str, limits: CommandLimits, why: str) -> None:
    ended = ran(code, tmp_path, limits=limits)
    assert (ended.status, ended.why) == (None, why)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_memory_that_processes_share_is_counted_once(tmp_path: Path) -> None:
    code = """
import os, time
held = b"x" * 60_000_000
for _ in range(5):
    if not os.fork():
        break
time.sleep(1.5)
"""
    ended = ran(code, tmp_path, limits=CommandLimits(megabytes=150))
    assert (ended.status, ended.why) == (0, "")


@pytest.mark.parametrize("user", USERS)
def test_a_command_goes_before_the_server_where_memory_ends(user: int | None) -> None:
    ended = ran_by(user, "cat /proc/self/oom_score_adj; nice; grep NoNewPrivs /proc/self/status", CommandLimits())
    assert ended.output.split() == [b"1000", b"10", b"NoNewPrivs:", b"1"]


def test_what_is_no_memory_of_a_process_is_refused(tmp_path: Path) -> None:
    code = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def answer(name, *args):
    return "refused" if getattr(libc, name)(*args) == -1 and ctypes.get_errno() == errno.ENOSYS else "done"
print(answer("memfd_create", b"x", 0), answer("shmget", 0, 1 << 20, 0o1600), answer("semget", 0, 250, 0o1600))
print(answer("unshare", 0x10000000), answer("unshare", 0x00020000), answer("mount", 0, 0, 0, 0, 0))
print(answer("shmget", 0, 56, 0o1600), answer("semget", 0, 17, 0o1600), os.waitpid(os.fork() or os._exit(0), 0)[1])
"""
    lines = ["refused refused refused", "refused refused refused", "done done 0"]
    assert printed(code, tmp_path).splitlines() == lines


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/dev", "/", "/usr"])
def test_what_lies_in_memory_has_a_limit(tmp_path: Path, place: str) -> None:
    code = f"""
written = 0
try:
    for number in range(100):
        with open({place!r} + f"/part-{{number}}", "wb") as file:
            written += file.write(b"x" * 1_000_000)
except OSError:
    pass
print(written <= 65_000_000)
"""
    limits = CommandLimits(files_megabytes=20)
    assert ran(code, tmp_path, limits=limits).output.decode().strip() == "True"


def test_files_that_are_too_many_for_a_command_are_refused_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 3_000_000)
    with pytest.raises(InvalidInput) as caught:
        ran("print(1)", tmp_path, limits=CommandLimits(files_megabytes=2))
    assert str(caught.value) == (
        "The files of this run take more than 2 MB, which is all that a command has for files. The administrator can "
        "give it more with PEV_COMMAND_FILES_MB."
    )


def test_it_is_broken_off_when_the_work_is(tmp_path: Path) -> None:
    def lost() -> None:
        raise LeaseLost("gone")

    with pytest.raises(LeaseLost):
        sandbox.run(["sleep", "60"], copied(tmp_path), CommandLimits(), keep_going=lost)


def test_without_a_sandbox_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match="bubblewrap"):
        ran("print(1)", tmp_path)


def test_whether_there_is_a_sandbox_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sandbox.problem() == ""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    said = "bubblewrap (bwrap) cannot make a sandbox here: No permissions to create a new namespace."
    assert sandbox.problem() == said
