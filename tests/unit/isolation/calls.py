"""What the tests have called in isolated processes. Nothing here needs Django."""

import json
import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

from runs.errors import InvalidInput


def reverse(data: bytes, *, times: int = 1) -> bytes:
    return data[::-1] * times


def refuse(data: bytes) -> bytes:
    raise InvalidInput(f"{data.decode()} is no document")


def break_off(data: bytes) -> bytes:
    raise KeyError(data)


def sleep(data: bytes) -> bytes:
    time.sleep(float(data))
    return b""


def compute(data: bytes) -> bytes:
    return str(sum(range(int(data)))).encode()


def hold(data: bytes) -> bytes:
    return str(len(b"x" * (int(data) * 1024 * 1024))).encode()


def keep(data: bytes) -> bytes:
    """As `hold`, long enough for whoever looks from time to time."""
    held = b"x" * (int(data) * 1024 * 1024)
    time.sleep(0.5)
    return str(len(held)).encode()


def chatter(data: bytes) -> bytes:
    print("loud", flush=True)
    os.write(1, b"louder")
    return json.dumps(sorted(os.environ)).encode() + data


def break_off_writing(data: bytes) -> bytes:
    """Write a part of an output to whoever is connected, and end: as a process that is killed meanwhile."""
    for handle in range(3, 20):
        with suppress(OSError):
            os.write(handle, bytes(100_000))
    os.kill(os.getpid(), signal.SIGKILL)
    return data


def end_itself(data: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return data


def die(data: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGSEGV)
    return data


def end_the_template(data: bytes) -> bytes:
    """The process two above: the one that is forked for each call."""
    above = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1]
    os.kill(int(above), signal.SIGKILL)
    time.sleep(60)  # it is killed with those above it
    return data


def surroundings(data: bytes) -> bytes:
    """What of the process that asks can be seen, and whether anything can be put into a file."""
    handles = len(list(Path("/proc/self/fd").iterdir())) - 1  # one of them is the listing's own
    try:
        Path(data.decode()).write_bytes(b"x")
        written = True
    except OSError:
        written = False
    return json.dumps({"environment": sorted(os.environ), "handles": handles, "written": written}).encode()


def open_files(data: bytes) -> bytes:
    opened = []
    try:
        while True:
            opened.append(socket.socket())
    except OSError:
        return str(len(opened)).encode()
