"""A data folder that processes start on at once: migrated for all tests together, then copied."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class Installation:
    """The folder as `manage.py migrate` leaves it. The first process that needs it makes it, the others wait."""

    def __init__(self, shared: Path) -> None:
        """`shared`: a folder of this run of the tests alone, the same for all its processes."""
        self._folder = shared / "migrated"
        self._lock = shared / "migrated.lock"

    def copy(self, data: Path) -> Path:
        """`data`, a folder that need not exist, filled. No process has run on it but the migration."""
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._folder.exists():
                draft = self._folder.with_suffix(".draft")
                migrate(draft)
                draft.rename(self._folder)
        return shutil.copytree(self._folder, data, dirs_exist_ok=True)


def unmeasured() -> dict[str, str]:
    """The environment for processes that are killed: they leave no coverage, and measuring would double their time."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def migrate(data: Path) -> None:
    """What an operator calls, or `serve` for them."""
    environ = os.environ | {"PEV_DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "pevsite.settings"}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=environ, check=True)
