"""A data folder in which a run has finished, for tests of processes that need one: made once for all, then copied."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import databases
from tests.installation import ROOT, Installation, environ


class Finished:
    """An installation in which the sample has succeeded. The first process that needs it makes it, the others wait."""

    def __init__(self, shared: Path, installation: Installation) -> None:
        """`shared`: a folder of this run of the tests alone, the same for all its processes."""
        self._folder = shared / "finished"
        self._made = shared / "finished.made"
        self._lock = shared / "finished.lock"
        self._out = shared / "finished.out"
        self._printed = shared / "finished.json"
        self._installation = installation

    def copy(self, data: Path) -> Path:
        """`data`, a folder that is not there yet, filled. Nobody is at work in it."""
        with self._ready():
            databases.copy(self._folder, data)
        return shutil.copytree(self._folder, data)

    def result(self) -> tuple[dict[str, Any], Path]:
        """The JSON that the command printed, and the folder that it filled (`--out`). Only to be read."""
        with self._ready():
            return json.loads(self._printed.read_text("utf-8")), self._out

    @contextmanager
    def _ready(self) -> Iterator[None]:
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._made.exists():
                self._make()
                self._made.touch()
            yield

    def _make(self) -> None:
        command = [sys.executable, "manage.py", "run", "--sample", "contracts", "--approve-all", "--json"]
        command += ["--out", str(self._out)]
        data = self._installation.copy(self._folder)
        known = environ(data, PEV_REHEARSAL_DELAY="0", PEV_REDIS_URL="", ANTHROPIC_API_KEY="")
        done = subprocess.run(command, cwd=ROOT, env=known, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
        self._printed.write_text(done.stdout, "utf-8")
