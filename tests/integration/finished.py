"""A data folder in which a run has finished, for tests of processes that need one: made once for all, then copied."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

from tests import databases
from tests.installation import ROOT, Installation, environ


class Finished:
    """An installation in which the sample has succeeded. The first process that needs it makes it, the others wait."""

    def __init__(self, shared: Path, installation: Installation) -> None:
        """`shared`: a folder of this run of the tests alone, the same for all its processes."""
        self._folder = shared / "finished"
        self._made = shared / "finished.made"
        self._lock = shared / "finished.lock"
        self._installation = installation

    def copy(self, data: Path) -> Path:
        """`data`, a folder that is not there yet, filled. Nobody is at work in it."""
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._made.exists():
                self._make()
                self._made.touch()
            databases.copy(self._folder, data)
        return shutil.copytree(self._folder, data)

    def _make(self) -> None:
        command = [sys.executable, "manage.py", "run", "--sample", "contracts", "--approve-all"]
        data = self._installation.copy(self._folder)
        known = environ(data, PEV_REHEARSAL_DELAY="0", PEV_REDIS_URL="", ANTHROPIC_API_KEY="")
        done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
