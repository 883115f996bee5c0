"""The agent's program ends with whoever started it, also where that is killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from runs.agent_sdk import launcher

SLEEPS = [sys.executable, "-c", "import time; print('started', flush=True); time.sleep(60)"]
PARENT = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"


def launched(home: Path, *before: str) -> subprocess.Popen[str]:
    command = [*before, sys.executable, "-I", launcher.__file__, str(home), *SLEEPS]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


@pytest.mark.slow
def test_it_is_killed_when_its_parent_is_and_leaves_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    parent = launched(home, sys.executable, "-c", PARENT)
    below = psutil.Process(parent.pid).children(recursive=True)
    parent.kill()
    _, alive = psutil.wait_procs(below, timeout=20)
    assert (len(below), alive, home.exists()) == (2, [], False)
    parent.communicate()


def test_it_ends_at_once_when_it_is_not_wanted_any_more(tmp_path: Path) -> None:
    with launched(tmp_path) as process:
        (tmp_path / launcher.STOP).touch()
        assert process.wait(20) == 256 - 9  # as of a process that was killed
    assert tmp_path.exists()


def test_its_status_is_that_of_the_program(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "import sys; sys.exit(7)"]
    done = subprocess.run([sys.executable, "-I", launcher.__file__, str(tmp_path), *program], check=False)
    assert done.returncode == 7
