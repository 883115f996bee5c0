"""A PostgreSQL of its own: a cluster in a folder, which sorts and encodes as pevsite demands."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from tests.services.processes import Process, free_port

_DEBIAN = Path("/usr/lib/postgresql")
_USERS = ("postgres", "nobody")
"""Who runs it when we are root, which it refuses."""
_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "400",
    # Never waits for the disk: what a killed server has written is the kernel's by then. Commits are still written one
    # by one, and pages whole, so that nothing is lost by a kill.
    "fsync": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


def binaries() -> Path | None:
    """The folder of the server's programs, of the newest version; None where it is not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = sorted(_DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


class Postgres:
    """Runs from `start` to `stop`; a `kill` in between loses nothing that was committed."""

    def __init__(self) -> None:
        found = binaries()
        assert found, "PostgreSQL is not installed (on Debian: apt-get install postgresql)"
        self._binaries = found
        self._folder = Path(tempfile.mkdtemp(prefix="pevsite-postgres-"))
        self._user = _user()
        self.port = free_port()
        self.url = f"postgres://pev@127.0.0.1:{self.port}/postgres"
        options = [f"-c{name}={value}" for name, value in (_OPTIONS | {"port": str(self.port)}).items()]
        self.process = Process(
            [str(found / "postgres"), "-D", str(self._folder / "cluster"), *options],
            self._folder / "log",
            self._answers,
            user=self._user,
            death=signal.SIGQUIT,  # at once, and its own processes with it
        )
        self._initialise()

    def _initialise(self) -> None:
        if self._user[0] >= 0:
            os.chown(self._folder, *self._user)
        making = Process(
            [
                str(self._binaries / "initdb"),
                "-D",
                str(self._folder / "cluster"),
                "-U",
                "pev",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
                "--no-instructions",
            ],
            self._folder / "initdb.log",
            user=self._user,
        )
        making.launch()
        assert making.wait() == 0, making.log.read_text()

    def _answers(self) -> bool:
        asked = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def start(self) -> None:
        """Also after a kill: what is left of the one before may stand in its way for a moment."""
        ends = time.monotonic() + 30
        while True:
            try:
                return self.process.start()
            except AssertionError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.2)

    def kill(self) -> None:
        self.process.kill()

    def quit(self) -> None:
        """At once, as for a restart: connections are cut, and the log is read again at the next start."""
        self.process.stop(signal.SIGQUIT)

    def stop(self) -> None:
        if self.process.is_alive:
            self.quit()
        shutil.rmtree(self._folder, ignore_errors=True)


def _user() -> tuple[int, int]:
    if os.geteuid() != 0:
        return -1, -1
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(names[name] for name in _USERS if name in names)
    return entry.pw_uid, entry.pw_gid
