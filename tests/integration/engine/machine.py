"""Data folders with processes of their own on them: a server, or a nursery of workers that are killed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests import databases
from tests.databases import rows
from tests.fakes.anthropic_api import FakeAnthropic
from tests.installation import ROOT, Installation, unmeasured
from tests.integration.engine.killed import Errand

KILLED = [sys.executable, "-m", "tests.integration.engine.killed"]


def environ(data: Path, api: FakeAnthropic) -> dict[str, str]:
    model = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test-key-of-nobody"}
    return unmeasured(data, PEV_LEASE_SECONDS="2", **model)


class Machine:
    """A data folder and the server that runs on it."""

    def __init__(self, data: Path, api: FakeAnthropic) -> None:
        self._data = data
        self._server: subprocess.Popen[bytes] | None = None
        self._environ = environ(data, api)

    def start(self) -> None:
        arguments = [sys.executable, "manage.py", "serve", "--port", "0"]
        self._server = subprocess.Popen(arguments, cwd=ROOT, env=self._environ, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGKILL)
            self._server.wait()

    def submit(self) -> None:
        subprocess.run([*KILLED, "submit"], cwd=ROOT, env=self._environ, check=True)

    def rows(self, sql: str) -> list[Any]:
        return rows(self._data, sql)


class Nursery:
    """A data folder and the process that forks workers for it, one at a time."""

    def __init__(
        self, folder: Path, installation: Installation, api: FakeAnthropic, variables: Mapping[str, str] | None = None
    ) -> None:
        """Saved as `new`: a data folder on which nothing was done. `variables` of the environment come on top."""
        self.data = installation.copy(folder / "data")
        self.save("new")
        self._process = subprocess.Popen(
            KILLED,
            cwd=ROOT,
            env=environ(self.data, api) | dict(variables or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, errand: Errand) -> tuple[list[str], int]:
        """The boundaries that the worker crossed, and its exit status: 0, or the negative number of the signal."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(asdict(errand))}\n")
        self._process.stdin.flush()
        crossed: list[str] = []
        for line in self._process.stdout:
            if line.startswith("ended "):
                return crossed, int(line.split()[1])
            crossed.append(line.strip())
        raise AssertionError("the nursery is gone; its standard error says why")

    def save(self, name: str) -> None:
        """Put a copy of the data folder aside, for `restore`, in place of an earlier one. No worker is alive then."""
        shutil.rmtree(self.data.with_name(name), ignore_errors=True)
        self._copy(self.data, self.data.with_name(name))

    def restore(self, name: str) -> None:
        shutil.rmtree(self.data)
        self._copy(self.data.with_name(name), self.data)

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        databases.copy(source, target)
        shutil.copytree(source, target)

    def close(self) -> None:
        self._process.communicate()
