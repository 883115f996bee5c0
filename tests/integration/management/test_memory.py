"""A process that serves does not keep what large uploads have taken."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from runs.management import memory
from runs.management.commands import serve, worker
from tests.installation import ROOT

KEPT = """
import sys
from pathlib import Path
from runs.management.memory import give_back_large_blocks

def megabytes():
    return next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmRSS"))

{call}
seen = bytes(30_000_000)
del seen
before, blocks, small = megabytes(), [], []
for _ in range({bytes} // {size}):
    blocks.append(b"x" * {size})
    small.append(bytes(1_000))  # between them, and stays
del blocks
print(megabytes() - before)
"""
MEGABYTE = 1_000_000


def kept(call: str, size: int) -> int:
    """Megabytes after many blocks of this size were used and freed."""
    code = KEPT.format(call=call, size=size, bytes=200 * MEGABYTE)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it is a setting of glibc")
@pytest.mark.parametrize("size", [300_000, MEGABYTE, 5 * MEGABYTE, 20 * MEGABYTE])
def test_large_blocks_are_given_back(size: int) -> None:
    assert kept("give_back_large_blocks()", size) < 20


@pytest.mark.parametrize("command", [serve.Command, worker.Command])
def test_the_processes_that_stay_ask_for_it_first(command: type[serve.Command | worker.Command]) -> None:
    first = inspect.getsource(command.handle).split(":\n", 1)[1].splitlines()[0].strip()
    assert first == f"{memory.give_back_large_blocks.__name__}()"
