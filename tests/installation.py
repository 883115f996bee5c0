"""A data folder that processes start on at once: migrated for all tests together, then copied."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import databases

ROOT = Path(__file__).resolve().parents[1]


class Installation:
    """The folder as `manage.py migrate` leaves it. The first process that needs it makes it, the others wait."""

    def __init__(self, shared: Path) -> None:
        """`shared`: a folder of this run of the tests alone, the same for all its processes."""
        self._folder = shared / "migrated"
        self._made = shared / "migrated.made"
        self._lock = shared / "migrated.lock"

    def copy(self, data: Path) -> Path:
        """`data`, a folder that need not exist, filled. No process has run on it but the migration."""
        with self._lock.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._made.exists():
                self._folder.mkdir(0o755)  # as an operator may have made it
                migrate(self._folder)
                self._made.touch()
            databases.copy(self._folder, data)
        return shutil.copytree(self._folder, data, dirs_exist_ok=True)


def environ(data: Path, **variables: str) -> dict[str, str]:
    """The environment of a process of the product on this data folder."""
    databases.make(data)
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "pevsite.settings",
        "PEV_DATA_DIR": str(data),
        "PEV_DATABASE_URL": databases.address_of(data),
        **variables,
    }


def unmeasured(data: Path, **variables: str) -> dict[str, str]:
    """The same for processes that are killed: they leave no coverage, and measuring would double their time."""
    found = environ(data, **variables)
    return {name: value for name, value in found.items() if not name.startswith("COVERAGE")}


def migrate(data: Path) -> None:
    """What an operator calls, or `serve` for them."""
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=environ(data), check=True)
