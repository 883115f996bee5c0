"""A Redis of a test: on a port of its own, with nothing on disk."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests import databases

scaled = pytest.mark.skipif(
    not (databases.GIVEN and shutil.which("redis-server")),
    reason="several processes need PostgreSQL (PEV_DATABASE_URL) and redis-server",
)


class Redis:
    """From the start on it answers; after `stop` it can be started again, empty."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._command = ["redis-server", "--port", str(self._port), "--save", "", "--dir", str(folder)]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        while self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.01)
        raise AssertionError("redis-server has ended; its standard error says why")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
