"""An installation of several processes: a database, Redis, some that serve and some that work, by settings alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.installation import ROOT
from tests.services.postgres import Postgres
from tests.services.processes import Process, free_port, listens
from tests.services.redis import Redis

_MANAGE = (sys.executable, str(ROOT / "manage.py"))


class Cluster:
    """Nothing runs before `start`, and nothing after `stop`. In between each part may be killed and started again.

    `variables`: settings of pevsite, the same for all of its processes; `environ` has them with those of the system.
    The database is PostgreSQL, or with `on_sqlite` a file in the data folder.
    """

    def __init__(
        self, folder: Path, variables: Mapping[str, str], *, webs: int = 2, workers: int = 3, on_sqlite: bool = False
    ) -> None:
        self.postgres = None if on_sqlite else Postgres()
        self.redis = Redis(folder)
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("PEV_", "ANTHROPIC_"))}
        self.settings = {
            "DJANGO_SETTINGS_MODULE": "pevsite.settings",
            "PEV_DATA_DIR": str(folder / "data"),
            "PEV_DATABASE_URL": self.postgres.url if self.postgres else "",
            "PEV_REDIS_URL": self.redis.url,
            **variables,
        }
        self.environ = ours | self.settings
        self.webs = {free_port(): folder / f"web-{number}.log" for number in range(webs)}
        self.serving = [self._web(port, log) for port, log in self.webs.items()]
        self.working = [
            Process([*_MANAGE, "worker"], folder / f"worker-{number}.log", environ=self.environ)
            for number in range(workers)
        ]

    def _web(self, port: int, log: Path) -> Process:
        command = [*_MANAGE, "serve", "--no-engine", "--port", str(port)]
        return Process(command, log, lambda: listens(port), environ=self.environ)

    def start(self) -> None:
        """Returns when the sites can be asked; workers may still be on their way."""
        if self.postgres:
            self.postgres.start()
        subprocess.run([*_MANAGE, "migrate", "--verbosity=0"], cwd=ROOT, env=self.environ, check=True)
        for process in self.working + self.serving:
            process.launch()
        for process in self.serving:
            process.wait_until_ready()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Meanwhile nobody works."""
        for process in self.working:
            process.stop()
        yield
        for process in self.working:
            process.launch()

    def stop(self) -> None:
        for process in self.serving + self.working:
            process.kill()
        self.redis.stop()
        if self.postgres:
            self.postgres.stop()
