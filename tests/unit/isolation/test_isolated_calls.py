"""Isolated calls: what comes back, what each limit ends, and what is left of the processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest

from runs import isolation
from runs.errors import InvalidInput
from runs.isolation import Crashed, Interrupted, Limits, TimedOut, TooLarge, fork_server, forked, spawned
from runs.isolation.pipe_messages import SIZES, Ending, ended

CALLS = "tests.unit.isolation.calls"


@pytest.fixture(params=["forked", "spawned"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to start a process; the second is how it is done where none can be forked."""
    monkeypatch.setattr(isolation, "_exchanged", {"forked": forked, "spawned": spawned}[request.param].exchanged)
    return str(request.param)


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_bytes_and_options_go_in_and_bytes_come_back() -> None:
    assert isolation.run(f"{CALLS}.reverse", b"abc", times=2) == b"cbacba"
    assert isolation.run(f"{CALLS}.reverse", b"") == b""
    large = os.urandom(3_000_000)
    assert isolation.run(f"{CALLS}.reverse", large) == large[::-1]


class _Answered:
    """A channel whose other end has answered and is gone as soon as the beginning of a request was sent."""

    def __init__(self) -> None:
        self._mine, self._its = socket.socketpair()

    def sendall(self, part: bytes) -> None:
        self._mine.sendall(part)
        if self._its.fileno() >= 0:
            header = json.loads(self._its.recv(10_000)[SIZES.size :])
            self._its.sendall(b"done" + ended(header, Ending.DONE))
            self._its.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._mine.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mine, name)


def test_a_call_without_data_may_be_answered_before_the_end_of_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forked, "_connected", _Answered)
    assert forked.exchanged("any", b"", {}, Limits(), time.monotonic() + 20) == (b"done", Ending.DONE)


@pytest.mark.usefixtures("way")
def test_a_refusal_comes_back_as_such() -> None:
    with pytest.raises(InvalidInput, match=r"^a\.pdf is no document$"):
        isolation.run(f"{CALLS}.refuse", b"a.pdf")


@pytest.mark.slow
def test_time_by_the_clock_is_limited() -> None:
    with pytest.raises(TimedOut, match=r"^it took longer than 0\.3 seconds$"):
        isolation.run(f"{CALLS}.sleep", b"60", Limits(seconds=0.3))
    assert _wait_for(lambda: [_command(pid) for pid in _below(os.getpid())].count("runs.isolation.fork_server") <= 1)


@pytest.mark.usefixtures("way")
def test_time_of_the_processor_is_limited_in_c_too() -> None:
    with pytest.raises(TimedOut, match=r"^it took more than 0\.2 seconds of the processor$"):
        isolation.run(f"{CALLS}.compute", b"1000000000000", Limits(cpu_seconds=0.2, seconds=60))


def test_memory_is_limited() -> None:
    assert isolation.run(f"{CALLS}.hold", b"20", Limits(megabytes=30)) == b"20971520"
    with pytest.raises(TooLarge, match=r"^it took more than 30 MB$"):
        isolation.run(f"{CALLS}.hold", b"40", Limits(megabytes=30))


@pytest.mark.slow
def test_memory_and_the_clock_are_watched_without_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_exchanged", spawned.exchanged)
    assert isolation.run(f"{CALLS}.keep", b"20", Limits(megabytes=60, seconds=60)) == b"20971520"
    with pytest.raises(TooLarge, match=r"^it took more than 60 MB$"):
        isolation.run(f"{CALLS}.keep", b"200", Limits(megabytes=60, seconds=60))
    with pytest.raises(TimedOut, match=r"^it took longer than 0\.5 seconds$"):
        isolation.run(f"{CALLS}.sleep", b"60", Limits(seconds=0.5))


def test_memory_is_watched_where_the_kernel_does_not_limit_it() -> None:
    script = "import time; taken = bytearray(200_000_000); time.sleep(60)"
    greedy = subprocess.Popen([sys.executable, "-S", "-c", script])
    assert fork_server._watched(greedy.pid, megabytes=50) == Ending.OUT_OF_MEMORY
    greedy.returncode = -signal.SIGKILL  # it was waited for there


@pytest.mark.usefixtures("way")
def test_the_result_is_limited() -> None:
    assert isolation.run(f"{CALLS}.reverse", b"abc", Limits(output=3)) == b"cba"
    with pytest.raises(TooLarge, match=r"^its result has more than 3 bytes$"):
        isolation.run(f"{CALLS}.reverse", b"abcd", Limits(output=3))


def test_open_files_are_limited() -> None:
    assert isolation.run(f"{CALLS}.open_files", b"", Limits(files=5)) == b"5"


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (f"{CALLS}.break_off", "it broke: KeyError"),
        (f"{CALLS}.die", f"its process was ended by signal {signal.SIGSEGV.value}"),
        (f"{CALLS}.nothing", "it broke: AttributeError"),
        ("runs.nowhere.at_all", "it broke: ModuleNotFoundError"),
    ],
)
@pytest.mark.usefixtures("way")
def test_what_breaks_says_so(function: str, sentence: str) -> None:
    with pytest.raises(Crashed, match=f"^{sentence}$"):
        isolation.run(function, b"")


def test_it_sees_no_secret_and_no_file_of_ours_and_writes_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    isolation.close()
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        seen = json.loads(isolation.run(f"{CALLS}.surroundings", str(tmp_path / "written").encode()))
    assert set(seen["environment"]) <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}
    assert seen["handles"] == 3  # standard output and error, and the channel
    assert not seen["written"]
    assert (tmp_path / "written").read_bytes() == b""


@pytest.mark.slow
@pytest.mark.usefixtures("way")
def test_calls_of_many_threads_do_not_meet() -> None:
    texts = [f"{number}:{'x' * 1_000}".encode() for number in range(10)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: isolation.run(f"{CALLS}.reverse", text), texts))
    assert results == [text[::-1] for text in texts]


def test_slow_calls_leave_turns_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(isolation.MAX_SLOW_AT_ONCE):
        isolation._slow_turns.acquire()
    try:
        assert isolation.run(f"{CALLS}.reverse", b"ab", Limits(seconds=isolation.SLOW_SECONDS)) == b"ba"
        monkeypatch.setattr(isolation, "SLOW_SECONDS", 0.05)
        with pytest.raises(TimedOut, match="waited for its turn"):
            isolation.run(f"{CALLS}.reverse", b"ab", Limits(seconds=0.1))
    finally:
        for _ in range(isolation.MAX_SLOW_AT_ONCE):
            isolation._slow_turns.release()


def test_calls_that_may_take_minutes_leave_turns_to_those_that_take_seconds() -> None:
    for _ in range(isolation.MAX_LONG_AT_ONCE):
        isolation._long_turns.acquire()
    try:
        assert isolation.run(f"{CALLS}.reverse", b"ab", Limits(seconds=isolation.LONG_SECONDS)) == b"ba"
        assert isolation.MAX_LONG_AT_ONCE < isolation.MAX_SLOW_AT_ONCE < isolation.MAX_AT_ONCE
    finally:
        for _ in range(isolation.MAX_LONG_AT_ONCE):
            isolation._long_turns.release()


def test_data_is_asked_for_when_it_is_the_turn_of_a_call() -> None:
    asked: list[str] = []

    def data() -> bytes:
        asked.append("asked")
        return b"abc"

    for _ in range(isolation.MAX_AT_ONCE):
        isolation._turns.acquire()
    try:
        with pytest.raises(TimedOut, match=r"^it waited for its turn longer than 0\.1 seconds$"):
            isolation.run(f"{CALLS}.reverse", data, Limits(seconds=0.1))
        assert asked == []
    finally:
        for _ in range(isolation.MAX_AT_ONCE):
            isolation._turns.release()
    assert (isolation.run(f"{CALLS}.reverse", data), asked) == (b"cba", ["asked"])


def test_a_template_that_was_killed_is_started_again() -> None:
    with pytest.raises(Crashed, match=r"^its process was ended from outside$"):
        isolation.run(f"{CALLS}.end_the_template", b"")
    assert isolation.run(f"{CALLS}.reverse", b"abc") == b"cba"


@pytest.mark.slow
def test_a_fork_has_a_template_of_its_own() -> None:
    isolation.run(f"{CALLS}.reverse", b"abc")
    code = (
        "import os, sys\nfrom runs import isolation\n"
        f"call = lambda: isolation.run('{CALLS}.reverse', b'abc')\n"
        "call()\nchild = os.fork()\nright = call() == b'cba'\n"
        "if child == 0:\n    guarded.close()\n    os._exit(not right)\n"
        "sys.exit(os.waitpid(child, 0)[1] or not right)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=240, check=False).returncode == 0


def test_what_is_spawned_sees_no_secret_and_nothing_printed_gets_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setattr(isolation, "_exchanged", spawned.exchanged)
    seen = json.loads(isolation.run(f"{CALLS}.chatter", b""))
    assert set(seen) <= {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ"}


def test_what_is_spawned_is_ended_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_exchanged", spawned.exchanged)
    with pytest.raises(Interrupted, match=r"^its process was ended from outside$"):
        isolation.run(f"{CALLS}.end_itself", b"")


@pytest.mark.usefixtures("way")
def test_a_part_of_an_output_is_no_result() -> None:
    with pytest.raises(Crashed):
        isolation.run(f"{CALLS}.break_off_writing", b"")


def test_what_is_spawned_does_not_outlive_its_time_when_nobody_watches() -> None:
    code = (
        "from runs import isolation\nfrom runs.isolation import spawned\nisolation._exchanged = spawned.exchanged\n"
        f"isolation.run('{CALLS}.sleep', b'60', isolation.Limits(seconds=3))"
    )
    asks = subprocess.Popen([sys.executable, "-c", code])
    below = _wait_for(lambda: _below(asks.pid))
    asks.kill()
    asks.wait()
    assert len(below) == 1
    assert _wait_for(lambda: not _lives(below[0]))


def test_nothing_outlives_the_process_that_asks() -> None:
    code = f"from runs import isolation\nisolation.run('{CALLS}.sleep', b'60', isolation.Limits(seconds=60))"
    asks = subprocess.Popen([sys.executable, "-c", code])
    below = _wait_for(lambda: found if len(found := _below(asks.pid)) == 3 else [])
    asks.kill()
    asks.wait()
    assert len(below) == 3  # template, supervisor, child
    assert _wait_for(lambda: not [pid for pid in below if _lives(pid)])


def _below(pid: int) -> list[int]:
    """Children, their children, and so on."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # it has ended meanwhile
            children += [int(each) for each in task.read_text().split()]
    return children + [other for child in children for other in _below(child)]


def _command(pid: int) -> str:
    """The last word of the command that the process was started with."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").rpartition("\0")[2]
    return ""


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_for[Value](value: Callable[[], Value]) -> Value:
    end = time.monotonic() + 60
    while not (result := value()) and time.monotonic() < end:
        time.sleep(0.05)
    return result
