"""The sandbox of commands: what is run there sees and changes nothing but its folder, and always ends."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import pytest

from runs.errors import InvalidInput, LeaseLost
from runs.guarded import sandbox
from runs.guarded.sandbox import CommandLimits, Ended

pytestmark = [
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.needs("bubblewrap"),
]
PYTHON = (str(Path(sys.executable).resolve()), "-I", "-c")
"""That of the machine: a virtual environment may lie in /tmp, which is hidden."""


def ran(code: str, folder: Path, *, hidden: tuple[Path, ...] = (), limits: CommandLimits = CommandLimits()) -> Ended:  # noqa: B008  frozen
    return sandbox.run([*PYTHON, code], folder, limits, hidden=hidden)


def printed(code: str, folder: Path, hidden: tuple[Path, ...] = ()) -> str:
    return ran(code, folder, hidden=hidden).output.decode().strip()


def test_status_and_output_come_back_and_files_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Hello")
    code = "import sys; print(open('a.txt').read()); print('no', file=sys.stderr); sys.exit(3)"
    ended = ran(code, tmp_path)
    assert (ended.status, sorted(ended.output.split()), ended.cut) == (3, [b"Hello", b"no"], 0)


def test_no_variable_network_process_or_hidden_file_of_the_server_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, folder = tmp_path / "data", tmp_path / "files"
    secret.mkdir()
    folder.mkdir()
    (secret / "secret.key").write_text("key")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    assert printed("import os; print(sorted(os.environ))", folder) == "['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']"
    assert printed(f"import os; print(os.path.exists({str(secret / 'secret.key')!r}))", folder) == "False"
    assert printed("import os; print(os.listdir('/run'), os.listdir('/tmp'))", folder) == "[] ['files']"
    processes = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')) < 5)"
    assert printed(processes, folder) == "True"
    network = "import socket; print(socket.socket().connect_ex(('127.0.0.1', %d)) != 0)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert printed(network % server.getsockname()[1], folder) == "True"


def test_a_hidden_folder_is_empty_wherever_it_lies(tmp_path: Path) -> None:
    hidden = Path(__file__).parent
    assert printed(f"import os; print(os.listdir({str(hidden)!r}))", tmp_path, hidden=(hidden,)) == "[]"


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


def test_all_files_together_have_a_limit_on_disk(tmp_path: Path) -> None:
    code = """
import time
for number in range(200):
    with open(f"part-{number}", "wb") as file:
        file.write(b"x" * 1_000_000)
    time.sleep(0.02)
time.sleep(60)
"""
    ended = ran(code, tmp_path, limits=CommandLimits(seconds=50, folder_megabytes=20))
    assert (ended.status, ended.why) == (None, "its files took more than 20 MB")


@pytest.mark.parametrize("place", ["/tmp", "/run", "/dev/shm", "/dev", "hidden"])
def test_what_lies_in_memory_has_a_limit(tmp_path: Path, place: str) -> None:
    hidden, folder = tmp_path / "hidden", tmp_path / "files"
    hidden.mkdir()
    folder.mkdir()
    path = str(hidden) if place == "hidden" else place
    code = f"""
written = 0
try:
    for number in range(40):
        with open({path!r} + f"/part-{{number}}", "wb") as file:
            written += file.write(b"x" * 1_000_000)
except OSError:
    pass
print(written <= 20_000_000)
"""
    limits = CommandLimits(scratch_megabytes=20)
    assert ran(code, folder, hidden=(hidden,), limits=limits).output.decode().strip() == "True"


def test_it_is_broken_off_when_the_work_is(tmp_path: Path) -> None:
    def lost() -> None:
        raise LeaseLost("gone")

    with pytest.raises(LeaseLost):
        sandbox.run([*PYTHON, "import time; time.sleep(60)"], tmp_path, CommandLimits(), keep_going=lost)


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
