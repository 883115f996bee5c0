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
before, small = megabytes(), []
for size in {sizes}:
    blocks = [b"x" * size for _ in range({bytes} // size)]
    small.append(bytes(1_000))  # above them, which stay
    del blocks
print(megabytes() - before)
"""
MEGABYTE = 1_000_000


def kept(call: str, sizes: list[int]) -> int:
    code = KEPT.format(call=call, sizes=sizes, bytes=200 * MEGABYTE)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it is a setting of glibc")
@pytest.mark.parametrize("sizes", [[20 * MEGABYTE, 5 * MEGABYTE], [30 * MEGABYTE, 300_000], [MEGABYTE, 2 * MEGABYTE]])
def test_large_blocks_are_given_back(sizes: list[int]) -> None:
    assert kept("give_back_large_blocks()", sizes) < 20


@pytest.mark.parametrize("command", [serve.Command, worker.Command])
def test_the_processes_that_stay_ask_for_it_first(command: type[serve.Command | worker.Command]) -> None:
    first = inspect.getsource(command.handle).split(":\n", 1)[1].splitlines()[0].strip()
    assert first == f"{memory.give_back_large_blocks.__name__}()"
