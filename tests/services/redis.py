"""A Redis of a test: on a port of its own, with nothing on disk."""

from __future__ import annotations

from pathlib import Path

from tests.services.processes import Process, free_port, listens


class Redis:
    """From the start on it answers; after `stop` it can be started again, empty."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}/0"
        command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(folder)]
        self.process = Process(command, folder / "redis.log", lambda: listens(port))
        self.start()

    def start(self) -> None:
        self.process.start()

    def stop(self) -> None:
        self.process.kill()
